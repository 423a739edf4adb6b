"""Pruning: masks that keep parts of a parameter at zero."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import trine
from trine import Tensor

from ..modules.module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """A way to choose what is pruned. ``apply`` makes it a hook of a module that multiplies the parameter by its mask before every call.

    The parameter ``name`` becomes ``name_orig``, the mask the buffer ``name_mask``. ``PRUNING_TYPE`` is "unstructured" (elements),
    "structured" (slices of a dimension) or "global"; a class must define it and :meth:`compute_mask`.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask (of the shape of ``t``) that this method lays over ``default_mask``, judging by the importances ``t``."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        if not hasattr(self, "_tensor_name"):
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> BasePruningMethod:
        """Prunes ``module.name`` now and before every call; combines with what pruned it before. Gives the method that is in force."""
        former = next(
            ((k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name), None
        )
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if former is not None:
            container = PruningContainer(former[1]) if not isinstance(former[1], PruningContainer) else former[1]
            container.add_pruning_method(method)
            method = container  # type: ignore[assignment]
            del module._forward_pre_hooks[former[0]]
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if former is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = trine.ones_like(original, memory_format=trine.contiguous_format)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=trine.contiguous_format)
        try:
            with trine.no_grad():
                mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if former is None:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """``t`` times the mask of this method, without any module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default_mask = trine.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned parameter an ordinary one again, with its zeros."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters[self._tensor_name + "_orig"]
        original.data = weight.data  # type: ignore[union-attr]
        del module._parameters[self._tensor_name + "_orig"]
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Pruning methods applied one after another to one parameter; each sees what the former ones left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if not isinstance(args, Iterable):
            self._tensor_name = args._tensor_name
            self.add_pruning_method(args)
        elif len(args) == 1:
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds one more. TypeError for anything else, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._pruning_methods and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask after the last added method, which chooses among what the former ones left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            where: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    f'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined. Found: {method}'
                )
            dim = method.dim % t.dim()
            kept = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            where = [slice(None)] * t.dim()
            where[dim] = kept
            where = tuple(where)
        elif method.PRUNING_TYPE == "global":
            where = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[where] = method.compute_mask(t[where], default_mask=mask[where]).to(dtype=mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing, but leaves the parameter as pruned ones are: with a mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _AmountOfElements(BasePruningMethod):
    """Prunes the elements of the lowest scores."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.nelement())
        _check_count(count, t.nelement())
        mask = default_mask.clone(memory_format=trine.contiguous_format)
        if count:
            mask.view(-1)[trine.topk(self._scores(t).reshape(-1), k=count, largest=False).indices] = 0
        return mask


class RandomUnstructured(_AmountOfElements):
    """Prunes elements at random: ``amount`` is a fraction (float from 0 to 1) or a number of them."""

    def _scores(self, t: Tensor) -> Tensor:
        return -trine.rand_like(t)  # PyTorch takes the largest of these draws


class L1Unstructured(_AmountOfElements):
    """Prunes the elements of the smallest absolute value: ``amount`` is a fraction or a number of them."""

    def _scores(self, t: Tensor) -> Tensor:
        return trine.abs(t)


def _slice_mask(t: Tensor, default_mask: Tensor, dim: int, keep: Tensor) -> Tensor:
    """The mask without the slices of ``dim`` that ``keep`` (one bool a slice) leaves out."""
    shape = [1] * t.dim()
    shape[dim] = -1
    return default_mask.to(dtype=t.dtype) * keep.to(t.dtype).view(shape)


class RandomStructured(BasePruningMethod):
    """Prunes slices of the dimension ``dim`` at random: ``amount`` is a fraction or a number of them."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_structured(t)
        _check_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        _check_count(count, size)
        probabilities = trine.rand(size)
        keep = probabilities > probabilities.kthvalue(k=count).values if count else trine.ones(size, dtype=trine.bool)
        return _slice_mask(t, default_mask, self.dim, keep)


class LnStructured(BasePruningMethod):
    """Prunes the slices of the dimension ``dim`` that have the smallest norm of order ``n``: ``amount`` is a fraction or a number of them."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_structured(t)
        _check_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        _check_count(count, size)
        if count == 0:
            return default_mask
        norms = trine.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != self.dim % t.dim()])
        keep = trine.zeros(size, dtype=trine.bool)
        keep[trine.topk(norms, k=size - count, largest=True).indices] = True
        return _slice_mask(t, default_mask, self.dim, keep)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask of shape {tuple(self.mask.shape)} does not fit a parameter of shape {tuple(default_mask.shape)}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Gives ``module.name`` a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes elements of ``module.name`` at random. See :class:`RandomUnstructured`."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prunes the smallest elements of ``module.name``, or those of the smallest importance. See :class:`L1Unstructured`."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes slices of ``module.name`` at random. See :class:`RandomStructured`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None) -> Module:
    """Prunes the slices of ``module.name`` of the smallest norm. See :class:`LnStructured`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Prunes elements of several parameters, ``(module, name)`` pairs, chosen among all of them together.

    TypeError for methods that are not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = importance_scores if importance_scores is not None else {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    relevant = trine.nn.utils.parameters_to_vector([scores.get((m, n), getattr(m, n)) for m, n in pairs])
    mask = trine.nn.utils.parameters_to_vector([getattr(m, n + "_mask", trine.ones_like(getattr(m, n))) for m, n in pairs])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}'
        )
    with trine.no_grad():
        final = container.compute_mask(relevant, mask)
    at = 0
    for module, name in pairs:
        parameter = getattr(module, name)
        custom_from_mask(module, name, mask=final[at : at + parameter.numel()].view_as(parameter))
        at += parameter.numel()


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes ``module.name`` where ``mask`` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Makes the pruned parameter an ordinary one, zeros included. ValueError when it is not pruned."""
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one inside it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0
    ):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _check_count(count: int, size: int) -> None:
    if count > size:
        raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")


def _check_structured(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {tuple(t.shape)} with {t.dim()} dims"
        )


def _check_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")


def _count(amount: Any, size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)
