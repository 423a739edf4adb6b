"""Random sizes, layouts and tensors for benchmarks: drawn from distributions, rejected until they meet the constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import trine

__all__ = ["FuzzedParameter", "FuzzedSparseTensor", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

_MOST_ATTEMPTS = 10_000
_LARGEST_SEED = 2**32 - 1


def _random_state(seed: int | None) -> Any:
    try:
        import numpy
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Fuzzer: NumPy draws the random numbers; install it with pip install trine[numpy]", name="numpy"
        ) from None
    return numpy.random.RandomState(seed)


class ParameterAlias:
    """Value of a distribution that stands for whatever another parameter drew."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias(alias_to={self.alias_to!r})"


class FuzzedParameter:
    """A random number.

    Args:
        name: how tensors and constraints refer to it.
        minval, maxval: bounds, both included. Integers give integers, floats floats.
        distribution: ``"uniform"`` or ``"loguniform"`` between the bounds, or ``{value: probability}``.
        strict: reject draws outside of the bounds (a logarithm's rounding may leave them) instead of moving them inside.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self._name, self._minval, self._maxval, self.strict = name, minval, maxval, strict
        if isinstance(distribution, dict):
            if not distribution or abs(math.fsum(distribution.values()) - 1) > 1e-5:
                raise ValueError(f"FuzzedParameter: the probabilities of {name!r} must add up to 1, got {distribution}")
        elif distribution not in ("uniform", "loguniform"):
            raise ValueError(
                f"FuzzedParameter: the distribution of {name!r} must be 'uniform', 'loguniform' or a dict, got {distribution!r}"
            )
        elif minval is None or maxval is None or minval > maxval or (distribution == "loguniform" and minval <= 0):
            raise ValueError(f"FuzzedParameter: {name!r} has the bounds {minval} and {maxval}")
        self._distribution = distribution

    @property
    def name(self) -> str:
        """How tensors and constraints refer to it."""
        return self._name

    def sample(self, state: Any) -> Any:
        """A draw from ``state``, a ``numpy.random.RandomState``."""
        if isinstance(self._distribution, dict):
            values = list(self._distribution)
            return values[int(state.choice(len(values), p=list(self._distribution.values())))]
        low, high = self._minval, self._maxval
        assert low is not None and high is not None
        whole = isinstance(low, int) and isinstance(high, int)
        if self._distribution == "uniform":
            return int(state.randint(low, high + 1)) if whole else float(state.uniform(low, high))
        value = math.exp(state.uniform(math.log(low), math.log(high)))
        value = round(value) if whole else value
        return value if self.strict else min(max(value, low), high)

    def accepts(self, value: Any) -> bool:
        """Whether a draw may be kept."""
        if not self.strict or self._minval is None or self._maxval is None or isinstance(value, ParameterAlias):
            return True
        return self._minval <= value <= self._maxval


class FuzzedTensor:
    """A tensor whose size, order of dimensions in memory and steps are drawn.

    Args:
        name: its key in what ``Fuzzer.take`` yields.
        size: numbers and names of parameters, one for each dimension.
        steps: likewise: every how manieth element of a dimension is used.
        probability_contiguous: share of tensors that are contiguous; the others have their dimensions in random order in memory.
        min_elements, max_elements, max_allocation_bytes: limits; combinations beyond are rejected.
        dim_parameter: name of the parameter that says how many of the dimensions are used.
        roll_parameter: name of the parameter that says by how many places sizes and steps are rotated.
        dtype: of the tensor.
        cuda: make it on the CUDA device.
        tensor_constructor: called as ``(size=..., dtype=..., **parameters)``; None draws ``rand`` or ``randint``.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: Any = trine.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Any] | None = None,
    ) -> None:
        if steps is not None and len(steps) != len(size):
            raise ValueError(f"FuzzedTensor: {name!r} has {len(size)} dimensions and {len(steps)} steps")
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements, self._max_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._roll_parameter = dim_parameter, roll_parameter
        self._dtype, self._cuda = dtype, cuda
        self._constructor = tensor_constructor

    @property
    def name(self) -> str:
        """Its key in what ``Fuzzer.take`` yields."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: Any, **kwargs: Any) -> Any:
        """Uniform floats, or whole numbers that every integer type holds."""
        if dtype.is_floating_point or dtype.is_complex:
            return trine.rand(size, dtype=dtype)
        return trine.randint(0, 2 if dtype is trine.bool else 127, size).to(dtype)

    def _geometry(self, params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        def resolve(values: tuple[str | int, ...]) -> tuple[int, ...]:
            return tuple(int(params[v]) if isinstance(v, str) else v for v in values)

        size, steps = resolve(self._size), resolve(self._steps or (1,) * len(self._size))
        if self._dim_parameter is not None:
            size, steps = size[: params[self._dim_parameter]], steps[: params[self._dim_parameter]]
        if self._roll_parameter is not None and size:
            shift = params[self._roll_parameter] % len(size)
            size, steps = size[shift:] + size[:shift], steps[shift:] + steps[:shift]
        return size, steps

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Whether the tensor for these parameters is within the limits."""
        size, steps = self._geometry(params)
        elements = math.prod(size)
        allocated = math.prod(n * step for n, step in zip(size, steps, strict=True)) * self._dtype.itemsize
        return not (
            (self._min_elements is not None and elements < self._min_elements)
            or (self._max_elements is not None and elements > self._max_elements)
            or (self._max_bytes is not None and allocated > self._max_bytes)
        )

    def make(self, params: dict[str, Any], state: Any) -> tuple[Any, dict[str, Any]]:
        """(tensor, what it is like) for these parameters."""
        size, steps = self._geometry(params)
        order = list(range(len(size)))
        if len(size) > 1 and state.rand() >= self._probability_contiguous:
            order = [int(i) for i in state.permutation(len(size))]
        allocated = [size[i] * steps[i] for i in order]
        tensor = (self._constructor or self.default_tensor_constructor)(size=tuple(allocated), dtype=self._dtype, **params)
        if self._cuda:
            tensor = tensor.cuda()
        tensor = tensor.permute([order.index(i) for i in range(len(size))])
        tensor = tensor[tuple(slice(0, n * step, step) for n, step in zip(size, steps, strict=True))]
        properties = {
            "numel": tensor.numel(), "order": tuple(order), "steps": steps,
            "is_contiguous": tensor.is_contiguous(), "dtype": str(self._dtype),
        }  # fmt: skip
        return tensor, properties


class FuzzedSparseTensor(FuzzedTensor):
    """A sparse tensor in coordinate form whose size and number of entries are drawn.

    Args:
        sparse_dim: name of the parameter (or number) that says how many dimensions are sparse; None is all.
        nnz, density: how many entries, or their share of all places; a name or a number.
        coalesced: name or number; whether entries are sorted and unique.

    The other arguments are ``FuzzedTensor``'s.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | None = None,
        nnz: str | None = None,
        density: str | None = None,
        coalesced: str | None = None,
        dtype: Any = trine.float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(name, size, None, 1.0, min_elements, max_elements, None, dim_parameter, None, dtype, cuda)
        self._sparse = (sparse_dim, nnz, density, coalesced)

    @staticmethod
    def sparse_tensor_constructor(size: Any, dtype: Any, sparse_dim: int, nnz: int, is_coalesced: bool) -> Any:
        """Sparse tensor with ``nnz`` random entries over the first ``sparse_dim`` dimensions."""
        size = tuple(size)
        indices = trine.stack([trine.randint(0, n, (nnz,)) for n in size[:sparse_dim]])
        values = FuzzedTensor.default_tensor_constructor((nnz, *size[sparse_dim:]), dtype)
        tensor = trine.sparse_coo_tensor(indices, values, size)
        return tensor.coalesce() if is_coalesced else tensor

    def make(self, params: dict[str, Any], state: Any) -> tuple[Any, dict[str, Any]]:
        """(tensor, what it is like) for these parameters."""
        size, _ = self._geometry(params)
        sparse_dim, nnz, density, coalesced = (params[v] if isinstance(v, str) else v for v in self._sparse)
        sparse_dim = len(size) if sparse_dim is None else min(int(sparse_dim), len(size))
        if nnz is None:
            nnz = math.ceil(math.prod(size[:sparse_dim]) * (0.1 if density is None else density))
        tensor = self.sparse_tensor_constructor(size, self._dtype, sparse_dim, int(nnz), bool(coalesced))
        if self._cuda:
            tensor = tensor.cuda()
        properties = {
            "numel": math.prod(size), "shape": size, "is_coalesced": tensor.is_coalesced(), "sparse_dim": sparse_dim,
            "dense_dim": len(size) - sparse_dim, "dtype": str(self._dtype),
        }  # fmt: skip
        return tensor, properties


def _flat(entries: Any) -> list[Any]:
    return [x for entry in entries for x in (entry if isinstance(entry, (list, tuple)) else [entry])]


class Fuzzer:
    """Draws parameters and the tensors that depend on them.

    Args:
        parameters: ``FuzzedParameter``s, lists of them may be nested once.
        tensors: ``FuzzedTensor``s, likewise.
        constraints: functions of the parameters (by keyword) that must all be true.
        seed: of the parameters and layouts; None draws one. The tensors' contents come from Trine's own generator.

    >>> from trine.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> fuzzer = Fuzzer([FuzzedParameter("n", 1, 64, "loguniform")], [FuzzedTensor("x", ("n", 3))], seed=0)
    >>> for tensors, properties, parameters in fuzzer.take(1):
    ...     print(tuple(tensors["x"].shape) == (parameters["n"], 3), properties["x"]["dtype"])
    True torch.float32
    """

    def __init__(
        self, parameters: Any, tensors: Any, constraints: list[Callable[..., bool]] | None = None, seed: int | None = None
    ) -> None:
        self._seed = int(_random_state(None).randint(0, _LARGEST_SEED)) if seed is None else seed
        self._parameters: list[FuzzedParameter] = _flat(parameters)
        self._tensors: list[FuzzedTensor] = _flat(tensors)
        self._constraints = constraints or []
        names = [p.name for p in self._parameters] + [t.name for t in self._tensors]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"Fuzzer: the name {twice[0]!r} is used twice")
        self._rejections = self._draws = 0

    @property
    def rejection_rate(self) -> float:
        """Share of the draws that did not meet the constraints."""
        return self._rejections / self._draws if self._draws else 0.0

    def take(self, n: int) -> Iterator[tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]]]:
        """``n`` times (tensors by name, what each is like, parameters by name)."""
        state = _random_state(self._seed)
        for _ in range(n):
            params = self._draw(state)
            made = {tensor.name: tensor.make(params, state) for tensor in self._tensors}
            yield {k: v[0] for k, v in made.items()}, {k: v[1] for k, v in made.items()}, params

    def _draw(self, state: Any) -> dict[str, Any]:
        for _ in range(_MOST_ATTEMPTS):
            self._draws += 1
            drawn = {p.name: p.sample(state) for p in self._parameters}
            fits = all(p.accepts(drawn[p.name]) for p in self._parameters)
            params = {name: self._resolve(value, drawn) for name, value in drawn.items()}
            if fits and all(c(**params) for c in self._constraints) and all(t.satisfies_constraints(params) for t in self._tensors):
                return params
            self._rejections += 1
        raise ValueError(f"Fuzzer: none of {_MOST_ATTEMPTS} draws met the constraints")

    @staticmethod
    def _resolve(value: Any, drawn: dict[str, Any]) -> Any:
        seen = 0
        while isinstance(value, ParameterAlias):
            if value.alias_to not in drawn or seen > len(drawn):
                raise ValueError(f"Fuzzer: {value} leads to no parameter")
            value, seen = drawn[value.alias_to], seen + 1
        return value
