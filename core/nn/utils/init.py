"""Building a module without drawing its initial values."""

from __future__ import annotations

from typing import Any

from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """`module_cls(*args, **kwargs)` with uninitialised parameters; the class has to take `device`.

    >>> import trine
    >>> tuple(trine.nn.utils.skip_init(trine.nn.Linear, 3, 2).weight.shape)
    (2, 3)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    import inspect  # costs more to load than the rest of this package

    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
