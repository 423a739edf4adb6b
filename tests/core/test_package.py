"""Packages: a model leaves with its code and arrives elsewhere, and a hostile file does not get further than an error."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import trine
from trine.package import (
    EmptyMatchError,
    GlobGroup,
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    PackageExporter,
    PackageImporter,
    PackagingError,
    is_from_package,
    sys_importer,
)  # fmt: skip
from trine.package.find_file_dependencies import find_files_source_depends_on

PACKAGES = Path(__file__).resolve().parent / "packages"


def run(python: str, script: str, *arguments: object) -> None:
    done = subprocess.run([python, "-W", "ignore", PACKAGES / script, *map(str, arguments)], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_a_package_of_pytorch_is_read_and_its_model_gives_the_same_numbers():
    run(sys.executable, "check.py", "trine", PACKAGES / "torch_made.pt")


def test_a_package_of_trine_is_read_where_its_sources_are_not(tmp_path):
    run(sys.executable, "make.py", "trine", tmp_path / "made.pt")
    run(sys.executable, "check.py", "trine", tmp_path / "made.pt")
    with zipfile.ZipFile(tmp_path / "made.pt") as archive:
        assert archive.testzip() is None
        assert {"made/.data/version", "made/byteorder", "made/.data/extern_modules"} <= set(archive.namelist())


@pytest.mark.parity
def test_packages_go_to_pytorch_and_back(oracle, tmp_path):
    run(oracle, "make.py", "torch", tmp_path / "theirs.pt")
    run(sys.executable, "check.py", "trine", tmp_path / "theirs.pt")
    run(sys.executable, "make.py", "trine", tmp_path / "ours.pt")
    run(oracle, "check.py", "torch", tmp_path / "ours.pt")


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A folder on the path with the packages ``zoo`` and the module ``feed``."""
    files = {
        "zoo/__init__.py": "from .cat import Cat\n",
        "zoo/cat.py": "from . import sound\nimport feed\n\nclass Cat:\n    class Kitten:\n        pass\n    def __init__(self, name):\n        self.name = name\n"
        "    def say(self):\n        return sound.MEOW + self.name\n",
        "zoo/sound.py": "MEOW = 'meow '\n",
        "feed.py": "FOOD = 'fish'\n",
    }
    for name, text in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "src")
    yield tmp_path / "src"
    for name in [n for n in sys.modules if n.split(".")[0] in ("zoo", "feed")]:
        del sys.modules[name]


def export(fill, **arguments) -> PackageImporter:
    buffer = io.BytesIO()
    with PackageExporter(buffer, **arguments) as exporter:
        fill(exporter)
    buffer.seek(0)
    return PackageImporter(buffer)


def save_zoo(exporter):
    exporter.intern("zoo.**")
    exporter.extern("feed")
    exporter.save_module("zoo")


def test_modules_of_a_package_are_its_own(sources):
    importer = export(save_zoo)
    import zoo

    inside = importer.import_module("zoo.cat")
    assert inside.Cat is not zoo.Cat and inside.Cat("tom").say() == "meow tom"
    assert inside is importer.import_module("zoo").cat is importer.import_module(".cat", "zoo")
    assert is_from_package(inside) and is_from_package(inside.Cat("x")) and not is_from_package(zoo.Cat("x"))
    assert inside.__name__ == f"{importer.id()}.zoo.cat" and export(save_zoo).id() != importer.id()
    assert inside.feed is sys.modules["feed"]
    with pytest.raises(ImportError):
        importer.get_source("zoo.dog")
    assert "MEOW" in importer.get_source("zoo.sound")


def test_what_was_not_made_external_is_not_reached(sources):
    def fill(exporter):
        exporter.save_source_string("sly", "def reach():\n    import json\n    return json\n", dependencies=False)

    importer = export(fill)
    with pytest.raises(ModuleNotFoundError, match="json"):
        importer.import_module("sly").reach()
    with pytest.raises(ModuleNotFoundError, match="zoo"):
        importer.import_module("zoo")


def test_module_allowed_refuses_external_modules_before_anything_runs(sources):
    buffer = io.BytesIO()
    with PackageExporter(buffer) as exporter:
        save_zoo(exporter)
    buffer.seek(0)
    with pytest.raises(ImportError, match="feed"):
        PackageImporter(buffer, module_allowed=lambda name: name != "feed")


def test_each_module_is_decided_by_the_first_pattern_that_matches(sources):
    def fill(exporter):
        exporter.mock("zoo.s*")
        exporter.intern("zoo.**", exclude="zoo.s*")
        exporter.extern("feed")
        exporter.save_module("zoo")
        assert exporter.interned_modules() == ["zoo", "zoo.cat"]
        assert exporter.mocked_modules() == ["zoo.sound"] and exporter.externed_modules() == ["feed"]
        assert exporter.denied_modules() == [] and exporter.get_rdeps("zoo.sound") == ["zoo.cat"]
        assert '"zoo" -> "zoo.cat";' in exporter.dependency_graph_string()
        assert '"feed"' not in exporter.all_paths("zoo", "zoo.sound") and '"zoo.cat" -> "zoo.sound"' in exporter.all_paths(
            "zoo", "zoo.sound"
        )

    cat = export(fill).import_module("zoo").Cat("tom")
    with pytest.raises(NotImplementedError, match=r"zoo\.sound\.MEOW"):
        cat.say()


def test_a_mocked_class_may_be_subclassed_and_not_used():
    def fill(exporter):
        exporter.mock("plots.**")
        source = "import plots.axes\nfrom plots import Figure\n\nclass Mine(Figure):\n    pass\n\ndef use():\n    return Figure()\n"
        exporter.save_source_string("user", source)

    module = export(fill).import_module("user")
    for attempt in (module.use, module.Mine, lambda: module.Figure + 1, lambda: len(module.Figure), lambda: module.Figure.x.y):
        with pytest.raises(NotImplementedError, match="mocked"):
            attempt()


def test_what_is_wrong_is_told_at_the_end_and_no_file_appears(sources, tmp_path):
    path = tmp_path / "made.pt"
    with pytest.raises(PackagingError) as caught, PackageExporter(path) as exporter:
        exporter.deny("feed")
        exporter.intern(["zoo.**", "sys", "math", "numpy._core._multiarray_umath"])
        exporter.save_module("zoo")
        exporter.save_source_string("user", "import nobody_knows, sys, numpy._core._multiarray_umath\n")
        assert exporter.denied_modules() == ["feed"]
    message = str(caught.value)
    assert "denied" in message and "feed, needed by zoo.cat" in message and "nobody_knows, needed by user" in message
    assert "sys, needed by user" in message
    assert not path.exists() and sorted(os.listdir(tmp_path)) == ["src"]
    assert "zoo.cat" in caught.value.dependency_graph.nodes


def test_a_block_that_raises_leaves_the_former_file(tmp_path):
    path = tmp_path / "made.pt"
    path.write_bytes(b"former")
    with pytest.raises(KeyError), PackageExporter(path) as exporter:
        exporter.save_text("a", "b", "c")
        raise KeyError
    assert path.read_bytes() == b"former"


def test_patterns_that_must_match_something():
    with pytest.raises(EmptyMatchError, match="zebra"), PackageExporter(io.BytesIO()) as exporter:
        exporter.intern("zebra", allow_empty=False)


def test_hooks_hear_of_each_module(sources):
    heard = []

    def fill(exporter):
        for kind in ("extern", "mock", "intern"):
            register = getattr(exporter, f"register_{kind}_hook")
            register(lambda _, name, kind=kind: heard.append((kind, name)))
            register(lambda *_: heard.append("removed")).remove()
        exporter.mock("feed")
        save_zoo(exporter)

    export(fill)
    assert sorted(heard) == [("intern", "zoo.cat"), ("intern", "zoo.sound"), ("mock", "feed")]


def test_resources(tmp_path):
    def fill(exporter):
        exporter.save_text("data.words", "list.txt", "größe")
        exporter.save_binary("data.words", "raw.bin", b"\0\1")
        assert exporter.get_unique_id() != exporter.get_unique_id()
        with pytest.raises(ValueError, match="already"):
            exporter.save_text("data.words", "list.txt", "again")
        for name in ("../up", "", "..", "a\\b"):
            with pytest.raises(ValueError, match="name of a file"):
                exporter.save_text("data", name, "x")
        source = "import importlib.resources as r\n\ndef read():\n    return r.files(__spec__.parent or 'data')\n"
        exporter.save_source_string("data.reader", source)

    importer = export(fill)
    assert importer.load_text("data.words", "list.txt") == "größe" and importer.load_binary("data.words", "raw.bin") == b"\0\1"
    assert importer.load_text("data.words", "list.txt", encoding="ascii", errors="replace").startswith("gr")
    for kind in (RuntimeError, FileNotFoundError):
        with pytest.raises(kind, match=r"none\.txt"):
            importer.load_text("data.words", "none.txt")
    reader = importer.get_resource_reader("data.words")
    assert (
        sorted(reader.contents()) == ["list.txt", "raw.bin"]
        and reader.is_resource("raw.bin")
        and reader.open_resource("raw.bin").read() == b"\0\1"
    )


def test_the_tree_of_a_package_shows_what_matches(sources):
    def fill(exporter):
        save_zoo(exporter)
        exporter.save_text("data", "a.txt", "")

    importer = export(fill)
    tree = importer.file_structure()
    assert tree.has_file("zoo/cat.py") and tree.has_file(".data/version") and not tree.has_file("zoo") and not tree.has_file("zoo/dog.py")
    drawn = str(importer.file_structure(include=["zoo/**", "data/**"], exclude="**/sound.py"))
    assert drawn == "─── <binary>\n    ├── data\n    │   └── a.txt\n    └── zoo\n        ├── __init__.py\n        └── cat.py\n"


def test_sources_from_files_and_folders(sources):
    def fill(exporter):
        exporter.extern("feed")
        exporter.save_source_file("animals", sources / "zoo")
        exporter.save_source_file("food", str(sources / "feed.py"))

    importer = export(fill)
    assert importer.import_module("animals.cat").Cat("x").say() == "meow x"
    assert importer.import_module("food").FOOD == "fish"


def test_objects_travel_with_their_classes(sources):
    import zoo

    shared = trine.arange(4.0)
    cat = zoo.Cat("tom")
    cat.kitten, cat.kind = zoo.Cat.Kitten(), zoo.Cat.Kitten
    cat.tensors = [shared, shared[1:3], trine.tensor([1j]).conj(), trine.ones(1, device="meta"), trine.arange(3, dtype=trine.int16)]

    def fill(exporter):
        save_zoo(exporter)
        exporter.save_pickle("model", "cat.pkl", cat)

    importer = export(fill)
    assert importer.pickle_dependencies("model", "cat.pkl") == ["builtins", "collections", "torch", "torch._utils", "zoo.cat"]
    back = importer.load_pickle("model", "cat.pkl")
    assert back.say() == "meow tom" and type(back) is importer.import_module("zoo.cat").Cat
    assert type(back.kitten) is back.kind is type(back).Kitten
    base, view, conj, meta, small = back.tensors
    assert base.tolist() == [0, 1, 2, 3] and conj.tolist() == [-1j] and meta.is_meta and small.dtype is trine.int16
    view[0] = 9
    assert base[1] == 9

    # What came from a package is packaged anew from it.
    def again(exporter):
        save_zoo(exporter)
        exporter.save_pickle("model", "cat.pkl", back)

    with pytest.raises((ObjMismatchError, ObjNotFoundError), match="importer"):
        export(again)
    assert export(again, importer=[importer, sys_importer]).load_pickle("model", "cat.pkl").say() == "meow tom"


def test_map_location_moves_tensors():
    importer = export(lambda e: e.save_pickle("model", "x.pkl", trine.ones(2)))
    assert importer.load_pickle("model", "x.pkl", map_location="meta").is_meta


def test_a_mocked_class_cannot_be_pickled(sources):
    import zoo

    with pytest.raises(NotImplementedError, match="mocked"), PackageExporter(io.BytesIO()) as exporter:
        exporter.mock("zoo.**")
        exporter.save_pickle("model", "cat.pkl", zoo.Cat("tom"))


def test_a_module_imports_the_importer_it_came_from():
    def fill(exporter):
        exporter.save_text("data", "a.txt", "words")
        exporter.save_source_string("m", "import torch_package_importer as p\nTEXT = p.load_text('data', 'a.txt')\n")

    assert export(fill).import_module("m").TEXT == "words"


def test_an_unpacked_package_is_read_from_its_folder(sources, tmp_path):
    path = tmp_path / "made.pt"
    with PackageExporter(path) as exporter:
        save_zoo(exporter)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    importer = PackageImporter(tmp_path / "made")
    assert importer.import_module("zoo").Cat("x").say() == "meow x" and importer.python_version().count(".") == 2
    with pytest.raises(RuntimeError):
        importer.load_text("..src", "feed.py")


def test_circular_imports_and_failures_within_a_package():
    def fill(exporter):
        exporter.save_source_string("a", "import b\nVALUE = 1\n")
        exporter.save_source_string("b", "import a\n\ndef value():\n    return a.VALUE\n")
        exporter.save_source_string("bad", "raise ValueError('at import')\n")

    importer = export(fill)
    assert importer.import_module("a").b.value() == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="at import"):
            importer.import_module("bad")


@pytest.mark.parametrize(
    ("source", "package", "found"),
    [
        ("import a, b.c as d", "p", [("a", None), ("b.c", None)]),
        ("from a import b, c", "p", [("a", "b"), ("a", "c")]),
        ("from a import *", "p", [("a", None)]),
        ("from . import x\nfrom .y import z\nfrom ..w import v", "p.q", [("p.q", "x"), ("p.q.y", "z"), ("p.w", "v")]),
        ("def f():\n    import late\n", "", [("late", None)]),
        ("__import__('m')\n__import__('n', fromlist=['o'])\n__import__(name)", "", [("m", None), ("n", "o")]),
    ],
)
def test_imports_are_found_in_the_source(source, package, found):
    assert find_files_source_depends_on(source, package) == found


def test_a_relative_import_beyond_the_top_is_told():
    with pytest.raises(ImportError, match="beyond"):
        find_files_source_depends_on("from ... import x", "p")


# Real PyTorch 2.13's answers.
@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("torch.**", ["torch", "torch.nn", "torch.nn.init"], ["torchvision", "a.torch"]),
        ("torch.*", ["torch.nn"], ["torch", "torch.nn.init"]),
        ("*.torch", ["a.torch"], ["torch", "a.b.torch"]),
        ("**.torch", ["torch", "a.torch", "a.b.torch"], ["torch.a"]),
        ("my*.sub", ["my.sub", "mypkg.sub"], ["my.subs", "amy.sub"]),
        ("**", ["a", "a.b"], []),
        ("a+b", ["a+b"], ["aab"]),
    ],
)
def test_glob_patterns(pattern, yes, no):
    group = GlobGroup(pattern)
    assert all(map(group.matches, yes)) and not any(map(group.matches, no))


def test_a_double_star_within_a_segment_is_refused():
    with pytest.raises(ValueError, match="whole segment"):
        GlobGroup("a**")


def test_importers_are_asked_in_order(sources):
    importer = export(save_zoo)
    ordered = OrderedImporter(importer, sys_importer)
    assert ordered.import_module("zoo") is importer.import_module("zoo") and ordered.import_module("json").__name__ == "json"
    with pytest.raises(ModuleNotFoundError, match="no importer"):
        ordered.import_module("nobody_knows")
    assert sys_importer.get_name(Path) == (Path.__module__, "Path")
    local = type("Local", (), {"__module__": __name__})
    with pytest.raises(ObjNotFoundError):
        sys_importer.get_name(local)


# ---- hostile files --------------------------------------------------------------------------------------------------
GOOD = {"p/.data/extern_modules": b"", "p/.data/version": b"6", "p/m.py": b"X = 1\n"}


def zipped(entries) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries:
            archive.writestr(name, data)
    buffer.seek(0)
    return buffer


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("p/../../up.py", b"")], "unsafe name"),
        ([("/p/m.py", b"")], "unsafe name"),
        ([*GOOD.items(), ("p/m.py", b"X = 2\n")], "two entries"),
        ([*GOOD.items(), ("p/m/__init__.py", b"X = 2\n")], "twice"),
        ([*GOOD.items(), ("other/m.py", b"")], "one folder"),
        ([("m.py", b"")], "one folder"),
        ([("p/m.py", b"")], "external modules"),
        ([("p/.data/extern_modules", b""), ("p/.data/version", b"99")], "version"),
    ],
)
def test_a_hostile_archive_is_refused(entries, message):
    with pytest.raises((RuntimeError, trine.serialization.UnsafeFileError), match=message):
        PackageImporter(zipped(entries))


def test_a_zip_bomb_is_refused_before_it_is_inflated():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in GOOD.items():
            archive.writestr(name, data)
        archive.writestr("p/data/zeros", bytes(1 << 28))
    buffer.seek(0)
    importer = PackageImporter(buffer)
    with pytest.raises(trine.serialization.UnsafeFileError, match="inflates"):
        importer.load_binary("data", "zeros")


def test_every_truncation_is_an_error(tmp_path):
    data = (PACKAGES / "torch_made.pt").read_bytes()
    for length in range(0, len(data), 97):
        with pytest.raises((RuntimeError, EOFError)):
            PackageImporter(io.BytesIO(data[:length]))


def test_looking_at_a_package_runs_nothing(tmp_path):
    mark = tmp_path / "ran"
    touch = f"open({str(mark)!r}, 'w')\n".encode()
    evil = b"cposix\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    files = {**GOOD, "p/.data/extern_modules": b"posix\n", "p/m.py": touch, "p/data/x.pkl": evil}
    importer = PackageImporter(zipped(files.items()))
    importer.file_structure(), importer.id(), importer.get_source("m"), importer.load_binary("data", "x.pkl")
    assert importer.pickle_dependencies("data", "x.pkl") == ["posix"]
    assert not mark.exists()


def test_a_pickle_reaches_only_what_was_made_external(tmp_path):
    mark = tmp_path / "ran"
    evil = b"cposix\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    importer = PackageImporter(zipped({**GOOD, "p/data/x.pkl": evil}.items()))
    with pytest.raises(ModuleNotFoundError, match="posix"):
        importer.load_pickle("data", "x.pkl")
    assert not mark.exists()


@pytest.mark.parametrize("count", [3, 5, 1 << 61])
def test_a_storage_that_lies_about_its_size_is_refused(count):
    from trine.package._pickling import PackagePickler

    class Liar(PackagePickler):
        def persistent_id(self, obj):
            found = super().persistent_id(obj)
            return (*found[:4], count) if found else None

    buffer = io.BytesIO()
    Liar(buffer, sys_importer, lambda storage: 0, None).dump(trine.ones(4))
    files = {
        **GOOD,
        "p/.data/extern_modules": b"torch\ntorch._utils\ncollections\n",
        "p/.data/0.storage": bytes(16),
        "p/data/x.pkl": buffer.getvalue(),
    }
    with pytest.raises(trine.serialization.CorruptFileError, match="claims"):
        PackageImporter(zipped(files.items())).load_pickle("data", "x.pkl")
