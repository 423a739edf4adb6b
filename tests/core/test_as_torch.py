"""``python -m trine.as_torch``: a PyTorch program runs on Trine and behaves as if started by Python itself."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest


def run(folder, *arguments: str, **files: str) -> subprocess.CompletedProcess:
    """Write ``files`` into ``folder`` and run ``python -m trine.as_torch arguments`` there."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "trine.as_torch", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_torch_is_trine_under_a_second_name(tmp_path):
    done = run(
        tmp_path,
        "program.py",
        program="""
        import sys
        import torch, torch.nn as nn, torch.nn.functional as F
        import torch.utils.data
        from torch.utils.data import DataLoader
        import trine, trine.nn.functional
        assert torch is trine and nn is trine.nn and F is trine.nn.functional
        assert DataLoader is trine.utils.data.DataLoader and torch.utils.data is trine.utils.data
        assert sys.modules["torch.nn"] is sys.modules["trine.nn"]
        assert trine.__name__ == trine.__spec__.name == "trine" and nn.__spec__.name == "trine.nn"
        print(torch.ones(2).sum().item())
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n", "")


def test_torchvision_is_trine_vision(tmp_path):
    done = run(tmp_path, "-c", "import torchvision, trine.vision; assert torchvision is trine.vision; print('same')")
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr


def test_the_program_sees_its_own_arguments_name_and_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "neighbour.py").write_text("answer = 42")
    (tmp_path / "sub" / "program.py").write_text("import sys, neighbour\nprint(sys.argv, __name__, __file__, neighbour.answer)\n")
    done = run(tmp_path, os.path.join("sub", "program.py"), "--lr", "0.1", "-m")
    assert done.stdout == "['sub/program.py', '--lr', '0.1', '-m'] __main__ sub/program.py 42\n"


def test_modules_and_packages_run_as_well(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "part.py").write_text("value = 3")
    (tmp_path / "package" / "__main__.py").write_text("import sys\nfrom .part import value\nprint(value, sys.argv[1:], __name__)\n")
    assert run(tmp_path, "-m", "package", "a", "-b").stdout == "3 ['a', '-b'] __main__\n"
    assert run(tmp_path, "-m", "module", module="print(__name__, __spec__.name)").stdout == "__main__ module\n"
    assert run(tmp_path, "-c", "import sys; print(sys.argv)", "x").stdout == "['-c', 'x']\n"


@pytest.mark.parametrize(
    ("ending", "status"), [("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('bad')", 1), ("1 / 0", 1), ("raise KeyboardInterrupt", 130)]
)
def test_the_exit_status_is_the_programs(ending, status, tmp_path):
    assert run(tmp_path, "program.py", program=f"import sys\n{ending}\n").returncode == status


def test_a_traceback_shows_the_program_only(tmp_path):
    done = run(tmp_path, "program.py", program="def f():\n    return 1 / 0\n\nf()\n")
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):" and lines[1].startswith('  File "program.py", line 4, in <module>')
    assert lines[-1] == "ZeroDivisionError: division by zero" and "as_torch" not in done.stderr and "runpy" not in done.stderr
    broken = run(tmp_path, "broken.py", broken="a b\n")
    assert broken.returncode == 1 and "SyntaxError" in broken.stderr and "as_torch" not in broken.stderr


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import torch\ntorch.no_such_function(1)", "Trine does not have torch.no_such_function"),
        ("import torch.nn as nn\nnn.NoSuchLayer()", "Trine does not have torch.nn.NoSuchLayer"),
        ("from torch.nn import NoSuchLayer", "Trine does not have torch.nn.NoSuchLayer"),
        ("import torch.no_such_module.part", "No module named 'torch.no_such_module': Trine does not have 'trine.no_such_module'"),
    ],
)
def test_a_missing_name_is_told_as_such(program, message, tmp_path):
    done = run(tmp_path, "program.py", program=program)
    assert done.returncode == 1 and message in done.stderr.splitlines()[-1]


def test_programs_can_ask_for_optional_parts(tmp_path):
    done = run(
        tmp_path,
        "program.py",
        program="""
        import importlib.util
        try:
            import torch.no_such_module
        except ImportError as error:
            print(error.name)
        import torch
        print(hasattr(torch, "no_such_function"))
        """,
    )
    assert done.stdout == "torch.no_such_module\nFalse\n", done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_worker_processes_find_torch_too(method, tmp_path):
    done = run(
        tmp_path,
        "program.py",
        method,
        program="""
        import sys
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Numbers(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return torch.ones(2) * index

        if __name__ == "__main__":
            loader = DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context=sys.argv[1])
            print([batch.tolist() for batch in loader])
        """,
    )
    assert done.stdout == "[[[0.0, 0.0], [1.0, 1.0]], [[2.0, 2.0], [3.0, 3.0]]]\n", done.stderr


def test_what_cannot_be_run_is_told(tmp_path):
    assert "No such file" in run(tmp_path, "none.py").stderr and run(tmp_path, "none.py").returncode == 2
    assert "no module" in run(tmp_path, "-m", "none").stderr
    assert run(tmp_path).returncode == 2 and "usage" in run(tmp_path).stderr
    assert "usage" in run(tmp_path, "--help").stdout
