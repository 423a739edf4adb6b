"""Every operator of the tables that Python can call, by its full name; the public modules take theirs from here."""

from __future__ import annotations

import typing

from trine import _C

globals().update(_C.ops)


def in_module(module: str) -> dict[str, typing.Any]:
    """The operators that the tables put into ``trine.<module>``, by their names there."""
    prefix = module + "_"
    return {name.removeprefix(prefix): op for name, op in _C.ops.items() if op.module == module}


def __getattr__(name: str) -> typing.Any:
    raise AttributeError(f"there is no operator {name!r} in the operator tables")
