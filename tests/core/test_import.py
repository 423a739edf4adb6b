"""`import trine` is quick and complete, and libraries of two builds do not mix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import trine

SITE = Path(trine.__file__).parent.parent


def run(code: str) -> str:
    """Output of a fresh interpreter, which has nothing of this one's surroundings but what a sanitizer build needs to start."""
    kept = {name: value for name, value in os.environ.items() if name in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**kept, "PYTHONPATH": str(SITE)}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_neither_numpy_nor_what_is_not_needed_yet():
    code = (
        "import sys, trine; print([m for m in ('numpy', 'trine.nn', 'trine.optim', 'trine.serialization', 'inspect') if m in sys.modules])"
    )
    assert run(code) == "[]"


NAMES = """
    nn.Linear nn.functional.relu optim.SGD utils.data.DataLoader linalg.solve fft.rfft special.expit cuda.is_available
    backends.cudnn.enabled autograd.functional.jacobian autograd.graph.save_on_cpu testing.assert_close save load manual_seed
    finfo from_dlpack version.__version__ types.Number LongTensor hub.load_state_dict_from_url
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_modules_and_names_appear_on_first_use(name):
    assert run(f"import trine as torch; torch.{name}; print('there')") == "there"


@pytest.mark.parametrize(
    "module", ["nn", "nn.functional", "optim", "utils.data", "autograd", "autograd.forward_ad", "testing", "cuda", "linalg"]
)
def test_modules_import_by_name(module):
    assert run(f"import trine.{module} as m; print(m.__name__)") == f"trine.{module}"


def test_gradcheck_is_the_function_whatever_is_imported():
    code = "import trine; from trine.autograd.gradcheck import GradcheckError; print(callable(trine.autograd.gradcheck))"
    assert run(code) == "True"


def test_a_library_of_another_build_is_named_with_both_builds():
    stranger = ModuleType("trine.vision._C")
    stranger._build_stamp, stranger.__version__ = "20200101T000000-abcd", "0.0.1"
    with pytest.raises(ImportError) as caught:
        trine.version.check_build(stranger)
    text = str(caught.value)
    assert "20200101T000000-abcd" in text and trine.version.build_stamp in text and "trine.vision._C" in text
    with pytest.raises(ImportError, match="unknown"):
        trine.version.check_build(ModuleType("old"))


def test_cuda_says_how_to_get_it():
    assert not trine.cuda.is_available() and trine.cuda.device_count() == 0 and trine.cuda.memory_allocated() == 0
    trine.cuda.manual_seed_all(0)
    trine.cuda.empty_cache()
    for ask in (trine.cuda.current_device, trine.cuda.get_device_name, lambda: trine.ones(1).cuda(), lambda: trine.ones(1, device="cuda")):
        with pytest.raises(RuntimeError, match="CUDA"):
            ask()
    with pytest.raises(AttributeError):
        _ = trine.cuda.nothing_like_this


def test_settings_are_remembered():
    trine.use_deterministic_algorithms(True, warn_only=True)
    assert trine.are_deterministic_algorithms_enabled() and trine.is_deterministic_algorithms_warn_only_enabled()
    trine.use_deterministic_algorithms(False)
    assert not trine.are_deterministic_algorithms_enabled()
    trine.set_float32_matmul_precision("high")
    assert trine.get_float32_matmul_precision() == "high"
    trine.set_float32_matmul_precision("highest")
    with pytest.raises(ValueError):
        trine.set_float32_matmul_precision("low")
    assert trine.get_default_device() == trine.device("cpu")


def test_a_storage_has_its_methods_before_their_module_is_loaded():
    assert run("import trine; print(trine.ones(1).untyped_storage().tolist(), trine.UntypedStorage.from_file)").startswith(
        "[0, 0, 128, 63] <function"
    )
    assert run("import trine; s = trine.ones(1).untyped_storage(); print(hasattr(s, 'nothing'), hasattr(s, 'nothing'))") == "False False"
