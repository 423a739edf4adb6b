"""Special functions, under the names of SciPy and PyTorch."""

from trine import _C, _ops

# Functions that live in the main namespace too, some under another name.
_SHARED = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expit": "sigmoid", "expm1": "expm1",
    "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p", "log_softmax": "log_softmax", "logit": "logit", "logsumexp": "logsumexp",
    "multigammaln": "mvlgamma",
    "polygamma": "polygamma", "psi": "digamma", "round": "round", "sinc": "sinc", "softmax": "softmax", "xlogy": "xlogy",
}  # fmt: skip

_functions = {name: _C.ops[op] for name, op in _SHARED.items() if op in _C.ops} | _ops.in_module("special")
globals().update(_functions)

__all__ = sorted(_functions)
