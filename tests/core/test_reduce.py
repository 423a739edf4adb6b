"""Reductions and scans: every memory layout, large sizes, NaN, ties, and the same bits from any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trine

# One side short, one side long, several axes: each reaches another path of the kernels.
SHAPES = [(7,), (3, 4, 5), (2, 1, 7, 3), (130, 70), (5, 300, 4), (40000,), (3, 20000), (20000, 3), (257, 259)]
LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.swapaxes(0, -1),
    "strided": lambda a: a[..., ::2],
    "expanded": lambda a: np.broadcast_to(a[:1], (3, *a.shape[1:])),
    "offset": lambda a: a[1:],
}
NUMPY = {
    "sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min, "all": np.all, "any": np.any,
    "prod": np.prod, "var": lambda a, axis: np.var(a, axis, ddof=1), "std": lambda a, axis: np.std(a, axis, ddof=1),
    "argmax": np.argmax, "argmin": np.argmin, "logsumexp": lambda a, axis: np.log(np.exp(a).sum(axis)),
}  # fmt: skip


def arranged(array: np.ndarray, layout: str):
    """The tensor with the same strides as the NumPy view."""
    view = LAYOUTS[layout](array)
    tensor = trine.from_numpy(array)
    strides = [s // array.itemsize for s in view.strides]
    offset = (view.__array_interface__["data"][0] - array.__array_interface__["data"][0]) // array.itemsize
    return view, trine.as_strided(tensor, view.shape, strides, offset)


@pytest.mark.filterwarnings("ignore:.*egrees of freedom", "ignore:invalid value")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NUMPY)
def test_result_does_not_depend_on_the_memory_layout(name, shape, layout):
    array = np.random.default_rng(1).uniform(0.9, 1.1, shape)
    view, tensor = arranged(array, layout)
    for axis in range(view.ndim):
        expected = NUMPY[name](view, axis=axis)
        ours = getattr(tensor, name)(axis).numpy()
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12, err_msg=f"{name} of {shape} over {axis}")


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (6, 500, 7)], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "var", "logsumexp", "any"])
def test_several_dimensions_at_once(name, shape):
    array = np.random.default_rng(2).standard_normal(shape)
    tensor = trine.from_numpy(array)
    for axes in [(0, 2), (1, 2), (0, -1), tuple(range(len(shape)))]:
        expected = NUMPY[name](array, axis=axes)
        np.testing.assert_allclose(getattr(tensor, name)(axes).numpy(), expected, rtol=1e-9)
        kept = getattr(tensor, name)(axes, keepdim=True)
        assert kept.shape == tuple(1 if d in {a % len(shape) for a in axes} else n for d, n in enumerate(shape))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "norm", "amax", "argmax", "logsumexp", "cumsum"])
@pytest.mark.parametrize("shape", [(300001,), (3, 200001), (200001, 3), (700, 900)], ids=str)
def test_the_number_of_threads_changes_no_bit(name, shape):
    tensor = trine.from_numpy(np.random.default_rng(3).standard_normal(shape).astype(np.float32))
    before = trine.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            trine.set_num_threads(threads)
            dims = [0] if name in ("logsumexp", "cumsum") else [None, 0, len(shape) - 1]
            call = (lambda d: tensor.norm(2, d)) if name == "norm" else (lambda d: getattr(tensor, name)(d))
            results.append([call(d).numpy().tobytes() if d is not None else getattr(tensor, name)().numpy().tobytes() for d in dims])
    finally:
        trine.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_a_long_float_sum_keeps_its_digits():
    values = np.full(3_000_000, 0.1, np.float32)
    exact = math.fsum(float(v) for v in values[:3]) * 1_000_000
    assert abs(trine.from_numpy(values).sum().item() / exact - 1) < 1e-6
    columns = trine.from_numpy(values.reshape(-1, 2)).sum(0)
    assert abs(columns[0].item() * 2 / exact - 1) < 1e-6


def test_a_double_sum_survives_cancellation():
    values = np.array([1e16, 1.0, -1e16, 1.0] * 1000)
    assert trine.from_numpy(values).sum().item() == 2000.0


def test_half_and_bfloat16_are_summed_in_float():
    ones = trine.ones(5000, dtype=trine.bfloat16)
    assert ones.sum().item() == 4992.0  # 5000 rounded to bfloat16; a bfloat16 accumulator would stop at 256
    assert trine.ones(3000, 2, dtype=trine.float16).sum(0).tolist() == [3000.0, 3000.0]


def test_integers_are_summed_in_int64_and_bools_are_counted():
    assert trine.full((1000,), 200, dtype=trine.uint8).sum().item() == 200000
    mask = trine.tensor([True, False, True])
    assert mask.sum().dtype == trine.int64 and mask.sum().item() == 2


def test_nan_wins_over_every_number():
    x = trine.tensor([[1.0, float("nan"), 3.0], [4.0, 5.0, float("inf")]])
    assert math.isnan(x.max().item()) and math.isnan(x.min().item())
    values, indices = x.max(1)
    assert math.isnan(values[0].item()) and indices.tolist() == [1, 2]
    assert x.argmax(0).tolist() == [1, 0, 1]


def test_of_equal_elements_the_first_is_found():
    x = trine.tensor([[2, 7, 7, 1], [5, 5, 5, 5]])
    assert x.argmax(1).tolist() == [1, 0] and x.argmin(1).tolist() == [3, 0]
    assert x.max(1).indices.tolist() == [1, 0]
    assert x.argmax().item() == 1


def test_position_counts_in_logical_order_for_a_transposed_tensor():
    array = np.random.default_rng(4).standard_normal((30, 50))
    assert trine.from_numpy(array).t().argmax().item() == array.T.argmax()


@pytest.mark.parametrize("name", ["amax", "max", "argmax", "min", "median"])
def test_nothing_has_no_largest_element(name):
    with pytest.raises((RuntimeError, IndexError), match="0"):
        getattr(trine.zeros(0, 3), name)(0)


def test_empty_sums_and_products_have_their_identity():
    empty = trine.zeros(0, 3)
    assert empty.sum(0).tolist() == [0.0] * 3 and empty.prod(0).tolist() == [1.0] * 3
    assert empty.half().sum().item() == 0 and math.isnan(empty.mean().item())
    assert empty.any().item() is False and empty.all().item() is True


def test_wrong_dimensions_are_refused():
    x = trine.ones(2, 3)
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.sum(2)
    with pytest.raises(RuntimeError, match="multiple times"):
        x.sum((0, 0))
    with pytest.raises(RuntimeError, match="floating point or complex"):
        trine.ones(3, dtype=trine.int64).mean()


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_the_gradient_of_a_product_is_right_beside_zeros(zeros):
    x = trine.tensor([[2.0, 3.0, -1.0], [0.5, 4.0, 1.5]], dtype=trine.float64)
    x[0, :zeros] = 0
    for function in (lambda t: t.prod(), lambda t: t.prod(1), lambda t: t.cumprod(1)):
        assert trine.autograd.gradcheck(function, (x.clone().requires_grad_(),))


def test_equal_largest_elements_share_the_gradient():
    x = trine.tensor([1.0, 3.0, 3.0], requires_grad=True)
    x.amax().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


def test_logsumexp_neither_overflows_nor_loses_infinities():
    assert trine.tensor([1000.0, 1000.0]).logsumexp(0).item() == pytest.approx(1000 + math.log(2))
    inf = float("inf")
    rows = trine.tensor([[-inf, -inf], [inf, 1.0], [-inf, 2.0]])
    assert rows.logsumexp(1).tolist() == [-inf, inf, 2.0]
