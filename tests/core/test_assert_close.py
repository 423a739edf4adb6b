"""`assert_close` accepts rounding, refuses differences, and says where they are; `make_tensor` keeps its range."""

from __future__ import annotations

import numpy as np
import pytest
import trine

assert_close = trine.testing.assert_close
t = trine.tensor


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (t([1.0]), t([1.0 + 1e-7])),
        (t([1.0], dtype=trine.bfloat16), t([1.01], dtype=trine.bfloat16)),
        (t([float("inf")]), t([float("inf")])),
        (t([]), t([])),
        (1.0, 1.0 + 1e-8),
        ([t(1), {"a": 2.0}], [t(1), {"a": 2.0}]),
        (np.ones(2), np.ones(2)),
        (None, None),
    ],
)
def test_equal_within_rounding(actual, expected):
    assert_close(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (
            t([1.0, 2, 3]),
            t([1.0, 2, 4]),
            r"elements: 1 / 3 \(33.3%\)\nGreatest absolute difference: 1.0 at index \(2,\) \(up to 1e-05",
        ),
        (t([[1, 2], [3, 4]]), t([[1, 2], [3, 5]]), r"Tensor-likes are not equal!(.|\n)*at index \(1, 1\)"),
        (t([1.0]), t([1.0], dtype=trine.float64), "The values for attribute 'dtype' do not match"),
        (t([1.0, 2.0]), t([[1.0, 2.0]]), "The values for attribute 'shape' do not match"),
        (t(1.0), t(2.0), "Scalars are not close!\n\nExpected 2.0 but got 1.0."),
        (1, 1.0, r"The \(d\)types do not match"),
        (t(float("nan")), t(float("nan")), "Scalars are not close"),
        (t([1.0, float("inf")]), t([1.0, 2.0]), "Mismatched elements: 1 / 2"),
        ([1], [1, 2], "The length of the sequences mismatch: 1 != 2"),
        ({"a": 1}, {"b": 1}, "The keys of the mappings do not match"),
        ({"a": [1, 2]}, {"a": [1, 3]}, r"The failure occurred for item \['a'\]\[1\]"),
        (None, 1, "None mismatch"),
        (t([2**60]), t([2**60 + 1]), "Tensor-likes are not equal"),
    ],
)
def test_differences_are_told(actual, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected)


def test_options():
    assert_close(t([1.0]), t([1.1]), rtol=0.2, atol=0)
    assert_close(t([float("nan")]), t([float("nan")]), equal_nan=True)
    assert_close(t([1.0]), t([1.0], dtype=trine.float64), check_dtype=False)
    with pytest.raises(AssertionError, match="stride"):
        assert_close(trine.ones(2, 2), trine.ones(2, 2).t(), check_stride=True)
    with pytest.raises(ValueError, match="rtol"):
        assert_close(t(1.0), t(1.0), rtol=0.1)
    with pytest.raises(TypeError):
        assert_close("a", "a")
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(t(1), t(2), msg="mine")
    with pytest.raises(AssertionError, match=r"(?s)before.*Scalars"):
        assert_close(t(1), t(2), msg=lambda text: f"before {text}")


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"])
def test_make_tensor_keeps_its_range(name):
    dtype = getattr(trine, name)
    made = trine.testing.make_tensor((20, 30), dtype=dtype)
    assert made.shape == (20, 30) and made.dtype == dtype
    if not dtype.is_complex:
        limits = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
        values = np.array(made.double().tolist())
        assert values.min() >= limits[0] and values.max() <= limits[1] and len(np.unique(values)) > 1


def test_make_tensor_options():
    make = trine.testing.make_tensor
    assert make(2, 3, dtype=trine.float32, requires_grad=True).requires_grad
    assert not make(3, 4, dtype=trine.float32, noncontiguous=True).is_contiguous()
    assert not (make(1000, dtype=trine.int8, low=-1, high=2, exclude_zero=True) == 0).any()
    small = make(1000, dtype=trine.float64, low=2, high=3)
    assert small.min() >= 2 and small.max() < 3
    with pytest.raises(ValueError, match="low"):
        make(2, dtype=trine.float32, low=1, high=1)
