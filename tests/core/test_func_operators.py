"""Every operator of the tables under vmap: the same as one call for each element of the batch."""

from __future__ import annotations

import execute
import operators
import pytest
import trine
from compare import difference
from samples import T
from trine.func import vmap

OPERATORS = operators.all_operators()
# They see memory, draw numbers, or give what depends on values alone.
NOT_MAPPED = {
    "as_strided", "as_strided_scatter", "view_dtype", "is_nonzero", "item", "equal", "allclose", "nonzero", "masked_select", "unique_consecutive", "resize", "resize_as", "set",
    "dropout", "native_dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
}  # fmt: skip


def is_mapped(operator):
    arguments = operator.op.schema.args
    random = any(argument.type == "Generator?" for argument in arguments)
    results = operator.op.schema.returns
    return (
        not random
        and operator.name not in NOT_MAPPED
        and all(r in ("Tensor", "Tensor[]") for r in results)
        and any(a.is_tensor for a in arguments)
        and operator.tests.get("meta", True)  # shapes that follow from values differ from element to element
        and operator.tests.get("vmap", True)
    )


def flat(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


@pytest.mark.parametrize("operator", [o for o in OPERATORS if is_mapped(o)], ids=lambda o: o.name)
def test_vmap_equals_one_call_for_each_element(operator):
    problems, tried = [], 0
    for (_, sample), (_, other) in zip(operator.samples("float64"), operator.samples("float64", seed=1), strict=True):
        if "special" in sample.text or sum(t.array.size for t in sample.tensors()) > 400:
            continue
        if is_error(execute.run(trine, operator.path, sample)) or is_error(execute.run(trine, operator.path, other)):
            continue
        pairs = [(a, b) for a, b in zip(sample.tensors(), other.tensors(), strict=True)]
        floats = [i for i, (a, _) in enumerate(pairs) if a.dtype in ("float64", "complex128") and not a.constant]
        if not floats:
            continue

        def function(*given, sample=sample, floats=floats):
            """The operator of the float tensors; all other arguments are those of the first sample."""
            number = iter(range(len(pairs)))  # noqa: B023
            by_place = dict(zip(floats, given, strict=True))

            def put(value):
                if isinstance(value, T):
                    place = next(number)
                    return by_place[place] if place in by_place else execute.to_library(trine, value)
                if isinstance(value, (list, tuple)):
                    return type(value)(put(item) for item in value)
                return execute.to_library(trine, value)

            args = [put(value) for value in sample.args]
            kwargs = {name: put(value) for name, value in sample.kwargs.items()}
            return execute.resolve(trine, operator.path, args)(*args, **kwargs)

        both = [[execute.to_library(trine, pairs[i][k]) for i in floats] for k in (0, 1)]
        try:
            singles = [flat(function(*row)) for row in both]
        except RuntimeError:
            continue  # what the values of the second sample forbid
        if not all(isinstance(t, trine.Tensor) for row in singles for t in row):
            continue
        if any(a.shape != b.shape for a, b in zip(*singles, strict=True)):
            continue
        expected = [trine.stack(list(column)) for column in zip(*singles, strict=True)]
        batched = flat(vmap(lambda *row: tuple(flat(function(*row))))(*[trine.stack(list(column)) for column in zip(*both, strict=True)]))
        tried += 1
        for index, (ours, theirs) in enumerate(zip(batched, expected, strict=True)):
            found = difference(execute.from_library(ours), execute.from_library(theirs), 1e-7)
            if found and index in operator.tests.get("unique", [index]):
                problems.append(f"{operator.name}({sample.text}), result {index}: {found}")
    assert not problems, "\n".join(problems)


def is_error(result) -> bool:
    return isinstance(result, dict)
