"""Datasets, samplers and collation: the same samples in the same order and form as in PyTorch.

The orders are what PyTorch 2.13 gives for the seeds named here.
"""

from __future__ import annotations

import collections
import random

import numpy as np
import pytest
import trine
from trine.utils import data
from trine.utils.data import DataLoader, default_collate, default_convert

Point = collections.namedtuple("Point", "x y")


def two_epochs(**options) -> list:
    trine.manual_seed(5)
    loader = DataLoader(list(range(40)), batch_size=None, **options)
    return [[int(x) for x in loader] for _ in range(2)]


def test_shuffling_follows_pytorchs_order():
    assert two_epochs(shuffle=True) == [
        [28, 36, 2, 12, 9, 20, 26, 8, 33, 5, 29, 37, 14, 4, 32, 6, 7, 25, 16, 10, 35, 22, 1, 27, 0, 15, 3, 19, 34, 39, 21, 23, 11, 38, 18,
         13, 31, 24, 30, 17],
        [5, 2, 11, 10, 15, 4, 27, 20, 14, 31, 30, 22, 9, 32, 35, 19, 25, 24, 8, 38, 33, 16, 36, 1, 18, 6, 17, 34, 3, 26, 21, 28, 13, 12, 0,
         39, 37, 23, 29, 7],
    ]  # fmt: skip


def test_a_loaders_own_generator_follows_pytorchs_order():
    generator = trine.Generator().manual_seed(9)
    loader = DataLoader(list(range(40)), batch_size=None, shuffle=True, generator=generator)
    first, second = ([int(x) for x in loader] for _ in range(2))
    assert first[:8] == [14, 30, 28, 23, 11, 8, 7, 1] and second[:8] == [12, 2, 22, 4, 13, 19, 15, 7]


def test_samplers_follow_pytorchs_order():
    assert two_epochs(sampler=data.RandomSampler(range(40), replacement=True, num_samples=35)) == [
        [28, 2, 14, 39, 17, 25, 8, 0, 17, 6, 19, 3, 2, 35, 26, 11, 9, 20, 1, 9, 15, 31, 18, 36, 36, 31, 24, 34, 30, 28, 26, 14, 13, 27, 4],
        [5, 27, 23, 0, 31, 5, 35, 27, 30, 21, 20, 25, 39, 30, 3, 4, 1, 23, 27, 3, 13, 32, 30, 37, 27, 37, 21, 25, 38, 9, 24, 34, 24, 11, 0],
    ]
    assert two_epochs(sampler=data.RandomSampler(range(7), num_samples=10)) == [
        [0, 3, 6, 2, 1, 4, 5, 6, 5, 4],
        [1, 2, 5, 3, 6, 4, 0, 0, 2, 1],
    ]
    assert two_epochs(sampler=data.SubsetRandomSampler([3, 1, 4, 15, 9])) == [[4, 3, 9, 15, 1], [15, 1, 3, 4, 9]]
    assert [list(data.DistributedSampler(range(10), 3, rank, seed=2)) for rank in range(3)] == [[8, 5, 0, 3], [7, 6, 4, 8], [1, 9, 2, 7]]
    trine.manual_seed(5)
    assert [part.indices for part in data.random_split(range(10), [0.5, 0.33, 0.17])] == [[1, 4, 9, 6, 3, 5], [0, 2, 8], [7]]


def test_weighted_sampling_follows_pytorchs_order():
    weights = [1, 2, 3, 4, 0.5]
    assert two_epochs(sampler=data.WeightedRandomSampler(weights, 12)) == [
        [1, 2, 2, 1, 3, 3, 3, 3, 2, 2, 2, 3],
        [1, 2, 2, 2, 3, 2, 3, 2, 0, 2, 3, 1],
    ]
    assert two_epochs(sampler=data.WeightedRandomSampler(weights, 4, replacement=False)) == [[3, 2, 1, 0], [3, 2, 4, 1]]


def test_a_pass_draws_as_much_from_the_default_generator_as_pytorchs():
    trine.manual_seed(5)
    list(DataLoader([1, 2], shuffle=True))
    assert trine.randint(1000, (3,)).tolist() == [6, 70, 792]


# Datasets.


def test_tensor_dataset():
    dataset = data.TensorDataset(trine.arange(4), trine.arange(8).reshape(4, 2))
    assert len(dataset) == 4 and [t.tolist() for t in dataset[2]] == [2, [4, 5]]
    with pytest.raises(ValueError, match="differ in their first dimension"):
        data.TensorDataset(trine.ones(2), trine.ones(3))


def test_datasets_concatenate_and_take_negative_indices():
    joined = data.ConcatDataset([[1, 2], [3], [4, 5]])
    assert [joined[i] for i in range(len(joined))] == [1, 2, 3, 4, 5] and joined[-1] == 5 and joined[-5] == 1
    with pytest.raises(ValueError, match="out of range"):
        joined[-6]
    assert len(data.TensorDataset(trine.ones(2)) + data.TensorDataset(trine.ones(3))) == 5


def test_iterable_datasets_chain():
    class Numbers(data.IterableDataset):
        def __init__(self, *numbers):
            self.numbers = numbers

        def __iter__(self):
            return iter(self.numbers)

        def __len__(self):
            return len(self.numbers)

    chained = Numbers(1, 2) + Numbers(3)
    assert list(chained) == [1, 2, 3] and len(chained) == 3
    with pytest.raises(ValueError, match="ChainDataset"):
        data.ConcatDataset([Numbers(1)])


def test_stacked_datasets():
    assert data.StackDataset([1, 2], "ab")[1] == (2, "b")
    assert data.StackDataset(number=[1, 2], letter="ab")[0] == {"number": 1, "letter": "a"}
    with pytest.raises(ValueError, match="different lengths"):
        data.StackDataset([1], "ab")


def test_subsets_fetch_whole_batches_where_the_dataset_can():
    class Batched(list):
        def __getitems__(self, indices):
            return [self[i] * 10 for i in indices]

    subset = data.Subset(Batched(range(10)), [9, 8, 7])
    assert subset[0] == 9
    assert [batch.tolist() for batch in DataLoader(subset, batch_size=2)] == [[90, 80], [70]]


def test_random_split_tells_wrong_lengths():
    with pytest.raises(ValueError, match="add up to 9"):
        data.random_split(range(10), [4, 5])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        data.random_split(range(10), [1.5, -0.5])
    with pytest.warns(UserWarning, match="is empty"):
        data.random_split(range(2), [0.8, 0.1, 0.1])
    assert sorted(i for part in data.random_split(range(10), [3, 7]) for i in part) == list(range(10))


# Samplers.


def test_batch_sampler():
    assert list(data.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(range(5), 2, True)) == 2 and len(data.BatchSampler(range(5), 2, False)) == 3
    for size in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="batch_size"):
            data.BatchSampler(range(5), size, False)


def test_samplers_check_their_arguments():
    with pytest.raises(TypeError, match="replacement"):
        data.RandomSampler(range(3), replacement=1)
    with pytest.raises(ValueError, match="num_samples"):
        data.RandomSampler([])
    with pytest.raises(ValueError, match="num_samples"):
        data.WeightedRandomSampler([1.0], 0)
    with pytest.raises(ValueError, match="rank"):
        data.DistributedSampler(range(3), num_replicas=2, rank=2)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 12])
def test_distributed_samplers_share_the_dataset_evenly(length, drop_last):
    parts = [list(data.DistributedSampler(range(length), 4, rank, drop_last=drop_last)) for rank in range(4)]
    assert len({len(part) for part in parts}) == 1
    drawn = sorted(i for part in parts for i in part)
    assert set(drawn) <= set(range(length)) and (drop_last or set(drawn) == set(range(length)))
    epochs = data.DistributedSampler(range(100), 1, 0)
    first = list(epochs)
    epochs.set_epoch(1)
    assert first != list(epochs)


# Collation.


def test_collation_of_every_kind_of_sample():
    batch = default_collate(
        [
            {
                "t": trine.ones(2) * i,
                "i": i,
                "f": i / 2,
                "s": "ab"[i],
                "n": Point(i, [i, i]),
                "a": np.full(3, i, np.int16),
                "q": (i, "x"),
                "b": True,
            }
            for i in range(2)
        ]
    )
    assert batch["t"].tolist() == [[0, 0], [1, 1]] and batch["i"].dtype == trine.int64
    assert batch["f"].dtype == trine.float64 and batch["f"].tolist() == [0, 0.5]
    assert batch["s"] == ["a", "b"] and isinstance(batch["n"], Point)
    assert batch["n"].x.tolist() == [0, 1] and [t.tolist() for t in batch["n"].y] == [[0, 1], [0, 1]]
    assert batch["a"].dtype == trine.int16 and tuple(batch["a"].shape) == (2, 3)
    assert isinstance(batch["q"], list) and batch["q"][1] == ("x", "x")
    assert batch["b"].dtype == trine.bool
    assert default_collate([np.float32(1), np.float32(2)]).dtype == trine.float32
    assert default_collate([b"x", b"y"]) == [b"x", b"y"]


def test_collation_keeps_the_class_of_a_mapping():
    batch = default_collate([collections.OrderedDict(b=1, a=2)] * 2)
    assert type(batch) is collections.OrderedDict and list(batch) == ["b", "a"]
    found = default_collate([collections.defaultdict(list, {"k": 1})] * 2)
    assert found.default_factory is list and found["k"].tolist() == [1, 1]


def test_collation_tells_what_it_cannot_combine():
    with pytest.raises(TypeError, match="found <class 'object'>"):
        default_collate([object()])
    with pytest.raises(TypeError, match="found <class 'NoneType'>"):
        default_collate([{"x": None}])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [1]])
    with pytest.raises(TypeError, match="found <U1"):
        default_collate([np.array(["a"])])
    with pytest.raises(RuntimeError):
        default_collate([trine.ones(2), trine.ones(3)])


def test_conversion_without_batching():
    converted = default_convert({"a": np.ones(2), "s": "text", "t": (1, np.float64(2.0)), "n": Point(np.zeros(1), 1)})
    assert isinstance(converted["a"], trine.Tensor) and converted["s"] == "text"
    assert converted["t"][0] == 1 and converted["t"][1].item() == 2.0
    assert isinstance(converted["n"], Point) and isinstance(converted["n"].x, trine.Tensor)


def test_a_function_for_a_type_of_ones_own():
    from trine.utils.data._utils.collate import collate, default_collate_fn_map

    class Box:
        def __init__(self, side):
            self.side = side

    table = {Box: lambda batch, *, collate_fn_map: [box.side for box in batch], **default_collate_fn_map}
    assert collate([(Box(1), 2), (Box(3), 4)], collate_fn_map=table)[0] == [1, 3]


def test_workers_numpy_seed_is_numpys_own_seed_sequence():
    from trine.utils.data._utils.seeding import numpy_state

    for _ in range(50):
        base, worker = random.getrandbits(63), random.randrange(100)
        words = [worker, base & 0xFFFFFFFF, base >> 32, 0]
        assert numpy_state(base, worker) == np.random.SeedSequence(words).generate_state(4).tolist()
