"""Views of conjugates and negatives: what they share, what writes through them do, what refuses them, their gradients and files."""

import copy
import io
import pickle

import numpy as np
import pytest
import trine
from trine.autograd import gradcheck

VALUES = np.array([[1 + 2j, 3 - 4j], [5 + 6j, -7 + 8j]], np.complex64)


@pytest.fixture
def x():
    return trine.tensor(VALUES.tolist())


@pytest.fixture
def r():
    return trine.tensor([[1.0, 2.0], [3.0, 4.0]])


def values(t):
    return t.detach().resolve_conj().resolve_neg().numpy()


def test_conj_shares_memory_and_conj_twice_is_plain(x):
    view = x.conj()
    assert view.is_conj() and not view.is_neg() and view.data_ptr() == x.data_ptr()
    assert np.array_equal(values(view), VALUES.conj())
    assert not view.conj().is_conj() and np.array_equal(values(view.conj()), VALUES)
    assert trine.is_conj(view) and trine.resolve_conj(x) is x and not trine.resolve_conj(view).is_conj()


def test_conj_of_real_tensors_is_the_tensor(r):
    assert r.conj() is r and trine.conj(r) is r and not r.conj().is_conj()


def test_parts_of_a_conjugate(x):
    view = x.conj()
    assert view.imag.is_neg() and view.imag.data_ptr() == x.imag.data_ptr() and not view.real.is_neg()
    assert np.array_equal(values(view.imag), -VALUES.imag) and np.array_equal(values(view.real), VALUES.real)
    assert trine.is_neg(view.imag) and not trine.resolve_neg(view.imag).is_neg()
    negative = x._neg_view()
    assert negative.is_neg() and np.array_equal(values(negative), -VALUES)
    assert negative.imag.is_neg() and np.array_equal(values(negative.imag), -VALUES.imag)
    assert np.array_equal(values(x.conj()._neg_view()), -VALUES.conj())
    assert not negative._neg_view().is_neg()


@pytest.mark.parametrize(
    "form",
    ["T", "mT", "t()", "[0]", "view(4)", "reshape(4)", "detach()", "data", "contiguous()", "expand(2, 2, 2)", "unbind()[1]", "split(1)[0]",
     "diagonal()", "flatten()", "permute(1, 0)", "as_strided((2,), (1,))", "to(trine.complex64)", "cpu()", "squeeze()", "unfold(0, 1, 1)"],
)  # fmt: skip
def test_views_of_a_conjugate_are_conjugates(form, x):
    dot = "" if form.startswith("[") else "."
    view, plain = eval(f"x.conj(){dot}{form}"), eval(f"x{dot}{form}")
    assert view.is_conj() and view.data_ptr() == plain.data_ptr() and np.array_equal(values(view), values(plain).conj())


@pytest.mark.parametrize(
    "form", ["clone()", "t().contiguous()", "to(trine.complex128)", "resolve_conj()", "conj_physical()", "repeat(1, 2)", "flip(0)", "abs()"]
)
def test_copies_of_a_conjugate_are_plain(form, x):
    ours, expected = eval(f"x.conj().{form}"), eval(f"trine.tensor(VALUES.conj().tolist()).{form}")
    assert not ours.is_conj() and np.array_equal(values(ours), values(expected)) and ours.stride() == expected.stride()
    assert not trine.empty_like(x.conj()).is_conj() and not trine.zeros_like(x.conj()).is_conj()


def test_adjoints_are_views(x, r):
    for view in (x.mH, x.H, x.adjoint(), trine.adjoint(x)):
        assert view.is_conj() and view.data_ptr() == x.data_ptr() and np.array_equal(values(view), VALUES.conj().T)
    assert not r.mH.is_conj() and r.mH.data_ptr() == r.data_ptr()
    assert trine.tensor(1j).mH.is_conj()
    for wrong in (lambda: x[0].mH, lambda: x[0].H, lambda: trine.adjoint(x[0]), lambda: trine.zeros(2, 3, 4).H):
        with pytest.raises(RuntimeError, match="only supported on matrices"):
            wrong()


WRITES = {
    "fill_": lambda v: v.fill_(1 + 1j),
    "add_": lambda v: v.add_(1j),
    "mul_ of a part": lambda v: v[0].mul_(2j),
    "set an item": lambda v: v.__setitem__(0, 1j),
    "copy_": lambda v: v.copy_(trine.tensor([[1j, 2.0], [3.0, 4j]])),
    "copy_ of a conjugate": lambda v: v.copy_(trine.tensor([[1j, 2.0], [3.0, 4j]]).conj()),
    "neg_": lambda v: v.neg_(),
    "exp_": lambda v: v.exp_(),
    "conj_physical_": lambda v: v.conj_physical_(),
    "masked_fill_": lambda v: v.masked_fill_(trine.tensor([[True, False], [False, True]]), 1j),
    "index_put_": lambda v: v.index_put_((trine.tensor([0]),), trine.tensor(1j)),
    "index_add_": lambda v: v.index_add_(0, trine.tensor([0]), trine.tensor([[1j, 2.0]])),
    "imag.fill_": lambda v: v.imag.fill_(9.0),
    "imag.add_": lambda v: v.imag.add_(1.0),
    "real.mul_": lambda v: v.real.mul_(2.0),
    "imag =": lambda v: setattr(v, "imag", trine.ones(2, 2)),
    "out=": lambda v: trine.add(trine.ones(2, 2), 1j, out=v),
    "list": lambda v: trine._C.ops["_foreach_mul_"]([v], trine.tensor(2j)),
    "mul_ by itself": lambda v: v.mul_(v),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("lazy", ["conj", "_neg_view"])
def test_writes_through_a_view_reach_its_base(name, lazy):
    base = trine.tensor(VALUES.tolist())
    view, expected = getattr(base, lazy)(), getattr(base, lazy)().clone()
    WRITES[name](view)
    WRITES[name](expected)
    assert (view.is_conj() or view.is_neg()) and trine.equal(view, expected)
    assert np.array_equal(values(base), values(expected).conj() if lazy == "conj" else -values(expected))
    assert base._version == 1


def test_operators_on_a_tensor_and_its_own_conjugate(x):
    assert np.array_equal(values(x.conj().mul_(x)), VALUES * VALUES.conj())
    y = trine.tensor(VALUES.tolist())
    assert np.array_equal(values(y.mul_(y.conj())), VALUES * VALUES.conj())
    z = trine.tensor(VALUES.tolist())
    assert np.array_equal(values(z.copy_(z.conj())), VALUES.conj())


def test_geometry_in_place_keeps_the_view_lazy(x):
    for change in (lambda v: v.t_(), lambda v: v.unsqueeze_(0), lambda v: v.squeeze_(), lambda v: v.resize_(2)):
        view = x.conj()
        change(view)
        assert view.is_conj() and np.array_equal(values(x), VALUES)
    out = x.conj()
    trine.add(trine.ones(3), 1j, out=out)
    assert out.shape == (3,) and np.array_equal(values(out), np.full(3, 1 + 1j))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.conj().numpy(), RuntimeError, "conjugate bit"),
        (lambda x: x.conj().imag.numpy(), RuntimeError, "negative bit"),
        (lambda x: np.asarray(x.conj()), RuntimeError, "conjugate bit"),
        (lambda x: memoryview(x.conj()), BufferError, "conjugate bit"),
        (lambda x: x.conj().__dlpack__(), BufferError, "conjugate bit"),
        (lambda x: x._neg_view().__dlpack__(), BufferError, "negative bit"),
        (lambda x: trine.view_as_real(x.conj()), RuntimeError, "unresolved conjugated"),
        (lambda x: x.conj().view(trine.float32), RuntimeError, "conjugate view tensors"),
        (lambda x: x.conj().imag.view(trine.int32), RuntimeError, "negative bit"),
        (lambda x: trine.tensor([True])._neg_view(), NotImplementedError, "Bool"),
        (lambda x: x.real.imag, RuntimeError, "non-complex"),
    ],
)
def test_what_sees_memory_refuses_lazy_views(call, error, message, x):
    with pytest.raises(error, match=message):
        call(x)


def test_values_leave_a_lazy_view_as_they_are_shown(x):
    view = x.conj()
    assert view.tolist() == VALUES.conj().tolist() and view.imag.tolist() == (-VALUES.imag).tolist()
    assert view[0, 1].item() == 3 + 4j and view.imag[0, 1].item() == 4.0 and complex(view[0, 0]) == 1 - 2j
    assert np.array_equal(view.numpy(force=True), VALUES.conj())
    assert repr(view) == repr(view.resolve_conj()) and str(view.imag) == str(view.imag.clone())
    assert trine.equal(view, x.conj_physical()) and not trine.equal(view, x)
    assert trine.tensor([view[0, 0], 1.0]).tolist() == [1 - 2j, 1.0]
    assert trine.tensor([1, 2])._neg_view().tolist() == [-1, -2]


def test_parts_viewed_of_negatives(x, r):
    assert np.array_equal(values(trine.view_as_real(x._neg_view()))[..., 1], -VALUES.imag)
    assert values(trine.view_as_complex(r._neg_view())).tolist() == [-1 - 2j, -3 - 4j]


@pytest.mark.parametrize(
    "form",
    [lambda t: t.conj(), lambda t: t.conj().imag, lambda t: t._neg_view(), lambda t: t.mH @ t, lambda t: t.conj().resolve_conj() * 1j],
)
def test_gradients_through_lazy_views(form):
    signal = trine.randn(3, 3, dtype=trine.complex128, requires_grad=True)
    assert gradcheck(form, signal, check_forward_ad=True)


def mul_conj(y):
    y.conj().mul_(2j)
    return y


def mul_imag(y):
    y.conj().imag.mul_(2.0)
    return y


def mul_real(y):
    y.real.mul_(3.0)
    return y


def mul_pairs(y):
    trine.view_as_real(y)[0].mul_(3.0)
    return y


def mul_negative(y):
    v = y._neg_view()
    v[1].mul_(3.0)
    return y + v


def view_of_view(y):
    v = y.conj()
    z = y.real
    v[0].mul_(2j)
    return v * (1 + 1j) + z


def base_changed(y):
    v = y.conj()
    w = v[1]
    y.mul_(3j)
    return w * 1j + v[0]


def copied_into(y):
    z = trine.zeros_like(y)
    z.conj().copy_(y * 2j)
    return z * (1 + 1j)


@pytest.mark.parametrize("change", [mul_conj, mul_imag, mul_real, mul_pairs, mul_negative, view_of_view, base_changed, copied_into])
def test_gradients_of_writes_through_lazy_views(change):
    signal = trine.randn(2, 2, dtype=trine.complex128, requires_grad=True)
    assert gradcheck(lambda t: change(t * 1), signal)


def test_names_in_the_graph(x):
    x.requires_grad_()
    names = [t.grad_fn.name() for t in (x.conj(), x._neg_view(), x.conj_physical(), x.mH)]
    assert names == ["ConjBackward0", "NegViewBackward0", "ConjPhysicalBackward0", "ConjBackward0"]


def test_files_and_pickles_keep_lazy_views(x, r):
    file = io.BytesIO()
    trine.save([x, x.conj(), x.conj().imag, r._neg_view()], file)
    file.seek(0)
    plain, conj, imag, negative = trine.load(file)
    assert not plain.is_conj() and conj.is_conj() and imag.is_neg() and negative.is_neg()
    assert np.array_equal(values(conj), VALUES.conj()) and np.array_equal(values(imag), -VALUES.imag)
    plain.zero_()
    assert not values(conj).any() and not values(imag).any()
    again = pickle.loads(pickle.dumps(x.conj()))
    assert again.is_conj() and np.array_equal(values(again), VALUES.conj())
    deep = copy.deepcopy(x.conj())
    assert not deep.is_conj() and np.array_equal(values(deep), VALUES.conj())


def test_parameters_and_data_keep_the_bit(x):
    assert trine.nn.Parameter(x.conj()).is_conj()
    x.data = x.conj()
    assert x.is_conj() and np.array_equal(values(x), VALUES.conj())
