"""cuDNN: absent, with the switches that programs set before they know that."""

from __future__ import annotations

__all__ = ["allow_tf32", "benchmark", "deterministic", "enabled", "is_available", "version"]

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether convolutions can run on cuDNN."""
    return False


def version() -> int | None:
    """cuDNN's version; None where there is none."""
    return None
