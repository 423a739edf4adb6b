"""Parameters that are functions of other tensors: a weight that is always symmetric, orthogonal, normalised, ..."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import trine
from trine import Tensor

from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within the ``with`` block every parametrised tensor is computed once, however often it is used.

    For weights that a forward pass uses several times, as those of recurrent networks.
    """
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set(tensor: Tensor, value: Tensor) -> None:
    """Gives the tensor the memory of another, so that optimizers that hold it see the new values."""
    with trine.no_grad():
        tensor.set_(value)


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, applied one after another, and the tensor or tensors (``original`` or ``original0``, ...) behind it.

    It is made by :func:`register_parametrization`. ValueError when a parametrisation or its ``right_inverse`` changes type, dtype or
    shape, unless ``unsafe``.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with trine.no_grad():
            new: Any = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor) and not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if original.device != new.device:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the device.")
            _set(original, new)
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {i} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", part)
        if not self.unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            if result.dtype != dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized dtype: {dtype}\nparametrized dtype: {result.dtype}"
                )
            if result.shape != shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized shape: {shape}\nparametrized shape: {result.shape}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrised tensor becomes ``value``, through the ``right_inverse`` of each parametrisation.

        RuntimeError for a parametrisation without one.
        """
        with trine.no_grad():
            new: Any = value
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            if self.is_tensor:
                if not isinstance(new, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
                if new.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype {self.original.dtype}"
                    )
                _set(self.original, new)
                return
            if not isinstance(new, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(new)}.")
            if len(new) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(new)}."
                )
            for i, part in enumerate(new):
                own = getattr(self, f"original{i}")
                if not isinstance(part, Tensor):
                    raise ValueError(f"`right_inverse` must return a sequence of tensors. Got element {i} of type {type(part).__name__}")
                if own.dtype != part.dtype:
                    raise ValueError(
                        f"Tensor {i} returned by `right_inverse` has dtype {part.dtype} while `original{i}` has dtype {own.dtype}"
                    )
                _set(own, part)

    def forward(self) -> Tensor:
        first, *others = self
        x = first(self.original) if self.is_tensor else first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in others:
            x = module(x)
        return x


def _no_pickle(self: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deep_copy(self: Module, memo: dict) -> Module:
    # The copy has the class of the parametrised module: a class of its own, whose properties read that module's state.
    if id(self) in memo:
        return memo[id(self)]
    replica = self.__new__(self.__class__)
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _inject_class(module: Module) -> None:
    """Gives the module a class of its own, into which properties can be put."""
    cls = module.__class__
    body = {"__getstate__": _no_pickle}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = _deep_copy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        if not _cache_depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(module.__class__, name, property(get, put))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Makes ``module.tensor_name`` the result of ``parametrization`` of the tensor it was, and gives the module back.

    The former parameter or buffer becomes ``module.parametrizations.tensor_name.original``; assigning to ``module.tensor_name`` goes
    through the parametrisation's ``right_inverse``, if it has one. A ``right_inverse`` that returns several tensors makes as many
    originals. Further registrations are applied to the result of the former ones. ``unsafe`` leaves out the check that shape and dtype
    stay the same. ValueError for a name that the module does not have.

    >>> import trine
    >>> from trine.nn.utils import parametrize
    >>> class Symmetric(trine.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = parametrize.register_parametrization(trine.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parametrizations = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            if not isinstance(after, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
            if after.dtype != before.dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
                    f"module.{tensor_name}.dtype: {before.dtype}\nparametrization(module.{tensor_name}).dtype: {after.dtype}"
                )
            if after.shape != before.shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
                    f"module.{tensor_name}.shape: {before.shape}\nparametrization(module.{tensor_name}).shape: {after.shape}"
                )
            if hasattr(parametrization, "right_inverse"):
                try:
                    back = parametrization.right_inverse(after)
                except NotImplementedError:
                    back = None
                if back is not None:
                    if not isinstance(back, Tensor):
                        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
                    if back.dtype != before.dtype:
                        raise ValueError(
                            f"The tensor returned by parametrization.right_inverse must have the same dtype as module.{tensor_name}, unless the `unsafe` flag is enabled."
                        )
                    if back.shape != before.shape:
                        raise ValueError(
                            f"The tensor returned by parametrization.right_inverse must have the same shape as module.{tensor_name}, unless the `unsafe` flag is enabled."
                        )
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        # Everything is checked before the module is changed.
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module has a parametrisation, or one of this name."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes ``module.tensor_name`` an ordinary parameter or buffer again, and gives the module back.

    It keeps its parametrised value, or with ``leave_parametrized=False`` gets that of the original. ValueError when there is no
    parametrisation of this name, or several originals cannot be left as they are.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with trine.no_grad():
                _set(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before a parametrisation gave it one of its own."""
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Gives ``to_module`` the parametrisations of ``from_module`` (or that of one name), with their originals; returns it."""
    if not is_parametrized(from_module):
        return to_module
    assert isinstance(from_module.parametrizations, ModuleDict)
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
