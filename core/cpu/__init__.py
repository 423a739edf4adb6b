"""The CPU as a device among others: what programs ask of every device module."""

from __future__ import annotations

from typing import Any

from . import amp

__all__ = ["amp", "current_device", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Always true."""
    return True


def device_count() -> int:
    """Always 1."""
    return 1


def current_device() -> str:
    """Always "cpu"."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Does nothing: work on the CPU is done when a call returns."""
