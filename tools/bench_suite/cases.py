"""How a benchmark case is declared, and how all of them are found."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

SUITES = ["eager", "large", "gemm", "networks", "training", "startup", "pictures", "functions", "operators", "memory"]

Prepare = Callable[[ModuleType], Callable[[], object]]


@dataclass
class Case:
    """A piece of work; ``limits`` maps a peer to the largest ratio trine / peer that was promised."""

    suite: str
    name: str
    prepare: Prepare
    limits: dict[str, float]
    threads: tuple[int, ...] = (1, 2)
    unit: str = "s"  # "B": the work's result is a number of bytes, which is compared instead of the time
    variants: dict[str, Prepare] = field(default_factory=dict)

    def variant(self, library: str) -> Callable[[Prepare], Prepare]:
        """Declares how ``library`` (one that does not have PyTorch's API) does the same work."""

        def register(prepare: Prepare) -> Prepare:
            self.variants[library] = prepare
            return prepare

        return register

    def prepare_for(self, library: str, module: ModuleType) -> Callable[[], object]:
        """Builds the inputs and returns the closure to time."""
        return self.variants.get(library, self.prepare)(module)


REGISTRY: dict[str, Case] = {}


def case(name: str, *, threads: tuple[int, ...] = (1, 2), unit: str = "s", **limits: float) -> Callable[[Prepare], Case]:
    """Declares a case: ``@case("add_one", torch=0.15, numpy=1.0)``."""

    def register(prepare: Prepare) -> Case:
        suite = prepare.__module__.rsplit(".", 1)[-1]
        if name in REGISTRY:
            raise ValueError(f"two benchmark cases are called {name}")
        REGISTRY[name] = Case(suite, name, prepare, limits, threads, unit)
        return REGISTRY[name]

    return register


def all_cases() -> dict[str, Case]:
    """Every case by name, in the order of the suites."""
    for suite in SUITES:
        importlib.import_module(f"bench_suite.{suite}")
    return REGISTRY
