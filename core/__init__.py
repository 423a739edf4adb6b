"""Trine: tensors, automatic differentiation and neural networks with PyTorch's API.

>>> import trine as torch
>>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
>>> (x @ x).sum().backward()
>>> x.grad
tensor([[ 7., 11.],
        [ 9., 13.]])
"""

from __future__ import annotations

import importlib
import math as _math
from typing import TYPE_CHECKING, Any

from . import _C, _aliases, _later_types, _ops, _tensor, _tensor_legacy, autograd, functional, overrides
from ._C import (
    Generator,
    Size,
    Tensor,
    as_tensor,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    bfloat16,
    bool,
    channels_last,
    channels_last_3d,
    clear_autocast_cache,
    complex64,
    complex128,
    contiguous_format,
    device,
    dtype,
    empty_cache,
    float16,
    float32,
    float64,
    from_numpy,
    frombuffer,
    get_autocast_cpu_dtype,
    get_default_dtype,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    layout,
    memory_format,
    memory_stats,
    preserve_format,
    reset_peak_memory_stats,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_default_dtype,
    set_num_threads,
    strided,
    tensor,
    uint8,
)
from ._predicates import allclose, equal, is_complex, is_floating_point, is_nonzero, is_storage, is_tensor, isclose, numel, typename
from ._promotion import can_cast, promote_types, result_type
from ._sequences import *
from ._spectral import *
from ._windows import *
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .functional import *
from .version import __version__

if TYPE_CHECKING:
    from . import (  # fmt: skip
        backends,
        cuda,
        distributed,
        distributions,
        fft,
        hub,
        jit,
        linalg,
        nn,
        optim,
        random,
        serialization,
        special,
        testing,
        types,
        utils,
        version,
    )
    from ._tensor_str import get_printoptions, printoptions, set_printoptions
    from ._type_info import finfo, iinfo
    from .random import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
    from .serialization import load, save

# Operators under their own names, except where a function of the same name wraps one.
globals().update((name, op) for name, op in _C.ops.items() if op.module == "" and name[0] != "_" and name not in globals())
globals().update((name, op) for name, op in _aliases.functions().items() if name not in globals())

globals().update((name, value) for name, value in _later_types.NAMES.items() if name not in globals())

double, float, half = float64, float32, float16
long, int, short = int64, int32, int16
cfloat, cdouble = complex64, complex128

e, inf, nan, pi = _math.e, _math.inf, _math.nan, _math.pi
newaxis = None

_MODULES = frozenset({
    "amp", "as_torch", "backends", "cpu", "cuda", "distributed", "distributions", "fft", "func", "hub", "jit", "linalg", "nn", "optim", "package",
    "quasirandom", "random", "serialization", "special", "storage", "testing", "types", "utils", "vision",
})  # fmt: skip
# Names that load their module when they are first used, so that `import trine` stays short.
_HOMES = {
    name: module
    for module, names in {
        "_dlpack": ("from_dlpack", "to_dlpack"),
        "_settings": (
            "are_deterministic_algorithms_enabled", "compile", "compiled_with_cxx11_abi", "get_default_device",
            "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
            "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled", "set_default_device", "set_default_tensor_type",
            "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_num_interop_threads", "set_warn_always",
            "use_deterministic_algorithms",
        ),
        "_later_types": ("qscheme",),
        "_linear_algebra": ("eig", "get_approximate_basis", "lobpcg", "lstsq", "lu", "matrix_rank", "pca_lowrank", "solve", "svd_lowrank", "symeig"),
        "amp": ("GradScaler",),
        "amp.autocast_mode": (
            "autocast", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_enabled", "set_autocast_dtype",
            "set_autocast_enabled", "set_autocast_gpu_dtype",
        ),
        "func": ("vmap",),
        "_native_layers": (
            "alpha_dropout_", "batch_norm", "bilinear", "binary_cross_entropy_with_logits", "celu", "celu_",
            "channel_shuffle", "cosine_embedding_loss", "cosine_similarity", "detach_", "embedding", "feature_alpha_dropout_",
            "feature_dropout_", "group_norm", "hinge_embedding_loss", "instance_norm", "is_anomaly_enabled", "kl_div",
            "layer_norm", "margin_ranking_loss", "native_channel_shuffle", "norm_except_dim", "pairwise_distance", "pixel_shuffle",
            "pixel_unshuffle", "poisson_nll_loss", "prelu", "rms_norm", "rrelu", "rrelu_", "selu", "selu_", "set_anomaly_enabled",
            "triplet_margin_loss",
        ),
        "_shapes": (
            "as_strided_", "histogramdd", "narrow_copy", "segment_reduce", "split_with_sizes", "unravel_index", "unsafe_chunk",
            "unsafe_split", "unsafe_split_with_sizes",
        ),
        "_utilities": ("Stream", "_assert", "from_file", "get_device", "is_inference", "is_same_size", "is_signed", "set_flush_denormal"),
        "_ops": ("_dirichlet_grad", "_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad"),
        "storage": ("TypedStorage", "UntypedStorage"),
        "_tensor_str": ("get_printoptions", "printoptions", "set_printoptions"),
        "_type_info": ("finfo", "iinfo"),
        "random": ("default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"),
        "serialization": ("load", "save"),
    }.items()
    for name in names
}  # fmt: skip


def _storage_method(storage: Any, name: str) -> Any:
    """What storages have beside their native methods: loaded when one of it is first asked for."""
    importlib.import_module("trine.storage")
    return getattr(storage, name)


_C.UntypedStorage.__getattr__ = _storage_method  # type: ignore[attr-defined]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        try:
            return importlib.import_module(f"trine.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"trine.{name}":
                raise
            raise AttributeError(f"this build of Trine has no module trine.{name}") from None
    if name in _HOMES:
        value = getattr(importlib.import_module(f"trine.{_HOMES[name]}"), name)
    elif name.endswith("Storage"):
        from .storage import TYPES as STORAGES

        if name != "Storage" and name not in STORAGES:
            raise AttributeError(f"module 'trine' has no attribute {name!r}")
        # torch.Storage is the class of the default dtype's storages
        value = STORAGES["FloatStorage" if name == "Storage" else name]
    elif name.endswith("Tensor"):
        from ._typed_tensors import TYPES

        if name not in TYPES:
            raise AttributeError(f"module 'trine' has no attribute {name!r}")
        value = TYPES[name]
    else:
        raise AttributeError(f"module 'trine' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_HOMES})
