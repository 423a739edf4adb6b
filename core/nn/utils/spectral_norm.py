"""Spectral normalisation by a forward hook (Miyato et al., 2018)."""

from __future__ import annotations

from typing import Any, TypeVar

import trine
from trine import Tensor, nn

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

T_module = TypeVar("T_module", bound="nn.Module")


class SpectralNorm:
    """The hook: before each call the weight is `name_orig` over its largest singular value, which power iteration keeps up to date.

    `name_u` and `name_v` are the left and right vectors; they move in training only.
    """

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Dimension `dim` first, the others together."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: nn.Module, do_power_iteration: bool) -> Tensor:
        """The normalised weight; `do_power_iteration` moves the vectors first."""
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            normalize = nn.functional.normalize
            with trine.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(trine.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(trine.mv(matrix, v), dim=0, eps=self.eps))
                # The buffers move on in the next call; what this call has recorded must stay as it is.
                u, v = u.clone(), v.clone()
        return weight / trine.dot(u, trine.mv(matrix, v))

    def remove(self, module: nn.Module) -> None:
        """Put the normalised weight back as a parameter."""
        with trine.no_grad():
            weight = self.compute_weight(module, False)
        delattr(module, self.name)
        delattr(module, self.name + "_u")
        delattr(module, self.name + "_v")
        delattr(module, self.name + "_orig")
        module.register_parameter(self.name, nn.Parameter(weight.detach()))

    def __call__(self, module: nn.Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(module: nn.Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the parameter by its original and two buffers. RuntimeError when it is normalised already."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        norm = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with trine.no_grad():
            rows, columns = norm.reshape_weight_to_matrix(weight).shape
            u = nn.functional.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = nn.functional.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(norm)
        return norm


def spectral_norm(
    module: T_module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> T_module:
    """Keeps the largest singular value of the parameter `name`, seen as a matrix with `dim` rows, at 1.

    `dim` is 0, of transposed convolutions 1. `n_power_iterations` are made in each call of training.

    >>> import trine
    >>> layer = trine.nn.utils.spectral_norm(trine.nn.Linear(3, 2))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if dim is None:
        transposed = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: T_module, name: str = "weight") -> T_module:
    """Undoes `spectral_norm`; the weight keeps its normalised value. ValueError when there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
