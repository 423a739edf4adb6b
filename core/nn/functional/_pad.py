"""Padding with a constant, by reflection, by repeating the edge and around the circle."""

from __future__ import annotations

from collections.abc import Callable

import trine
from trine import Tensor, _ops


def _reflect(size: int, before: int, after: int) -> Tensor:
    positions = trine.arange(-before, size + after).abs()
    return (size - 1) - ((size - 1) - positions).abs()


def _replicate(size: int, before: int, after: int) -> Tensor:
    return trine.arange(-before, size + after).clamp(0, size - 1)


def _circular(size: int, before: int, after: int) -> Tensor:
    return trine.arange(-before, size + after) % size


_SOURCES: dict[str, Callable[[int, int, int], Tensor]] = {
    "reflect": _reflect,
    "replicate": _replicate,
    "circular": _circular,
}


def pad(input: Tensor, pad: list[int] | tuple[int, ...], mode: str = "constant", value: float | None = None) -> Tensor:
    """Grow (or, with negative widths, crop) the last dimensions.

    `pad` is `(left, right)` of the last dimension, then of the one before it, and so on. `mode` is "constant"
    (filled with `value`, default 0; any number of dimensions), "reflect", "replicate" or "circular" (the last
    1, 2 or 3 dimensions of an input with one batch and one channel dimension, or with a channel dimension only).

    >>> import trine
    >>> x = trine.tensor([[1., 2., 3.]])
    >>> trine.nn.functional.pad(x, (1, 1), mode="reflect").tolist()
    [[2.0, 1.0, 2.0, 3.0, 2.0]]
    """
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {len(pad)}")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.dim()}"
        )
    if mode == "constant":
        return _ops.constant_pad_nd(input, tuple(pad), 0.0 if value is None else value)
    if mode not in _SOURCES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0.0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    count = len(pad) // 2
    if not (1 <= count <= 3 and input.dim() in (count + 1, count + 2)):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    return _pad_by_index(input, tuple(int(p) for p in pad), mode)


def _pad_by_index(input: Tensor, widths: tuple[int, ...], mode: str) -> Tensor:
    result = input
    for i in range(len(widths) // 2):
        dim = input.dim() - 1 - i
        before, after = widths[2 * i], widths[2 * i + 1]
        if mode == "circular" and min(before, after) < 0:
            # The circle closes over what is left after cropping.
            start = max(-before, 0)
            result = result.narrow(dim, start, result.shape[dim] - start - max(-after, 0))
            before, after = max(before, 0), max(after, 0)
        size = result.shape[dim]
        if before == 0 and after == 0:
            continue
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}"
            )
        if mode == "circular" and max(before, after) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + after <= 0:
            raise RuntimeError(f"pad: input {list(input.shape)} with padding {list(widths)} leaves nothing of dimension {dim}")
        index = _SOURCES[mode](size, before, after).to(input.device)
        result = result.index_select(dim, index)
    return result
