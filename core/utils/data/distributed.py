"""The sampler that gives each of several training processes its share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import trine

from .sampler import Sampler

__all__ = ["DistributedSampler"]


def _from_process_group(question: str) -> int:
    distributed = getattr(trine, "distributed", None)
    if distributed is None or not distributed.is_available():
        raise RuntimeError("DistributedSampler: give num_replicas and rank, there is no process group to ask")
    return getattr(distributed, question)()


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th index, starting at ``rank``, of a permutation that all processes agree on.

    Args:
        dataset: what is sampled; only its length matters.
        num_replicas: number of processes. None asks the process group.
        rank: number of this process, from 0. None asks the process group.
        shuffle: permute, with ``seed`` plus the epoch given to ``set_epoch``.
        seed: the same in every process.
        drop_last: leave out the tail that does not divide evenly, instead of repeating samples to fill it.

    >>> import trine
    >>> list(trine.utils.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = _from_process_group("get_world_size")
        if rank is None:
            rank = _from_process_group("get_rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank {rank} is not between 0 and {num_replicas - 1}")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        length = len(dataset)
        self.num_samples = length // num_replicas if drop_last else -(-length // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        length = len(self.dataset)
        if self.shuffle:
            generator = trine.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = trine.randperm(length, generator=generator).tolist()
        else:
            indices = list(range(length))
        if indices and len(indices) < self.total_size:
            missing = self.total_size - len(indices)
            indices += (indices * -(-missing // len(indices)))[:missing]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the permutation of the next pass; without it every epoch has the same order."""
        self.epoch = epoch
