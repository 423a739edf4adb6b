"""Utilities beside the tensor library: ``trine.utils.data`` and what grows next to it. Submodules load on first use."""

import importlib
from typing import Any

__all__ = ["benchmark", "cpp_extension", "data", "deterministic", "dlpack", "hooks", "model_zoo", "tensorboard"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
