"""Limits for gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import trine
from trine import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """p-norm of all elements of `tensors` together, a 0-dim tensor; RuntimeError for NaN or inf when asked."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return trine.tensor(0.0)
    norms = trine.stack([t.norm(norm_type).to(tensors[0].device) for t in tensors])
    total = norms.norm(norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale gradients in place by `max_norm / total_norm` where that is below 1."""
    grads = _grads(parameters)
    if not grads:
        return
    with trine.no_grad():
        # Multiplying by a clamped 1 instead of branching keeps the scale on its device.
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(scale.to(grad.device))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients in place so that their joint norm is at most `max_norm`; returns the norm before.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.zeros(2))
    >>> p.grad = trine.tensor([3., 4.])
    >>> trine.nn.utils.clip_grad_norm_([p], 1.0).item(), round(p.grad.norm().item(), 4)
    (5.0, 1.0)
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        generator = not hasattr(parameters, "__len__")
        parameters = list(parameters)
        if generator and not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    with trine.no_grad():
        total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Older name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clip every element of every gradient to `[-clip_value, clip_value]`, in place."""
    limit = float(clip_value)
    with trine.no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-limit, max=limit)
