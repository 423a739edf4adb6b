"""Modules called with other parameters and buffers than their own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from trine import Tensor

from ..modules.module import Module

__all__ = ["functional_call"]


def _same_tensors(module: Module) -> dict[str, list[str]]:
    """All names of each parameter or buffer, by each of its names."""
    names: dict[int, list[str]] = {}
    for kind in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in kind:
            names.setdefault(id(tensor), []).append(name)
    return {name: group for group in names.values() for name in group}


@contextlib.contextmanager
def _replaced(module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with these tensors in place of those of the same names."""
    groups = _same_tensors(module)
    unknown = [name for name in given if name not in groups]
    if strict and unknown:
        raise RuntimeError(f"Unexpected key(s): {', '.join(unknown)}.")
    if strict and (missing := [n for n, group in groups.items() if not any(other in given for other in group)]):
        raise RuntimeError(f"Missing key(s): {', '.join(missing)}.")
    wanted = {}
    for name, tensor in given.items():
        if tie_weights:
            for other in groups.get(name, ()):
                if other in given and given[other] is not tensor:
                    raise ValueError(
                        f"functional_call got multiple values for keys {sorted(groups[name])}, which are tied. Consider using tie_weights=False"
                    )
                wanted[other] = tensor
        wanted[name] = tensor
    saved: list[tuple[dict, str, Any]] = []
    try:
        for name, tensor in wanted.items():
            path, _, leaf = name.rpartition(".")
            owner = module.get_submodule(path)
            home = owner._parameters if leaf in owner._parameters else owner._buffers if leaf in owner._buffers else None
            if home is None:
                continue
            saved.append((home, leaf, home[leaf]))
            home[leaf] = tensor
        yield
    finally:
        for home, leaf, tensor in reversed(saved):
            home[leaf] = tensor


def _functional_call(
    module: Module, parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]], args: Any = None,
    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """``module(*args, **kwargs)`` with tensors from one dict, or several, in place of its parameters and buffers of these names.

    Names that the dicts lack keep the module's own tensors, unless ``strict``. With ``tie_weights`` a tensor given for one of several
    names of a shared parameter is used under all of them. A name that a module lacks is passed over, unless ``strict`` (RuntimeError);
    AttributeError for one in a module that does not exist, ValueError for a name in two dicts.

    >>> import trine
    >>> layer = trine.nn.Linear(2, 1)
    >>> trine.func.functional_call(layer, {"weight": trine.ones(1, 2), "bias": trine.zeros(1)}, (trine.ones(2),))
    tensor([2.])
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    else:
        if not isinstance(parameter_and_buffer_dicts, Sequence):
            kind = type(parameter_and_buffer_dicts)
            raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {kind}")
        given = {}
        for part in parameter_and_buffer_dicts:
            if repeated := [name for name in part if name in given]:
                raise ValueError(f"{repeated[0]} appears in multiple dictionaries; behavior of functional call is ambiguous")
            given.update(part)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def functional_call(
    module: Module, parameters_and_buffers: dict[str, Tensor], args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Deprecated: see :func:`trine.func.functional_call`."""
    warnings.warn("trine.nn.utils.stateless.functional_call is deprecated; use trine.func.functional_call", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
