"""Where loaded storages go: the meaning of ``map_location``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trine

from . import _memory

__all__ = ["Placer"]


class Placer:
    """Moves a freshly read CPU storage to where ``map_location`` wants it.

    ``map_location`` is None (the device it was saved from), a device or its name, a dict from saved to wanted location,
    or ``function(storage, location)`` that returns a storage, or None to leave the choice to the default.
    """

    def __init__(self, map_location: Any) -> None:
        self._function: Callable[[Any, str], Any] | None = None
        self._table: dict[str, Any] = {}
        self._device: Any = None
        if isinstance(map_location, dict):
            self._table = {str(key): value for key, value in map_location.items()}
        elif isinstance(map_location, (str, trine.device)):
            self._device = trine.device(map_location)
        elif isinstance(map_location, int) and not isinstance(map_location, bool):
            self._device = trine.device("cuda", map_location)
        elif callable(map_location):
            self._function = map_location
        elif map_location is not None:
            raise TypeError(
                f"load: map_location must be None, a str, a trine.device, a dict or a callable, got {type(map_location).__name__}"
            )

    def place(self, storage: Any, location: str) -> Any:
        """``storage`` at its destination (the same object when it stays on the CPU)."""
        if self._device is not None:
            return _memory.move_storage(storage, self._device)
        if self._function is not None:
            result = self._function(storage, location)
            if result is not None:
                # PyTorch's idiom is ``lambda storage, loc: storage.cuda(1)``; a typed wrapper carries the bytes inside.
                result = getattr(result, "_untyped_storage", result)
                if not isinstance(result, trine.UntypedStorage):
                    raise TypeError(f"load: map_location returned {type(result).__name__}, expected a storage or None")
                return result
        return self._place_by_name(storage, self._table.get(location, location), location)

    @staticmethod
    def _place_by_name(storage: Any, wanted: Any, location: str) -> Any:
        name = str(wanted)
        if name.split(":")[0] == "cuda" and not trine.cuda.is_available():
            raise RuntimeError(
                "Attempting to deserialize object on a CUDA device but trine.cuda.is_available() is False. "
                "If you are running on a CPU-only machine, please use load with map_location=trine.device('cpu') "
                "to map your storages to the CPU."
            )
        try:
            return _memory.move_storage(storage, trine.device(wanted))
        except (RuntimeError, NotImplementedError) as error:
            raise RuntimeError(
                f"load: don't know how to restore data location {name!r} (saved as {location!r}): {error}; "
                "map_location='cpu' brings everything to the CPU"
            ) from None
