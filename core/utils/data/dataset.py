"""Datasets: what a ``DataLoader`` draws samples from."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import trine

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Samples by index. Subclasses define ``__getitem__`` and, for most samplers, ``__len__``.

    A subclass may define ``__getitems__(indices)``, which returns the samples of a whole batch at once.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__}: a Dataset must define __getitem__")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples in the order of an iterator. Subclasses define ``__iter__``.

    Every worker of a ``DataLoader`` iterates over it, so that ``__iter__`` must give each its share, which
    ``get_worker_info()`` tells; otherwise samples come once per worker.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__}: an IterableDataset must define __iter__")

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Rows of tensors: sample ``i`` is ``(t[i] for t in tensors)``.

    Raises ``ValueError`` when the tensors' first dimensions differ.

    >>> import trine
    >>> data = trine.utils.data.TensorDataset(trine.arange(4), trine.arange(4) * 10)
    >>> [int(x) for x in data[2]]
    [2, 20]
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors:
            raise ValueError("TensorDataset: at least one tensor is needed")
        sizes = [tensor.size(0) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise ValueError(f"TensorDataset: the tensors differ in their first dimension: {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Datasets side by side: sample ``i`` is a tuple (or, with keyword arguments, a dict) of their samples ``i``."""

    def __init__(self, *args: Dataset, **kwargs: Dataset) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: give datasets either as positional or as keyword arguments")
        self.datasets: Any = args or kwargs
        lengths = {len(d) for d in self._parts()}  # type: ignore[arg-type]
        if len(lengths) > 1:
            raise ValueError(f"StackDataset: the datasets have different lengths: {sorted(lengths)}")
        self._length = lengths.pop()

    def _parts(self) -> Iterable[Dataset]:
        return self.datasets.values() if isinstance(self.datasets, dict) else self.datasets

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after another."""

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Running totals of the lengths."""
        totals, total = [], 0
        for item in sequence:
            total += len(item)
            totals.append(total)
        return totals

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: at least one dataset is needed")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise ValueError("ConcatDataset: an IterableDataset has no indices; use ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError(f"ConcatDataset: index {index} is out of range for {len(self)} samples")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Iterable datasets one after another."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            self._check(dataset)
            yield from dataset  # type: ignore[misc]

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            self._check(dataset)
            total += len(dataset)  # type: ignore[arg-type]
        return total

    @staticmethod
    def _check(dataset: Any) -> None:
        if not isinstance(dataset, IterableDataset):
            raise AssertionError(f"ChainDataset: only IterableDataset can be chained, got {type(dataset).__name__}")


class Subset(Dataset[T_co]):
    """The samples of ``dataset`` at ``indices``."""

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        wanted = [self.indices[i] for i in indices]
        together = getattr(self.dataset, "__getitems__", None)
        return together(wanted) if callable(together) else [self.dataset[i] for i in wanted]

    def __len__(self) -> int:
        return len(self.indices)


def _lengths_from_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    for at, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"random_split: fraction {fraction} at index {at} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for at in range(total - sum(lengths)):
        lengths[at % len(lengths)] += 1
    for at, length in enumerate(lengths):
        if not length:
            warnings.warn(f"random_split: the part at index {at} is empty", stacklevel=3)
    return lengths


def random_split(dataset: Dataset[T], lengths: Sequence[float], generator: Any = None) -> list[Subset[T]]:
    """Split into disjoint parts at random.

    Args:
        dataset: what to split.
        lengths: sizes of the parts, or fractions whose sum is 1; what rounding leaves over goes to the first parts.
        generator: source of the permutation; None is the default generator.

    Raises:
        ValueError: the lengths do not add up to ``len(dataset)``.

    >>> import trine
    >>> parts = trine.utils.data.random_split(range(10), [0.7, 0.3])
    >>> [len(part) for part in parts]
    [7, 3]
    """
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_from_fractions(total, lengths)
    if sum(lengths) != total:
        raise ValueError(f"random_split: the lengths {list(lengths)} add up to {sum(lengths)}, the dataset has {total} samples")
    indices = trine.randperm(int(sum(lengths)), generator=generator).tolist()
    parts, start = [], 0
    for length in lengths:
        parts.append(Subset(dataset, indices[start : start + int(length)]))
        start += int(length)
    return parts
