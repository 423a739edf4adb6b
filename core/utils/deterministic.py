"""What :func:`trine.use_deterministic_algorithms` does to new memory."""

import sys
import types

from trine import _settings


class _Module(types.ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether ``empty``, ``empty_like``, ``empty_strided`` and ``resize_`` fill new memory in deterministic mode; true at first.

        >>> import trine
        >>> trine.use_deterministic_algorithms(True)
        >>> trine.empty(2)
        tensor([nan, nan])
        >>> trine.use_deterministic_algorithms(False)
        """
        return _settings._fill_uninitialized

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"fill_uninitialized_memory expected a bool, but got {type(mode)}")
        _settings._set_fill_uninitialized(mode)


sys.modules[__name__].__class__ = _Module
