"""Sequences of different lengths in one tensor: padded, or packed step by step for recurrent layers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import trine
from trine import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of a `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def bind(optional: Any, fn: Any) -> Any:
    """``fn(optional)``, or None where there is nothing."""
    return None if optional is None else fn(optional)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes `permutation`."""
    if permutation is None:
        return None
    output = trine.empty_like(permutation)
    output.scatter_(0, permutation, trine.arange(0, permutation.numel(), device=permutation.device))
    return output


class PackedSequence(PackedSequence_):
    """All elements of a batch of sequences in the order of their steps, as recurrent layers take and give them.

    `data` is (sum of lengths, *); `batch_sizes` (int64, on the CPU) how many sequences reach each step; `sorted_indices` and
    `unsorted_indices` the order by falling length and its inverse, None for sequences that came sorted. Made by `pack_padded_sequence` and
    `pack_sequence`.

    >>> import trine
    >>> from trine.nn.utils.rnn import pack_sequence
    >>> pack_sequence([trine.tensor([1, 2, 3]), trine.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise ValueError("PackedSequence: expected data and batch_sizes")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(f"batch_sizes should always be on CPU, but got a tensor on {batch_sizes.device}")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _map(self, data: Tensor) -> PackedSequence:
        """The same structure around other data; this object where nothing changed."""
        if data is self.data:
            return self

        def moved(index: Tensor | None) -> Tensor | None:
            return bind(index, lambda t: t.to(data.device))

        return type(self)(data, self.batch_sizes, moved(self.sorted_indices), moved(self.unsorted_indices))

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With `data` of another dtype or device, as `Tensor.to`."""
        return self._map(self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self._map(self.data.cpu())

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a CUDA device."""
        return self._map(self.data.cuda(*args, **kwargs))

    def pin_memory(self) -> PackedSequence:
        """With `data` in pinned memory, where that means something."""
        return self._map(self.data.pin_memory())

    def double(self) -> PackedSequence:
        return self.to(trine.double)

    def float(self) -> PackedSequence:
        return self.to(trine.float)

    def half(self) -> PackedSequence:
        return self.to(trine.half)

    def long(self) -> PackedSequence:
        return self.to(trine.long)

    def int(self) -> PackedSequence:
        return self.to(trine.int)

    def short(self) -> PackedSequence:
        return self.to(trine.short)

    def char(self) -> PackedSequence:
        return self.to(trine.int8)

    def byte(self) -> PackedSequence:
        return self.to(trine.uint8)

    @property
    def is_cuda(self) -> bool:
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        return self.data.is_pinned()


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs a padded batch (longest, batch, *), or (batch, longest, *) with `batch_first`, given each sequence's length.

    With `enforce_sorted` the lengths must fall. RuntimeError for lengths that do not fit, are not positive or not sorted.

    >>> import trine
    >>> packed = trine.nn.utils.rnn.pack_padded_sequence(trine.tensor([[1, 4], [2, 0], [3, 0]]), [3, 1])
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 4, 2, 3], [2, 1, 1])
    """
    if not isinstance(lengths, Tensor):
        lengths = trine.as_tensor(lengths, dtype=trine.int64)
    elif lengths.device.type != "cpu":
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {lengths.device} {lengths.dtype} tensor"
        )
    lengths = lengths.to(trine.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = trine.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = input.transpose(0, 1) if batch_first else input
    counts = lengths.tolist()
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(counts) != steps.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={steps.shape[1]})")
    if counts[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in itertools.pairwise(counts)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
            "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
        )
    if counts[0] > steps.shape[0]:
        raise RuntimeError(f"Expected lengths of at most {steps.shape[0]} steps, got {counts[0]}")
    # Steps that the same sequences reach are one piece of the data.
    pieces, sizes, done = [], [], 0
    for alive in range(len(counts), 0, -1):
        until = counts[alive - 1]
        if until > done:
            pieces.append(steps[done:until, :alive].reshape(-1, *steps.shape[2:]))
            sizes += [alive] * (until - done)
            done = until
    return PackedSequence(trine.cat(pieces), trine.tensor(sizes, dtype=trine.int64), sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded batch (longest, batch, *), or (batch, longest, *) with `batch_first`, and the lengths (batch,), in the original order.

    `total_length` pads further; ValueError when it is less than the longest sequence.
    """
    sizes = sequence.batch_sizes.tolist()
    longest, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} "
                f"and max sequence length being {longest}"
            )
        longest = total_length
    data = sequence.data
    lengths = trine.tensor([sum(size > b for size in sizes) for b in range(batch)], dtype=trine.int64)
    if sizes[-1] == batch:
        padded = data.reshape(len(sizes), batch, *data.shape[1:])
        if longest > len(sizes):
            padded = trine.cat([padded, data.new_full((longest - len(sizes), batch, *data.shape[1:]), padding_value)])
    else:
        # Where row (step, b) of the result lies in the data; steps that a sequence does not reach take the row of padding at the end.
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + size)
        place = [[starts[t] + b if t < len(sizes) and b < sizes[t] else starts[-1] for b in range(batch)] for t in range(longest)]
        extended = trine.cat([data, data.new_full((1, *data.shape[1:]), padding_value)])
        padded = extended.index_select(0, trine.tensor(place).reshape(-1)).reshape(longest, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(
    sequences: Tensor | Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (length, *) as one batch (longest, batch, *), or (batch, longest, *) with `batch_first`.

    >>> import trine
    >>> trine.nn.utils.rnn.pad_sequence([trine.tensor([1, 2]), trine.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"pad_sequence: padding_side must be 'right' or 'left', got {padding_side!r}")
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    rows = list(sequences)
    if not rows:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest, rest = max(row.shape[0] for row in rows), rows[0].shape[1:]
    if any(row.shape[1:] != rest for row in rows):
        raise RuntimeError(f"pad_sequence: the sizes after the first must agree, got {[tuple(row.shape) for row in rows]}")

    def padded(row: Tensor) -> Tensor:
        if row.shape[0] == longest:
            return row
        fill = row.new_full((longest - row.shape[0], *rest), padding_value)
        return trine.cat([row, fill] if padding_side == "right" else [fill, row])

    return trine.stack([padded(row) for row in rows], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each cut to its length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (length, *); with `enforce_sorted` their lengths must fall."""
    lengths = trine.as_tensor([sequence.shape[0] for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed, in their original order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
