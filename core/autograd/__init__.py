"""Automatic differentiation: gradients of recorded computations, backwards and forwards."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from trine import _C

from . import forward_ad
from ._run import backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

# Loaded now: the function must take the place of the module of the same name, once and for all.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

if TYPE_CHECKING:
    from . import functional, graph

__all__ = [
    "Function", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad",
    "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip

# The former wrapper of tensors that take gradients; every tensor does now.
Variable = _C.Tensor


def __getattr__(name: str) -> Any:
    if name in ("functional", "graph"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
