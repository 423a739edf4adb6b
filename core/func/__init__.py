"""Function transforms: derivatives of functions and functions of batches, which nest in any order."""

from ..nn.utils.stateless import _functional_call as functional_call
from ._state import stack_module_state
from ._transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ._vmap import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
