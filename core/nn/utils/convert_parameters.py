"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import trine
from trine import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_same_device(parameters: list[Tensor]) -> None:
    if len({str(p.device) for p in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, in order, as one vector.

    >>> import trine
    >>> trine.nn.utils.parameters_to_vector([trine.zeros(2), trine.ones(1, 1)]).tolist()
    [0.0, 0.0, 1.0]
    """
    parameters = list(parameters)
    _check_same_device(parameters)
    return trine.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make consecutive parts of `vec` the data of the parameters, each in its own shape."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    parameters = list(parameters)
    _check_same_device(parameters)
    position = 0
    for param in parameters:
        count = param.numel()
        param.data = vec[position : position + count].view_as(param).data
        position += count
