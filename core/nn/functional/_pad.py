"""Padding with a constant, by reflection, by repeating the edge and around the circle."""

from __future__ import annotations

from trine import Tensor, _ops

_MODES = ("reflect", "replicate", "circular")


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
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0.0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    count = len(pad) // 2
    if not (1 <= count <= 3 and input.dim() in (count + 1, count + 2)):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    return _ops.pad_inside(input, tuple(int(p) for p in pad), mode)
