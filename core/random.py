"""The default generator of random numbers: seeds, states, and a scope that leaves it as it was.

The CPU generator hands out PyTorch's own stream for a seed, and its states can be exchanged with PyTorch's.

>>> import trine
>>> _ = trine.manual_seed(0)
>>> trine.rand(2)
tensor([0.4963, 0.7682])
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator as _Generator
from collections.abc import Iterable

from . import _C
from ._C import Generator, Tensor

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]

default_generator: Generator = _C._default_generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it.

    Args:
        seed: any integer of 64 bits; a negative one stands for ``seed + 2**64``.

    Raises:
        ValueError: the seed does not fit into 64 bits.

    >>> import trine
    >>> generator = trine.manual_seed(42)
    >>> trine.randint(10, (5,))
    tensor([2, 7, 6, 4, 6])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system's entropy and return the seed, a number of 64 bits.

    >>> import trine
    >>> trine.seed() == trine.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was last given.

    >>> import trine
    >>> _ = trine.manual_seed(7)
    >>> trine.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state: a uint8 tensor of 5056 bytes in PyTorch's layout.

    >>> import trine
    >>> state = trine.get_rng_state()
    >>> first = trine.rand(3)
    >>> trine.set_rng_state(state)
    >>> bool((trine.rand(3) == first).all())
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into a state of `get_rng_state`, or of PyTorch's function of that name.

    Raises:
        TypeError: not a uint8 tensor.
        RuntimeError: not a state of this engine.

    >>> import trine
    >>> trine.set_rng_state(trine.get_rng_state())
    """
    default_generator.set_state(new_state)


def thread_safe_generator() -> None:
    """The generator of a data-loading worker thread; there is none outside one, and none is needed: generators lock.

    >>> import trine.random
    >>> trine.random.thread_safe_generator()
    """
    return None


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[object] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cpu",
) -> _Generator[None, None, None]:
    """A scope after which the default generator goes on as if nothing had been drawn inside.

    Args:
        devices: further devices whose generators to keep; only the CPU has one in this build.
        enabled: without it the scope does nothing.
        device_type: accepted for programs written for PyTorch.

    >>> import trine
    >>> _ = trine.manual_seed(0)
    >>> with trine.random.fork_rng():
    ...     _ = trine.rand(1000)
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
