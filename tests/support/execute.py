"""Runs a sample in a library with PyTorch's API: in Trine here, in real PyTorch in a process of its own.

    python execute.py CALLS RESULTS      under an interpreter that has torch

``CALLS`` is a pickle that only this project's tools write: a list of ``(key, path, Sample)``; ``RESULTS`` gets a dict
of results.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import Name, Sample, T

SEED = 1234


# PyTorch has methods of these names that are something else.
DISPATCHER_ONLY = {"index", "slice"}


class Missing(Exception):
    """The library has no function of this name."""


def to_library(lib: ModuleType, value: Any) -> Any:
    """A tensor, dtype, list or plain value of ``lib``."""
    if isinstance(value, T):
        array = np.ascontiguousarray(value.array).reshape(value.array.shape)  # 0-dim stays 0-dim
        tensor = lib.from_numpy(array.copy())
        return tensor.to(getattr(lib, value.dtype)) if value.dtype == "bfloat16" else tensor
    if isinstance(value, Name):
        return getattr(lib, value.name)
    if isinstance(value, (list, tuple)):
        return type(value)(to_library(lib, item) for item in value)
    return value


def from_library(value: Any) -> Any:
    """The same as NumPy arrays that know their dtype's name; structures of tensors become lists."""
    if hasattr(value, "detach") and hasattr(value, "dtype"):
        tensor = value.detach().resolve_conj().resolve_neg()
        name = str(tensor.dtype).split(".")[-1]
        if name == "bfloat16":
            tensor = tensor.float()
        return T(np.array(tensor.contiguous().numpy()), name)
    if isinstance(value, (list, tuple)):
        return [from_library(item) for item in value]
    return value


def resolve(lib: ModuleType, path: str, args: tuple) -> Any:
    """The function that ``path`` names: in the library, in nn.functional, or a method of the first argument."""
    if "." in path:
        owner = lib
        for part in path.split("."):
            owner = getattr(owner, part, None)
            if owner is None:
                raise Missing(path)
        return owner
    for owner in (lib, lib.nn.functional) if path not in DISPATCHER_ONLY else ():
        if callable(getattr(owner, path, None)):
            return getattr(owner, path)
    for prefix in ("fft", "linalg", "special"):
        owner = getattr(lib, prefix, None)
        if path.startswith(prefix + "_") and owner is not None and hasattr(owner, path[len(prefix) + 1 :]):
            return getattr(owner, path[len(prefix) + 1 :])
    if path not in DISPATCHER_ONLY and args and hasattr(args[0], path) and hasattr(lib.Tensor, path):
        return getattr(lib.Tensor, path)
    # what only the dispatcher knows by name: x[1:4] is `slice`, x[i, j] is `index`
    packet = getattr(lib.ops.aten, path, None) if lib.__name__ == "torch" else lib._C.ops.get(path)
    if packet is None:
        raise Missing(path)
    return packet


def call(lib: ModuleType, path: str, sample: Sample) -> Any:
    """Runs ``path`` of ``lib`` on the sample, from a fixed seed, and returns what the library returns."""
    args = to_library(lib, sample.args)
    kwargs = {name: to_library(lib, value) for name, value in sample.kwargs.items()}
    function = resolve(lib, path, args)
    lib.manual_seed(SEED)
    return function(*args, **kwargs)


def run(lib: ModuleType, path: str, sample: Sample) -> Any:
    """The result as arrays, or the name of the error that the library raised."""
    try:
        return from_library(call(lib, path, sample))
    except Missing:
        return {"missing": path}
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        return {"error": type(error).__name__, "message": str(error).splitlines()[0][:200] if str(error) else ""}


def main() -> None:
    import torch

    torch.set_num_threads(1)
    calls = pickle.loads(Path(sys.argv[1]).read_bytes())
    results = {key: run(torch, path, sample) for key, path, sample in calls}
    Path(sys.argv[2]).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    # pickles name the classes as modules of this folder, not of __main__
    main()
