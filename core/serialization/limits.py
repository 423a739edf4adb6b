"""Upper bounds that a file must respect while it is read."""

from __future__ import annotations

__all__ = ["MAX_PICKLE_BYTES", "Budget"]

from .errors import UnsafeFileError

MAX_PICKLE_BYTES = 1 << 30
"""Largest pickle stream read: tensors' bytes lie outside it, so that real ones have kilobytes, rarely megabytes."""

_MAX_COPIED = 1 << 26
_MAX_CONTAINERS = 10_000_000
_MAX_COMPOUND_KEYS = 1 << 16
_MAX_KEY_NODES = 4096


class Budget:
    """Counts what a pickle makes the reader build.

    A pickle costs its author one byte for a dictionary that costs the reader 64, and five bytes for a copy of a list
    that may have a million elements; these counters keep memory and time within a constant factor of the file's size.
    """

    __slots__ = ("_compound_keys", "_containers", "_copied", "_copy_limit")

    def __init__(self, stream_bytes: int) -> None:
        self._copied = 0
        self._containers = 0
        self._compound_keys = 0
        self._copy_limit = _MAX_COPIED + 16 * stream_bytes

    def container(self) -> None:
        """Charge one new container."""
        self._containers += 1
        if self._containers > _MAX_CONTAINERS:
            raise UnsafeFileError(f"load: the file builds more than {_MAX_CONTAINERS:,} containers; refused")

    def copy(self, elements: int) -> None:
        """Charge a copy of that many elements (or bytes)."""
        self._copied += elements
        if self._copied > self._copy_limit:
            raise UnsafeFileError(
                f"load: the file copies its own contents over and over (more than {self._copy_limit:,} elements); refused"
            )

    def visit(self, elements: int) -> None:
        """Charge a walk over that many elements in Python, which takes as long as copying sixteen times as many."""
        self.copy(16 * elements)

    def key(self, key: object, scalars: frozenset[type], tuples: tuple[type, ...]) -> None:
        """Check that ``key`` may go into a dict or set.

        Nested tuples would be hashed recursively, with a cost that grows exponentially when they share parts, and
        integers beyond 61 bits and tuples can be chosen to collide; so compound keys are small and not too many.
        """
        kind = type(key)
        if kind is str or kind is bytes or kind is bool or key is None:
            return
        if kind is int:
            if -(1 << 60) < key < (1 << 60):  # type: ignore[operator]
                return
        elif kind in scalars:
            return
        else:
            self._walk_key(key, scalars, tuples)
        self._compound_keys += 1
        if self._compound_keys > _MAX_COMPOUND_KEYS:
            raise UnsafeFileError(f"load: the file uses more than {_MAX_COMPOUND_KEYS:,} compound dict keys; refused")

    @staticmethod
    def _walk_key(key: object, scalars: frozenset[type], tuples: tuple[type, ...]) -> None:
        pending = [key]
        nodes = 0
        while pending:
            item = pending.pop()
            kind = type(item)
            if kind in tuples:
                nodes += 1 + len(item)  # type: ignore[arg-type]
                if nodes > _MAX_KEY_NODES:
                    raise UnsafeFileError(f"load: a dict key has more than {_MAX_KEY_NODES} parts; refused")
                pending.extend(item)  # type: ignore[arg-type]
            elif not (kind in (str, bytes, bool, int) or item is None or kind in scalars):
                raise UnsafeFileError(f"load: an object of type {kind.__name__} cannot be a dict key or set element in a file")
