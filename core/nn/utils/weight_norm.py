"""Weight normalisation by a forward hook (Salimans and Kingma, 2016)."""

from __future__ import annotations

from typing import Any, TypeVar

from trine import Tensor, nn

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

T_module = TypeVar("T_module", bound="nn.Module")


def norm_except_dim(v: Tensor, pow: int = 2, dim: int | None = 0) -> Tensor:
    """Norms over all dimensions but `dim` (all of them for None), which are kept with size 1."""
    if dim is None or dim == -1:
        return v.norm(pow)
    return v.norm(pow, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True) if v.dim() > 1 else v.abs()


class WeightNorm:
    """The hook: before each call the weight is computed from its length `name_g` and its direction `name_v`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: nn.Module) -> Tensor:
        """The weight of the present length and direction."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except_dim(v, 2, self.dim))

    @staticmethod
    def apply(module: nn.Module, name: str, dim: int | None) -> WeightNorm:
        """Replace the parameter by its two parts. RuntimeError when it is normalised already, ValueError for an uninitialised one."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        norm = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", nn.Parameter(norm_except_dim(weight, 2, norm.dim).data))
        module.register_parameter(name + "_v", nn.Parameter(weight.data))
        setattr(module, name, norm.compute_weight(module))
        module.register_forward_pre_hook(norm)
        return norm

    def remove(self, module: nn.Module) -> None:
        """Put the weight back as a parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, nn.Parameter(weight.data))

    def __call__(self, module: nn.Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: T_module, name: str = "weight", dim: int | None = 0) -> T_module:
    """Splits the parameter `name` into its length (one for each index of `dim`; a single one for None) and its direction.

    >>> import trine
    >>> layer = trine.nn.utils.weight_norm(trine.nn.Linear(3, 2))
    >>> tuple(layer.weight_g.shape), tuple(layer.weight_v.shape)
    ((2, 1), (2, 3))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: T_module, name: str = "weight") -> T_module:
    """Undoes `weight_norm`; the weight keeps its value. ValueError when there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
