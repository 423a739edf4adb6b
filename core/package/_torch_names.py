"""Trine's modules and classes stand in packages under PyTorch's names, so that each library reads the other's packages."""

from __future__ import annotations

import importlib
from typing import Any

from trine.as_torch import torch_name, trine_name

__all__ = ["find_trine_global", "is_library", "local_name", "packaged_name"]


def packaged_name(module: str) -> str:
    """``torch.nn.modules.linear`` for ``trine.nn.modules.linear``; other names as they are."""
    return torch_name(module)


def local_name(module: str) -> str:
    """``trine.nn`` for ``torch.nn``; other names as they are."""
    return trine_name(module) or module


def is_library(module: str) -> bool:
    """Whether a module is part of Trine, under its own name or PyTorch's."""
    return local_name(module).partition(".")[0] == "trine"


def find_trine_global(module: str, name: str) -> Any:
    """A class or function that a pickle names by PyTorch's module.

    Where PyTorch keeps it in a module that Trine does not have, the nearest enclosing one that has the name gives it.
    """
    place = local_name(module)
    while True:
        try:
            found: Any = importlib.import_module(place)
            for part in name.split("."):
                found = getattr(found, part)
            return found
        except (ImportError, AttributeError):
            place, dot, _ = place.rpartition(".")
            if not dot:
                raise AttributeError(f"package: Trine does not have {module}.{name}") from None
