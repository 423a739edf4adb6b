"""Several processes that train together: not part of Trine yet.

Programs ask :func:`is_available` first and run in one process where it is false, as with a build of PyTorch that leaves it out.
"""

from typing import Any

__all__ = ["is_available", "is_initialized"]


def is_available() -> bool:
    """Whether processes can form a group: not yet.

    >>> import trine
    >>> trine.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether this process is in a group: never."""
    return False


def __getattr__(name: str) -> Any:
    raise AttributeError(f"trine.distributed.{name}: Trine has no process groups yet; trine.distributed.is_available() is False")
