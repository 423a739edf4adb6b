"""Dense layers, convolutions and look-ups."""

from __future__ import annotations

import trine
from trine import Tensor, _ops

from .._tuples import _ntuple

linear = _ops.linear


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x1^T W_k x2 + b_k`: `(*, in1)`, `(*, in2)`, `(out, in1, in2)`, `(out,)` -> `(*, out)`."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {tuple(input1.shape[:-1])} and {tuple(input2.shape[:-1])}"
        )
    if input1.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2]:
        raise RuntimeError(f"bilinear(): input sizes {input1.shape[-1]} and {input2.shape[-1]} do not match weight {tuple(weight.shape)}")
    a = input1.reshape(-1, input1.shape[-1])
    b = input2.reshape(-1, input2.shape[-1])
    # (n, out, in2) = (n, in1) x (in1, out * in2), then the product with the second input summed over in2.
    out, in1, in2 = weight.shape
    mixed = (a @ weight.permute(1, 0, 2).reshape(in1, out * in2)).view(a.shape[0], out, in2)
    result = (mixed * b.unsqueeze(1)).sum(-1)
    if bias is not None:
        result = result + bias
    return result.view(*input1.shape[:-1], out)


def _same_padding(input: Tensor, weight: Tensor, stride: tuple, dilation: tuple, value: float = 0.0) -> tuple[Tensor, tuple[int, ...]]:
    """Input (padded on the far side where the total is odd) and padding that keep the spatial size."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=False)]
    if any(t % 2 for t in totals):
        widths: list[int] = []
        for total in reversed(totals):
            widths += [0, total % 2]
        input = _ops.constant_pad_nd(input, widths, value)
    return input, tuple(t // 2 for t in totals)


def _conv(op, n, input, weight, bias, stride, padding, dilation, groups):  # noqa: ANN001
    if isinstance(padding, str):
        expand = _ntuple(n)
        stride, dilation = expand(stride), expand(dilation)
        if padding == "same":
            input, padding = _same_padding(input, weight, stride, dilation)
        elif padding == "valid":
            padding = (0,) * n
        else:
            raise RuntimeError(f"Invalid padding string: '{padding}'")
    return op(input, weight, bias, stride, padding, dilation, groups)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: `(N, C, L)` with `(out, C / groups, k)` -> `(N, out, L')`; `padding` may be "same" or "valid"."""
    return _conv(_ops.conv1d, 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: `(N, C, H, W)` with `(out, C / groups, kh, kw)` -> `(N, out, H', W')`.

    `padding` is a number, a pair, "same" (keeps H and W; stride 1 only) or "valid".

    >>> import trine
    >>> x, w = trine.zeros(1, 3, 8, 8), trine.zeros(4, 3, 3, 3)
    >>> tuple(trine.nn.functional.conv2d(x, w, padding="same").shape)
    (1, 4, 8, 8)
    """
    return _conv(_ops.conv2d, 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: `(N, C, D, H, W)` with `(out, C / groups, kd, kh, kw)`."""
    return _conv(_ops.conv3d, 3, input, weight, bias, stride, padding, dilation, groups)


conv_transpose1d = _ops.conv_transpose1d
conv_transpose2d = _ops.conv_transpose2d
conv_transpose3d = _ops.conv_transpose3d


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` `(rows, width)` at integer `input` `(*)` -> `(*, width)`.

    The row `padding_idx` gets no gradient. `max_norm` first scales the used rows of `weight` down, in place.
    `scale_grad_by_freq` divides gradients by how often a row was used.

    >>> import trine
    >>> table = trine.arange(6.).view(3, 2)
    >>> trine.nn.functional.embedding(trine.tensor([2, 0]), table).tolist()
    [[4.0, 5.0], [0.0, 1.0]]
    """
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    if max_norm is not None:
        with trine.no_grad():
            _ops.embedding_renorm_(weight, input, max_norm, norm_type)
    return _ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """`(*)` of class numbers -> `(*, num_classes)` of 0 and 1 (int64).

    >>> import trine
    >>> trine.nn.functional.one_hot(trine.tensor([1, 0]), 3).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    if tensor.dtype != trine.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    else:
        if int(tensor.min()) < 0:
            raise RuntimeError("Class values must be non-negative.")
        largest = int(tensor.max())
        if num_classes == -1:
            num_classes = largest + 1
        elif largest >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    result = trine.zeros(*tensor.shape, num_classes, dtype=trine.int64, device=tensor.device)
    return result.scatter_(-1, tensor.unsqueeze(-1), 1)
