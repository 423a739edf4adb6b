"""Tensor as a Python object: attributes, numbers, containers, copies, pickles, and the small functions around it."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import weakref

import pytest
import trine


# ---- attributes -------------------------------------------------------------------------------------------------------
def test_shape_and_memory_attributes():
    t = trine.zeros(2, 3, dtype=trine.float64)
    assert t.shape == (2, 3) and isinstance(t.shape, trine.Size) and t.shape.numel() == 6
    assert (t.ndim, t.dim(), t.numel(), t.nelement()) == (2, 2, 6, 6)
    assert (t.size(), t.size(-1), t.stride(), t.stride(0)) == ((2, 3), 3, (3, 1), 3)
    assert (t.itemsize, t.element_size(), t.nbytes) == (8, 8, 48)
    assert (t.dtype, t.device, t.layout) == (trine.float64, trine.device("cpu"), trine.strided)
    assert t[1].storage_offset() == 3 and t[1].data_ptr() == t.data_ptr() + 24
    assert t.is_contiguous() and not t.t().is_contiguous()
    assert len(t) == 2 and t.untyped_storage().nbytes() == 48
    with pytest.raises(IndexError, match="Dimension out of range"):
        t.size(5)


def test_sizes_stay_sizes():
    shape = trine.zeros(2, 3).shape
    assert isinstance(shape[:1], trine.Size) and isinstance(shape + (4,), trine.Size)
    assert repr(shape) == "torch.Size([2, 3])"
    assert pickle.loads(pickle.dumps(shape)) == shape


def test_transposes_and_parts():
    t = trine.arange(6).reshape(2, 3)
    assert t.T.shape == (3, 2) and t.mT.shape == (3, 2)
    z = trine.tensor([[1 + 2j, 3 - 4j]])
    assert z.real.tolist() == [[1, 3]] and z.imag.tolist() == [[2, -4]]
    assert z.H.tolist() == [[1 - 2j], [3 + 4j]]
    z.real.zero_()
    assert z.tolist() == [[2j, -4j]]


def test_attributes_of_the_user_live_as_long_as_the_tensor():
    t = trine.ones(2)
    t.note = "mine"
    holder = [t]
    del t
    gc.collect()
    assert holder[0].note == "mine"
    parameter = trine.nn.Parameter(trine.ones(1))
    parameter.note = "kept"
    y = parameter * 2
    del parameter
    gc.collect()
    assert y.grad_fn.next_functions[0][0].variable.note == "kept"


def test_tensors_can_be_weakly_referenced_and_are_freed():
    t = trine.ones(2)
    dead = weakref.ref(t)
    del t
    gc.collect()
    assert dead() is None


def test_a_cycle_through_an_attribute_is_collected():
    t = trine.ones(2)
    t.me = t
    dead = weakref.ref(t)
    del t
    gc.collect()
    assert dead() is None


def test_hash_is_identity_and_equality_is_elementwise():
    a, b = trine.ones(2), trine.ones(2)
    assert len({a, b, a}) == 2
    assert (a == b).tolist() == [True, True]
    assert (a != b).tolist() == [False, False]
    assert a is not b and {a: 1}[a] == 1


# ---- numbers ----------------------------------------------------------------------------------------------------------
def test_a_tensor_of_one_element_is_a_number():
    assert int(trine.tensor([3.7])) == 3 and float(trine.tensor(2)) == 2.0
    assert complex(trine.tensor(1 + 2j)) == 1 + 2j
    assert bool(trine.tensor([[1]])) and not trine.tensor(0.0)
    assert [10, 20, 30][trine.tensor(1)] == 20
    assert trine.tensor(2.5).item() == 2.5 and isinstance(trine.tensor(2).item(), int)
    assert math.sqrt(trine.tensor(16.0)) == 4.0


def test_other_tensors_are_not():
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(trine.ones(2))
    with pytest.raises(RuntimeError):
        bool(trine.ones(0))
    with pytest.raises(RuntimeError, match="2 elements"):
        trine.ones(2).item()
    with pytest.raises(TypeError, match=r"[Oo]nly integer tensors"):
        [1, 2][trine.tensor(1.0)]


def test_numbers_on_either_side_of_an_operator():
    t = trine.tensor([1.0, 2.0])
    assert (t + 1).tolist() == (1 + t).tolist() == [2, 3]
    assert (3 - t).tolist() == [2, 1] and (2 / t).tolist() == [2, 1] and (2**t).tolist() == [2, 4]
    assert (5 // t).tolist() == [5, 2] and (5 % t).tolist() == [0, 1]
    assert (-t).tolist() == [-1, -2] and abs(-t).tolist() == [1, 2] and (+t).tolist() == [1, 2]
    i = trine.tensor([5, 6])
    assert (i & 3).tolist() == [1, 2] and (i | 1).tolist() == [5, 7] and (i ^ 1).tolist() == [4, 7]
    assert (~i).tolist() == [-6, -7] and (i << 1).tolist() == [10, 12] and (i >> 1).tolist() == [2, 3]
    assert (t > 1).tolist() == [False, True]
    assert (trine.eye(2) @ t).tolist() == [1, 2]


def test_python_numbers_do_not_widen_a_tensor():
    assert (trine.ones(1) * 2.5).dtype == trine.float32
    assert (trine.ones(1, dtype=trine.int32) + 1).dtype == trine.int32
    assert (trine.ones(1, dtype=trine.int32) * 0.5).dtype == trine.float32
    assert (trine.ones(1, dtype=trine.float16) + trine.tensor(1.0)).dtype == trine.float16


def test_in_place_operators_keep_the_object():
    t = trine.ones(2)
    same = t
    t += 1
    t *= 3
    t -= 1
    t /= 5
    assert t is same and t.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="can't be cast"):
        trine.ones(1, dtype=trine.int64).add_(0.5)


# ---- containers -------------------------------------------------------------------------------------------------------
def test_iteration_unpacking_and_membership():
    t = trine.arange(6).reshape(3, 2)
    assert [row.tolist() for row in t] == [[0, 1], [2, 3], [4, 5]]
    _, b, _ = t
    assert b.tolist() == [2, 3]
    assert 3 in t and 9 not in t
    assert [r.tolist() for r in reversed(t)] == [[4, 5], [2, 3], [0, 1]]
    assert list(trine.empty(0)) == []
    with pytest.raises(TypeError, match="0-d"):
        iter(trine.tensor(1))
    with pytest.raises(TypeError, match="0-d"):
        len(trine.tensor(1))
    with pytest.raises(RuntimeError, match="__contains__"):
        "a" in t  # noqa: B015


def test_tolist_nests_as_the_shape_says():
    assert trine.zeros(2, 0).tolist() == [[], []]
    assert trine.tensor(7).tolist() == 7
    assert trine.tensor([[True], [False]]).tolist() == [[True], [False]]
    assert trine.tensor([1.5], dtype=trine.bfloat16).tolist() == [1.5]


# ---- making tensors ---------------------------------------------------------------------------------------------------
def test_tensor_infers_the_dtype():
    assert trine.tensor([1, 2]).dtype == trine.int64
    assert trine.tensor([1, 2.0]).dtype == trine.float32
    assert trine.tensor([True]).dtype == trine.bool
    assert trine.tensor([1j]).dtype == trine.complex64
    assert trine.tensor([]).dtype == trine.float32
    assert trine.tensor([[1, 2], [3, 4]], dtype=trine.float16).dtype == trine.float16
    assert trine.tensor([trine.tensor(1), trine.tensor(2)]).tolist() == [1, 2]
    assert trine.tensor(range(3)).tolist() == [0, 1, 2]


def test_ragged_and_foreign_data_are_refused():
    with pytest.raises(ValueError, match="expected sequence of length 2 at dim 1"):
        trine.tensor([[1, 2], [3]])
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        trine.tensor(["a"])
    with pytest.raises(ValueError, match="Overflow"):
        trine.tensor([2**70])
    assert trine.tensor([2**70], dtype=trine.float64).item() == 2.0**70
    with pytest.raises(RuntimeError, match="Could not infer dtype of NoneType"):
        trine.tensor([None])


def test_tensor_copies_and_as_tensor_shares():
    t = trine.ones(2)
    assert trine.as_tensor(t) is t
    assert trine.tensor(t.tolist()).data_ptr() != t.data_ptr()
    assert trine.as_tensor(t, dtype=trine.float64).dtype == trine.float64


def test_default_dtype():
    trine.set_default_dtype(trine.float64)
    try:
        assert trine.tensor([1.0]).dtype == trine.ones(1).dtype == trine.float64
        assert trine.get_default_dtype() == trine.float64
    finally:
        trine.set_default_dtype(trine.float32)
    with pytest.raises(TypeError):
        trine.set_default_dtype(trine.int64)


def test_old_constructors():
    assert trine.Tensor(2, 3).shape == (2, 3)
    assert trine.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert trine.LongTensor([1, 2]).dtype == trine.int64
    assert trine.FloatTensor(2).shape == (2,)
    assert isinstance(trine.ones(1), trine.FloatTensor) and not isinstance(trine.ones(1), trine.LongTensor)
    assert trine.ones(1).type() == "torch.FloatTensor"
    assert trine.ones(1).type(trine.float64).dtype == trine.ones(1).type("torch.DoubleTensor").dtype == trine.float64


def test_casts_by_name():
    t = trine.tensor([1.7, 0.0])
    assert t.float() is t
    names = ["double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool", "cfloat", "cdouble"]
    assert [str(getattr(t, n)().dtype).split(".")[-1] for n in names] == [
        "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128",
    ]  # fmt: skip
    assert t.int().tolist() == [1, 0] and t.bool().tolist() == [True, False]
    assert t.type_as(trine.ones(1, dtype=trine.int64)).dtype == trine.int64
    assert t.cpu() is t


def test_new_tensors_take_dtype_and_device_from_this_one():
    t = trine.zeros(2, dtype=trine.int16)
    assert t.new_tensor([1, 2]).dtype == t.new_zeros(3).dtype == t.new_ones(1).dtype == trine.int16
    assert t.new_full((2,), 7).tolist() == [7, 7] and t.new_empty(2, 3).shape == (2, 3)
    assert t.new_zeros(2, dtype=trine.float32).dtype == trine.float32


# ---- copies and pickles -----------------------------------------------------------------------------------------------
def test_deepcopy_copies_memory_gradient_and_attributes():
    t = trine.ones(2, requires_grad=True)
    (t * 2).sum().backward()
    t.note = ["a"]
    c = copy.deepcopy(t)
    assert c.requires_grad and c.grad.tolist() == [2, 2] and c.grad is not t.grad
    assert c.note == ["a"] and c.note is not t.note and c.data_ptr() != t.data_ptr()


def test_deepcopy_keeps_shared_memory_shared():
    base = trine.zeros(4)
    pair = copy.deepcopy([base, base[2:], base])
    pair[0][3] = 5
    assert pair[1].tolist() == [0, 5] and pair[2] is pair[0] and base.tolist() == [0, 0, 0, 0]


def test_deepcopy_of_a_computed_tensor_is_refused():
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(trine.ones(1, requires_grad=True) * 2)


def test_deepcopy_of_a_parameter_is_a_parameter():
    p = copy.deepcopy(trine.nn.Parameter(trine.ones(2)))
    assert type(p) is trine.nn.Parameter and p.requires_grad


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_values_geometry_and_kind(protocol):
    t = trine.arange(12.0).reshape(3, 4).t()
    back = pickle.loads(pickle.dumps(t, protocol))
    assert back.tolist() == t.tolist() and back.stride() == t.stride()
    leaf = trine.ones(2, requires_grad=True)
    leaf.note = 1
    computed = pickle.loads(pickle.dumps(leaf * 2, protocol))
    assert computed.requires_grad and computed.is_leaf and trine.equal(computed, leaf * 2)
    back = pickle.loads(pickle.dumps(leaf, protocol))
    assert back.requires_grad and back.note == 1
    for special in (trine.empty(0, 3), trine.tensor(True), trine.tensor([1j]), trine.empty(2, device="meta")):
        back = pickle.loads(pickle.dumps(special, protocol))
        assert (back.shape, back.dtype, back.device) == (special.shape, special.dtype, special.device)


def test_pickle_of_a_view_keeps_its_part_of_the_storage_only():
    row = trine.zeros(1000, 1000)[3]
    assert len(pickle.dumps(row)) < 10_000
    assert pickle.loads(pickle.dumps(row)).shape == (1000,)


@pytest.mark.parametrize("name", ["float32", "bool", "complex128", "contiguous_format", "channels_last", "strided"])
def test_constants_pickle_to_themselves(name):
    value = getattr(trine, name)
    assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value


def test_devices_compare_print_and_pickle():
    d = trine.device("cpu")
    assert d == trine.device("cpu") and d.type == "cpu" and d.index is None and str(d) == "cpu"
    assert repr(trine.device("cuda:1")) == "device(type='cuda', index=1)" and trine.device("cuda", 1).index == 1
    assert pickle.loads(pickle.dumps(d)) == d and len({d, trine.device("cpu")}) == 1
    with pytest.raises(RuntimeError, match="toaster"):
        trine.device("toaster")


def test_shared_memory_reaches_a_forked_process():
    import os

    t = trine.zeros(3)
    assert not t.is_shared()
    assert t.share_memory_() is t and t.is_shared()
    child = os.fork()
    if child == 0:
        t[1] = 5.0
        os._exit(0)
    os.waitpid(child, 0)
    assert t.tolist() == [0.0, 5.0, 0.0]


# ---- functions --------------------------------------------------------------------------------------------------------
def test_limits_of_number_types():
    f = trine.finfo(trine.float16)
    assert (f.bits, f.max, f.min, f.eps, f.tiny, f.resolution) == (16, 65504, -65504, 2**-10, 2**-14, 1e-3)
    assert trine.finfo(trine.bfloat16).max == 3.3895313892515355e38
    assert trine.finfo().dtype == "float32" and trine.finfo(trine.complex128).bits == 64
    i = trine.iinfo(trine.int16)
    assert (i.bits, i.min, i.max) == (16, -(2**15), 2**15 - 1) and trine.iinfo(trine.uint8).max == 255
    for question, dtype in ((trine.finfo, trine.int8), (trine.iinfo, trine.float32), (trine.iinfo, trine.bool)):
        with pytest.raises(TypeError):
            question(dtype)


def test_type_promotion_functions():
    assert trine.promote_types(trine.int32, trine.float16) == trine.float16
    assert trine.promote_types(trine.uint8, trine.int8) == trine.int16
    assert trine.promote_types(trine.float16, trine.bfloat16) == trine.float32
    assert trine.result_type(trine.ones(1, dtype=trine.int32), 1.5) == trine.float32
    assert trine.result_type(trine.tensor(1.0), trine.ones(1, dtype=trine.float16)) == trine.float16
    assert trine.can_cast(trine.int64, trine.float32) and not trine.can_cast(trine.float32, trine.int64)


def test_predicates():
    assert trine.is_tensor(trine.ones(1)) and not trine.is_tensor([1])
    assert trine.is_floating_point(trine.ones(1)) and trine.is_complex(trine.tensor(1j))
    assert trine.numel(trine.ones(2, 3)) == 6 and trine.is_nonzero(trine.tensor([2]))
    assert trine.is_storage(trine.ones(1).untyped_storage())
    assert trine.typename(trine.ones(1)) == "torch.FloatTensor"


def test_shape_functions():
    assert trine.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    with pytest.raises(RuntimeError):
        trine.broadcast_shapes((2,), (3,))
    a, b = trine.broadcast_tensors(trine.ones(3, 1), trine.ones(2))
    assert a.shape == b.shape == (3, 2)
    x, y = trine.meshgrid(trine.arange(2), trine.arange(3), indexing="xy")
    assert x.tolist() == [[0, 1], [0, 1], [0, 1]] and y.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert trine.atleast_1d(trine.tensor(1)).shape == (1,) and trine.atleast_3d(trine.ones(4)).shape == (1, 4, 1)
    assert [t.shape for t in trine.atleast_2d(trine.tensor(1), trine.ones(3))] == [(1, 1), (1, 3)]
    assert trine.cartesian_prod(trine.arange(2), trine.arange(2)).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert trine.block_diag(trine.ones(1, 2), trine.ones(1)).tolist() == [[1, 1, 0], [0, 0, 1]]
    assert [t.tolist() for t in trine.split(trine.arange(5), [1, 4])] == [[0], [1, 2, 3, 4]]
    assert [len(t) for t in trine.arange(5).split(2)] == [2, 2, 1]


def test_einsum_and_tensordot_forms():
    a, b = trine.arange(6.0).reshape(2, 3), trine.arange(12.0).reshape(3, 4)
    product = (a @ b).tolist()
    assert trine.einsum("ij,jk->ik", a, b).tolist() == product
    assert trine.einsum("ij,jk", [a, b]).tolist() == product
    assert trine.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == product
    assert trine.einsum("ii", trine.eye(3)).item() == 3
    assert trine.einsum("...i->...", a).tolist() == [3, 12]
    assert trine.tensordot(a, b, 1).tolist() == product
    assert trine.tensordot(a, b, dims=([1], [0])).tolist() == product
    with pytest.raises(RuntimeError):
        trine.einsum("ij,jk->ik", a, a)


def test_element_by_element_in_python():
    t = trine.tensor([1.0, 2.0])
    assert t.apply_(lambda v: v * 10) is t and t.tolist() == [10, 20]
    assert t.map_(trine.tensor([1.0, 2.0]), lambda a, b: a + b).tolist() == [11, 22]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = trine.nothing_like_this
    with pytest.raises(AttributeError):
        _ = trine.ones(1).nothing_like_this


def test_second_names_of_operators():
    t = trine.tensor([-1.0, 2.0])
    assert trine.absolute(t).tolist() == t.absolute().tolist() == [1, 2]
    assert trine.multiply(t, 2).tolist() == t.multiply(2).tolist() == [-2, 4]
    assert t.clip(0, 1).tolist() == [0, 1] and trine.clip(t, min=0).tolist() == [0, 2]
    assert t.clone().clip_(0, 1).tolist() == [0, 1] and t.clone().subtract_(1).tolist() == [-2, 1]
    assert t.greater(0).tolist() == [False, True] and trine.swapaxes(trine.ones(2, 3), 0, 1).shape == (3, 2)


def test_closeness():
    a = trine.tensor([1.0, float("inf"), float("nan")])
    assert trine.isclose(a, a).tolist() == [True, True, False]
    assert trine.isclose(a, a, equal_nan=True).all() and trine.allclose(a[:2], a[:2] * (1 + 1e-7))
    assert not trine.allclose(trine.tensor([1.0]), trine.tensor([1.1])) and trine.tensor([10]).allclose(trine.tensor([11]), rtol=0.1)
    assert trine.equal(trine.ones(2), trine.ones(2)) and not trine.equal(trine.ones(2), trine.ones(1, 2)) and not a.equal(a)
    with pytest.raises(RuntimeError):
        trine.isclose(trine.ones(1), trine.ones(1, dtype=trine.float64))


def test_shapes_change_in_place():
    t = trine.arange(6).reshape(1, 2, 3)
    assert t.squeeze_(0) is t and t.shape == (2, 3)
    assert t.t_().shape == (3, 2) and t.unsqueeze_(-1).shape == (3, 2, 1) and t.transpose_(0, 1).shape == (2, 3, 1)
    assert t.flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert trine.ones(2).where(trine.tensor([True, False]), 0).tolist() == [1, 0]


def test_named_results_print_one_a_line():
    result = trine.max(trine.arange(6).reshape(2, 3), dim=1)
    assert repr(result) == "torch.return_types.max(\nvalues=tensor([2, 5]),\nindices=tensor([2, 2]))"
    values, indices = result
    assert result.values is values and result.indices is indices


@pytest.mark.parametrize(
    "divide", [lambda a, b: a // b, lambda a, b: a % b, trine.fmod, lambda a, b: trine.div(a, b, rounding_mode="trunc")]
)
def test_integer_division_by_zero_is_an_error_and_writes_nothing(divide):
    zero = trine.tensor([1, 0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(trine.tensor([2, 3]), zero)
    assert divide(trine.empty(0, dtype=trine.int64), trine.tensor([0])).shape == (0,)
    assert not trine.isfinite(divide(trine.tensor([3.0]), trine.tensor([0.0]))).any()
    kept = trine.tensor([2, 3])
    with pytest.raises(RuntimeError, match="floor_divide"):
        kept.floor_divide_(zero)
    assert kept.tolist() == [2, 3]


def test_views_of_more_than_64_dimensions():
    t = trine.empty([1] * 69 + [2])
    assert t.permute(*reversed(range(70))).shape[0] == 2
    assert t.movedim(69, 0).shape[0] == 2
    assert t.squeeze(68).dim() == 69
    with pytest.raises(RuntimeError, match="duplicate"):
        t.permute(*[0] * 70)


def test_any_nonzero_byte_is_true():
    t = trine.tensor([255, 0, 2], dtype=trine.uint8).view(trine.bool)
    assert t.tolist() == [True, False, True]
    assert t[0].item() is True and bool(t[2]) is True
