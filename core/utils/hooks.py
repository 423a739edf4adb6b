"""The handles of hooks, by the name under which programs import them.

>>> import trine
>>> from trine.utils.hooks import RemovableHandle
>>> layer = trine.nn.Linear(1, 1)
>>> isinstance(layer.register_forward_hook(lambda *a: None), RemovableHandle)
True
"""

from __future__ import annotations

from trine.nn.modules._hooks import BackwardHook, RemovableHandle

__all__ = ["BackwardHook", "RemovableHandle"]
