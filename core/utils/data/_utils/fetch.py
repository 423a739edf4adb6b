"""From what a sampler gave to a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["make_fetcher"]


def _map_fetcher(dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def fetch_batch(indices: Any) -> Any:
        together = getattr(dataset, "__getitems__", None)
        return collate_fn(together(indices) if together else [dataset[index] for index in indices])

    def fetch_one(index: Any) -> Any:
        return collate_fn(dataset[index])

    return fetch_batch if auto_collation else fetch_one


def _iterable_fetcher(dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Callable[[Any], Any]:
    iterator = iter(dataset)
    ended = False

    def fetch_batch(indices: Any) -> Any:
        nonlocal ended
        if ended:
            raise StopIteration
        samples = []
        for _ in indices:
            try:
                samples.append(next(iterator))
            except StopIteration:
                ended = True
                break
        if not samples or (drop_last and len(samples) < len(indices)):
            raise StopIteration
        return collate_fn(samples)

    def fetch_one(index: Any) -> Any:
        return collate_fn(next(iterator))

    return fetch_batch if auto_collation else fetch_one


def make_fetcher(
    dataset: Any, iterable: bool, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
) -> Callable[[Any], Any]:
    """Function from an item of the index sampler to a batch; it raises ``StopIteration`` at the end of an iterable."""
    if iterable:
        return _iterable_fetcher(dataset, auto_collation, collate_fn, drop_last)
    return _map_fetcher(dataset, auto_collation, collate_fn)
