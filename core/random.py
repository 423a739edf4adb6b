"""The default random generator: seeds, and states to save and restore."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from trine import _C

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

default_generator: _C.Generator = _C.default_generator


def manual_seed(seed: int) -> _C.Generator:
    """Seeds the default generator, as PyTorch does: the same seed gives the same numbers. Returns the generator.

    ``seed`` is within [-2**63, 2**64); negative ones count back from 2**64. RuntimeError outside.

    >>> import trine
    >>> _ = trine.manual_seed(0)
    >>> trine.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seeds the default generator from the system's source of randomness; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was given last."""
    return default_generator.initial_seed()


def get_rng_state() -> _C.Tensor:
    """The default generator's state, a 1-dim uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: _C.Tensor) -> None:
    """Puts the default generator into a state that :func:`get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: object = None, enabled: bool = True, device_type: str = "cuda") -> Iterator[None]:
    """Restores the default generator's state at the end of a ``with`` block.

    >>> import trine
    >>> _ = trine.manual_seed(0)
    >>> with trine.random.fork_rng():
    ...     _ = trine.rand(100)
    >>> trine.rand(2)
    tensor([0.4963, 0.7682])
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
