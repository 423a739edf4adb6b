"""A device that is not part of Trine: what its author would lose is the promise that one file suffices."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = """
import ctypes, sys
import trine
ctypes.CDLL(sys.argv[1])
a = trine.tensor([[1.0, 2.0], [3.0, 4.0]]).to("toy")
assert str(a.device) == "toy", a.device
# the device's bytes are not the host's: nothing read them behind the kernels' back
assert bytes((ctypes.c_char * 4).from_address(a.data_ptr())) == bytes(255 - b for b in b"\\x00\\x00\\x80\\x3f")
b = (a * 2 + trine.ones(2, 2, device="toy")).t()
assert b.to("cpu").tolist() == [[3.0, 7.0], [5.0, 9.0]], b.to("cpu")
b[0].fill_(-1)
assert b.cpu().tolist() == [[-1.0, -1.0], [5.0, 9.0]]
x = a.clone().requires_grad_()
y = trine.exp(x) * a
y.backward(trine.ones(2, 2, device="toy"))
assert trine.allclose(x.grad.cpu(), (a.cpu().exp() * a.cpu()))
try:
    a @ a
except NotImplementedError as e:
    assert "toy" in str(e) and "m" in str(e), e
else:
    raise AssertionError("a kernel that is not registered must be named")
try:
    a + trine.ones(2, 2)
except RuntimeError as e:
    assert "toy" in str(e) and "cpu" in str(e), e
else:
    raise AssertionError("tensors of two devices met")
print("toy device works")
"""


def headers() -> list[Path]:
    return [ROOT / "core" / "csrc", ROOT / "build" / "generated"]


@pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None or not headers()[1].is_dir(),
    reason="needs the compiler and the headers of a development build; an installed Trine gets them with utils.cpp_extension",
)
def test_a_device_registers_from_one_file(tmp_path):
    library = tmp_path / "toy.so"
    package = Path(trine.__file__).resolve().parent
    if not (package / "libtrine.so").exists():
        package = ROOT / "build" / "site" / "trine"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{p}" for p in headers()] + [str(HERE / "native" / "toy_device.cpp"), "-o", str(library)]
    command += [f"-L{package}", "-ltrine", f"-Wl,-rpath,{package}"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(library)], capture_output=True, text=True)
    assert ran.stdout.strip() == "toy device works", ran.stderr


def test_cuda_explains_how_to_get_a_cuda_build():
    with pytest.raises(RuntimeError, match="CUDA build"):
        trine.empty(2, device="cuda")


def test_unknown_devices_are_named():
    with pytest.raises(RuntimeError, match="spaceship"):
        trine.empty(2, device="spaceship")


def test_meta_tensors_have_shape_and_no_values():
    t = trine.empty(2, 3, device="meta") @ trine.empty(3, 4, device="meta")
    assert t.shape == (2, 4) and t.device.type == "meta"
    with pytest.raises(RuntimeError, match="meta"):
        t.sum().item()
