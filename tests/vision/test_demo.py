"""The command that says what is in pictures: what it prints, writes and returns."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trine
from PIL import Image
from trine import hub
from trine.vision.cli.classify import main
from trine.vision.cli.progress import Progress
from trine.vision.models import MobileNet_V2_Weights

sys.path.insert(0, str(Path(__file__).parent))
from pictures import skimage_photograph


@pytest.fixture(scope="module", autouse=True)
def weights():
    try:
        MobileNet_V2_Weights.DEFAULT.get_state_dict(progress=False)
    except hub.DownloadError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")


@pytest.fixture
def cat() -> Path:
    return skimage_photograph("chelsea.png")


def run(*arguments: object) -> int:
    return main(["classify", *map(str, arguments)])


def test_readable_pictures(tmp_path, capsys, cat):
    assert run(cat, skimage_photograph("rocket.jpg"), "--output", tmp_path / "out") == 0
    printed = capsys.readouterr()
    assert re.search(r"chelsea\.png +451x300 +\d+\.\d% +Egyptian cat( +\d+\.\d){4}", printed.out)
    assert "2 of 2 pictures" in printed.out
    assert "[1/2] chelsea.png" in printed.err
    drawn = Image.open(tmp_path / "out" / "chelsea.jpg")
    assert drawn.size == (451, 300)
    assert np.abs(np.asarray(drawn).astype(int) - np.asarray(Image.open(cat)).astype(int)).max() > 100
    report = (tmp_path / "out" / "report.html").read_text()
    assert report.count("<figure>") == 2 and report.count("data:image/jpeg;base64,") == 2
    assert "Egyptian cat" in report
    # Nothing is loaded from elsewhere.
    assert not re.search(r"(src|href)=\"(?!data:)", report) and "http" not in report


def test_unreadable_files_are_named_and_skipped(tmp_path, capsys, cat):
    broken = tmp_path / "broken<1>.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 not a picture")
    missing = tmp_path / "missing.png"
    assert run(broken, cat, missing, "--output", tmp_path / "out") == 1
    printed = capsys.readouterr()
    assert f"skipped {broken}: decode_jpeg: " in printed.err and f"skipped {missing}: " in printed.err
    assert "1 of 3 pictures" in printed.out
    report = (tmp_path / "out" / "report.html").read_text()
    assert "broken&lt;1&gt;.jpg" in report and "broken<1>" not in report


def test_nothing_readable(tmp_path, capsys):
    (tmp_path / "broken.png").write_bytes(b"")
    assert run(tmp_path / "broken.png", "--output", tmp_path / "out") == 2
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--output", tmp_path / "out") == 2


def test_folders_and_pictures_of_every_kind(tmp_path, capsys):
    folder = tmp_path / "pictures"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (60, 90, 4)).astype(np.uint8)
    Image.fromarray(pixels).save(folder / "alpha.png")
    Image.fromarray(pixels[..., 0]).save(folder / "gray.jpg")
    Image.fromarray(pixels[..., 0].astype(np.uint16) * 257).save(folder / "deep.png")
    Image.fromarray(pixels[..., :3]).quantize(8).save(folder / "palette.png")
    Image.fromarray(pixels[:1, :1, :3]).save(folder / "pixel.png")
    (folder / "notes.txt").write_text("no picture")
    assert run(folder, folder / "gray.jpg", "--output", tmp_path / "out", "--top", "1") == 0
    assert "6 of 6 pictures" in capsys.readouterr().out
    names = sorted(path.name for path in (tmp_path / "out").glob("*.jpg"))
    assert names == ["alpha.jpg", "deep.jpg", "gray-2.jpg", "gray.jpg", "palette.jpg", "pixel.jpg"]


def test_command_line_runs_as_a_module(tmp_path, cat):
    done = subprocess.run(
        [sys.executable, "-m", "trine.vision", "classify", str(cat), "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(trine.__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert "Egyptian cat" in done.stdout


def test_progress_rewrites_one_line_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    with Progress(2, "pictures", terminal) as progress:
        progress.step("a.jpg")
        progress.note("skipped a.jpg")
        progress.step("b.jpg")
    text = terminal.getvalue()
    assert "[1/2] a.jpg" in text and "[2/2] b.jpg" in text and text.endswith("\r\033[K")
    assert text.count("\n") == 1
