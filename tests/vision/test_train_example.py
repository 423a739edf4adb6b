"""The Fashion-MNIST program: it learns, goes on after a kill, and takes the same steps as under PyTorch."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import trine
from trine.vision.datasets import FashionMNIST

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "vision" / "examples" / "train_fashion_mnist.py"

pytestmark = pytest.mark.skipif(not FashionMNIST.system_folder.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "trine.as_torch", str(PROGRAM), *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(trine.__file__).parent.parent)}


def run(folder: Path, *arguments: object) -> str:
    done = subprocess.run(command(*arguments), cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(path: Path) -> np.ndarray:
    return np.array([float(line) for line in path.read_text().split()])


@pytest.mark.slow
def test_one_epoch_reaches_88_percent(tmp_path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = run(tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert float(re.search(r"test accuracy (\d+\.\d+)%", output)[1]) > 88.0
    # Two minutes on two cores, counted so that other tests beside this one do not matter.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2 * 120


def test_a_killed_run_goes_on_where_its_checkpoint_is(tmp_path):
    run(tmp_path, "--steps", 30, "--losses", "whole.txt", "--checkpoint", "whole.pt")
    process = subprocess.Popen(
        command("--steps", 30, "--save-every", 5, "--losses", "first.txt"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "fashion_mnist.pt").exists() and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    output = run(tmp_path, "--steps", 30, "--losses", "rest.txt")
    step = int(re.search(r"going on from fashion_mnist.pt at step (\d+)", output)[1])
    assert step in range(5, 31, 5)
    if step < 30:
        np.testing.assert_array_equal(losses(tmp_path / "rest.txt"), losses(tmp_path / "whole.txt")[step:])


@pytest.mark.parity
def test_first_50_losses_equal_pytorchs(tmp_path, oracle):
    run(tmp_path, "--steps", 50, "--losses", "trine.txt", "--checkpoint", "trine.pt")
    subprocess.run(
        [oracle, str(PROGRAM), "--steps", "50", "--losses", "torch.txt", "--checkpoint", "torch.pt"],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )
    np.testing.assert_allclose(losses(tmp_path / "trine.txt"), losses(tmp_path / "torch.txt"), rtol=0, atol=1e-4)
