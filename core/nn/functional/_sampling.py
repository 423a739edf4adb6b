"""Resampling at given places, pooling at random ones, bags of embeddings, and the CTC loss."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import trine
from trine import Tensor, _ops

from .._reduction import get_enum
from .._tuples import _pair, _triple

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Values of `input` `(n, c, h, w)` at the places of `grid` `(n, h', w', 2)` -> `(n, c, h', w')`; volumes likewise with 3.

    Places are (x, y[, z]) from -1 to 1 over the image; with `align_corners` these are the centres of the outermost elements, otherwise
    their outer edges. `mode`: "bilinear" (trilinear for volumes), "nearest" or "bicubic" (images). `padding_mode`: "zeros", "border" or
    "reflection". ValueError for other names, RuntimeError for shapes that do not fit.

    >>> import trine
    >>> image = trine.tensor([[[[0.0, 10.0]]]])
    >>> trine.nn.functional.grid_sample(image, trine.zeros(1, 1, 1, 2), align_corners=True)
    tensor([[[[5.]]]])
    """
    if mode not in _MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    return _ops.grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Places for `grid_sample`: what affine maps `theta` `(n, 2, 3)` make of a regular grid of `size` `(n, c, h, w)` -> `(n, h, w, 2)`.

    For volumes `theta` is `(n, 3, 4)` and `size` has five values. ValueError for other shapes.
    """
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _ops.affine_grid_generator(theta, tuple(size), align_corners)


def _fractional(
    name: str, native: Callable, expand: Callable, input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None,
    output_ratio: float | Sequence[float] | None, samples: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    kernel = expand(kernel_size)
    dims = len(kernel)
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratio = expand(output_ratio)
        output_size = [int(n * r) for n, r in zip(input.shape[-dims:], ratio, strict=True)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.shape[0]
        samples = trine.rand(batch, input.shape[-dims - 1], dims, dtype=input.dtype, device=input.device)
    return native(input, kernel, expand(output_size), samples)


def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool2d` and the positions of the maxima in their planes."""
    native = _ops.fractional_max_pool2d
    return _fractional("fractional_max_pool2d", native, _pair, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Maxima over windows that begin at pseudo-random places (Graham, 2014): `(n, c, h, w)` or `(c, h, w)`.

    The result has `output_size`, or `output_ratio` times the size of the input. `_random_samples` `(n, c, 2)` in [0, 1) places the
    windows. ValueError when neither size nor ratio is given, RuntimeError when the windows do not fit.
    """
    both = fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return tuple(both) if return_indices else both[0]


def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool3d` and the positions of the maxima in their volumes."""
    native = _ops.fractional_max_pool3d
    return _fractional("fractional_max_pool3d", native, _triple, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Maxima over windows that begin at pseudo-random places: `(n, c, t, h, w)` or `(c, t, h, w)`; see `fractional_max_pool2d`."""
    both = fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return tuple(both) if return_indices else both[0]


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means or maxima ("sum", "mean", "max") of bags of rows of `weight` `(rows, width)` -> `(bags, width)`.

    `input` is `(bags, bag size)`, or `(n,)` with `offsets` `(bags,)` that say where each bag begins (with `include_last_offset` one more
    says where the last one ends). `per_sample_weights`, of the shape of `input`, scale the rows of sums. The row `padding_idx` takes
    no part. `max_norm` first scales the used rows of `weight` down, in place. An empty bag gives zeros.

    >>> import trine
    >>> table = trine.arange(6.).view(3, 2)
    >>> trine.nn.functional.embedding_bag(trine.tensor([[0, 1], [2, 2]]), table, mode="sum")
    tensor([[ 2.,  4.],
            [ 8., 10.]])
    """
    if weight.dtype == trine.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and "
            "should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it must have the same shape as "
            f"the input ({tuple(input.shape)})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                f"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, "
                f"found offsets of type {type(offsets)}"
            )
        offsets = trine.arange(0, input.numel(), max(input.shape[1], 1), dtype=input.dtype, device=input.device)
        offsets = offsets if input.shape[1] else input.new_zeros(input.shape[0])
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
        include_last_offset = False
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in _BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}'). "
            "Please open a feature request on GitHub."
        )
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("padding_idx must be within the number of embeddings")
        padding_idx %= rows
    if max_norm is not None:
        with trine.no_grad():
            _ops.embedding_renorm_(weight, input, max_norm, norm_type)
    return _ops.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _BAG_MODES[mode], sparse, per_sample_weights, include_last_offset, padding_idx
    )[0]


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int], target_lengths: Tensor | Sequence[int], blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Connectionist temporal classification (Graves et al., 2006): how unlikely label sequences are, over all alignments.

    `log_probs` `(time, batch, classes)` or `(time, classes)` are logarithms of probabilities (`log_softmax`); `targets` are
    `(batch, longest)`, or the sequences one after another; the lengths are `(batch,)`. `blank` is the class between labels.
    "mean" divides each loss by its target's length first. `zero_infinity` makes impossible targets count nothing.
    RuntimeError for lengths and classes out of range.
    """
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        input_lengths, target_lengths = (trine.as_tensor(n, dtype=trine.int64) for n in (input_lengths, target_lengths))
    return _ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, get_enum(reduction), zero_infinity)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution over time of `(time, batch, channels)` with `weight` `(width, in channels, out channels)` and `bias` `(out channels,)`."""
    return _ops.conv_tbc(input, weight, bias, pad)


def assert_int_or_pair(arg: int | Sequence[int], arg_name: str, message: str) -> None:
    """AssertionError with `message`, which takes `arg_name`, unless `arg` is an int or two of them."""
    if not isinstance(arg, int) and len(arg) != 2:
        raise AssertionError(message.format(arg_name))
