"""Gradients: what the recorded graph gives, keeps, shares and refuses."""

from __future__ import annotations

import threading

import pytest
import trine

grad = trine.autograd.grad


def leaf(*values: float):
    return trine.tensor(values, requires_grad=True)


# ---- backward and grad ------------------------------------------------------------------------------------------------
def test_gradients_accumulate_over_backward_passes():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_a_tensor_used_twice_gets_both_gradients():
    x = leaf(2.0)
    y = x * x
    (y * y + y).sum().backward()
    assert x.grad.tolist() == [4 * 8.0 + 4.0]


def test_gradient_of_a_vector_needs_a_direction():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    (x * 2).backward(trine.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0]


def test_gradient_of_another_shape_is_refused_with_both_shapes():
    with pytest.raises(RuntimeError, match=r"Mismatch in shape.*\[3\].*\[2\]"):
        (leaf(1.0, 2.0) * 2).backward(trine.ones(3))


def test_a_tensor_without_history_cannot_go_backward():
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        trine.ones(()).backward()


def test_a_freed_graph_says_so():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_retain_graph_allows_a_second_pass():
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]


def test_grad_returns_gradients_and_leaves_dot_grad_alone():
    x, w = leaf(2.0), leaf(5.0)
    gx, gw = grad((x * w).sum(), (x, w))
    assert (gx.tolist(), gw.tolist(), x.grad, w.grad) == ([5.0], [2.0], None, None)


def test_grad_of_an_unused_input():
    x, z = leaf(1.0), leaf(1.0)
    y = (x * 2).sum()
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        grad(y, (x, z), retain_graph=True)
    assert grad(y, (x, z), allow_unused=True, retain_graph=True)[1] is None
    assert grad(y, (x, z), materialize_grads=True)[1].tolist() == [0.0]


def test_grad_of_an_intermediate_tensor():
    x = leaf(3.0)
    y = x * x
    assert grad((y * y).sum(), y)[0].tolist() == [18.0]


def test_second_derivative():
    x = leaf(2.0)
    (first,) = grad((x**3).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    assert (first.tolist(), second.tolist()) == ([12.0], [12.0])


def test_backward_with_inputs_fills_only_these():
    x, w = leaf(2.0), leaf(5.0)
    (x * w).sum().backward(inputs=[x])
    assert x.grad.tolist() == [5.0] and w.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * w).sum().backward(inputs=[])


def test_gradient_has_the_dtype_and_shape_of_its_tensor():
    x = trine.ones(3, 1, dtype=trine.float64, requires_grad=True)
    y = trine.ones(4, requires_grad=True)
    (x * y).sum().backward()
    assert (x.grad.dtype, tuple(x.grad.shape)) == (trine.float64, (3, 1))
    assert (y.grad.dtype, tuple(y.grad.shape)) == (trine.float32, (4,))


def test_complex_gradient_follows_the_conjugate_convention():
    z = trine.tensor([1 + 2j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]


# ---- leaves, retained gradients, modes --------------------------------------------------------------------------------
def test_leaf_and_retained_gradients():
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.grad_fn is not None and x.grad_fn is None
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0] and y.retains_grad


def test_integers_cannot_require_gradients():
    with pytest.raises(RuntimeError, match="floating point"):
        trine.ones(1, dtype=trine.int64).requires_grad_()


def test_a_computed_tensor_cannot_stop_requiring_gradients():
    with pytest.raises(RuntimeError, match="leaf"):
        (leaf(1.0) * 2).requires_grad = False


def test_detach_shares_memory_and_cuts_the_graph():
    x = leaf(1.0, 2.0)
    d = x.detach()
    d[0] = 5.0
    assert not d.requires_grad and x.tolist() == [5.0, 2.0]


def test_no_grad_enable_grad_and_set_grad_enabled():
    x = leaf(1.0)
    with trine.no_grad():
        assert not (x * 2).requires_grad
        with trine.enable_grad():
            assert (x * 2).requires_grad
        assert not trine.is_grad_enabled()
    with trine.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert trine.is_grad_enabled()
    trine.set_grad_enabled(False)
    assert not trine.is_grad_enabled()
    trine.set_grad_enabled(True)


def test_grad_mode_survives_an_exception():
    with pytest.raises(ZeroDivisionError), trine.no_grad():
        raise ZeroDivisionError
    assert trine.is_grad_enabled()


def test_modes_decorate_functions_and_generators():
    x = leaf(1.0)

    @trine.no_grad()
    def plain():
        return (x * 2).requires_grad

    @trine.no_grad
    def bare():
        return (x * 2).requires_grad

    @trine.no_grad()
    def steps():
        received = yield (x * 2).requires_grad
        yield received, (x * 2).requires_grad

    assert plain() is False and bare() is False
    run = steps()
    assert next(run) is False
    assert trine.is_grad_enabled()
    assert run.send("hello") == ("hello", False)
    assert trine.is_grad_enabled()
    with pytest.raises(StopIteration):
        next(run)


def test_inference_tensors_cannot_enter_a_recorded_computation():
    x = leaf(1.0)
    with trine.inference_mode():
        y = x * 2
        assert y.is_inference() and not y.requires_grad and trine.is_inference_mode_enabled()
    assert not trine.is_inference_mode_enabled()
    with pytest.raises(RuntimeError, match=r"[Ii]nference"):
        (x * y).sum().backward()


def test_inference_mode_can_be_left_inside():
    x = leaf(1.0)
    with trine.inference_mode():
        with trine.inference_mode(False):
            assert (x * 2).requires_grad
        assert trine.is_inference_mode_enabled()


# ---- in-place writes and views ----------------------------------------------------------------------------------------
def test_changing_a_saved_tensor_is_found_out():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_writing_in_place_to_a_leaf_is_refused():
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf(1.0).add_(1)


def test_a_write_through_a_view_reaches_the_base():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[1:].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0]


BASES = {
    "contiguous": lambda x: x * 1,
    "transposed in memory": lambda x: x.t() * 1,
    "a view": lambda x: (x * 1).t(),
    "with gaps": lambda x: trine.from_numpy(x.detach().repeat(1, 2).numpy()[:, ::2]).copy_(x),
}
REGIONS = {
    "t": lambda b: b.t(), "row": lambda b: b[1], "column": lambda b: b[:, 1], "every other": lambda b: b[:, ::2],
    "diagonal": lambda b: b.diagonal(), "windows": lambda b: b.unfold(1, 2, 2), "chain": lambda b: b.t()[1:].t()[:, ::2],
    "as_strided": lambda b: b.as_strided((2, 2), b.stride()[::-1], b.storage_offset() + b.stride(0)),
}  # fmt: skip
WRITES = (lambda v: v.exp_(), lambda v: v.mul_(v.clone()), lambda v: v.fill_(2.0))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("region", REGIONS)
def test_writes_through_views_have_the_right_gradient_however_the_base_lies_in_memory(base, region):
    weights = trine.arange(16.0, dtype=trine.float64).reshape(4, 4) + 1
    x = (trine.rand(4, 4, dtype=trine.float64, generator=trine.Generator().manual_seed(1)) + 0.5).requires_grad_()

    for write in WRITES:

        def f(x, write=write):
            b = BASES[base](x)
            v = REGIONS[region](b)
            write(v)
            return (b * weights).sum() + (v * v).sum()

        assert trine.autograd.gradcheck(f, (x,)), (base, region)


def test_a_view_sees_a_write_to_its_base():
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    y.mul_(3)
    assert v.tolist() == [3.0]
    v.sum().backward()
    assert x.grad.tolist() == [3.0, 0.0]


def test_assignment_of_a_differentiable_value():
    x, w = leaf(1.0, 2.0, 3.0), leaf(7.0)
    y = x * 2
    y[1] = w[0] * 3
    y.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([2.0, 0.0, 2.0], [3.0])


def test_views_of_views_keep_their_history():
    x = trine.arange(6.0).requires_grad_()
    y = (x * 1).view(2, 3)
    y[0][1] *= 5
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 5.0, 1.0, 1.0, 1.0, 1.0]


def test_unbound_rows_cannot_be_written_with_history():
    y = trine.ones(2, 2, requires_grad=True) * 1
    first, _ = y.unbind(0)
    with pytest.raises(RuntimeError, match="multiple views"):
        first.mul_(2)


def test_data_writes_are_not_counted():
    x = leaf(1.0, 2.0)
    y = x * x
    x.data.mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


# ---- size, time and threads -------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_graph_of_a_million_nodes_runs_and_is_freed():
    x = trine.ones((), requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    del y
    z = x
    for _ in range(1_000_000):
        z = z * 1
    del z  # freed without a backward pass, and without recursion


def test_two_threads_train_two_models_at_once():
    results = {}

    def train(seed: int) -> None:
        w = trine.full((3,), float(seed), requires_grad=True)
        for _ in range(50):
            loss = ((w - 1) ** 2).sum()
            (g,) = grad(loss, w)
            with trine.no_grad():
                w -= 0.1 * g
        results[seed] = w.tolist()

    threads = [threading.Thread(target=train, args=(s,)) for s in (2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for seed in (2, 3):
        assert results[seed] == pytest.approx([1 + (seed - 1) * 0.8**50] * 3, rel=1e-4)


def test_grad_mode_belongs_to_its_thread():
    seen = []
    with trine.no_grad():
        thread = threading.Thread(target=lambda: seen.append(trine.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# ---- saved-tensor hooks, anomaly mode ---------------------------------------------------------------------------------
def test_saved_tensors_may_be_kept_in_another_form():
    kept = []
    x = leaf(3.0)

    def pack(t):
        kept.append(t.tolist())
        return len(kept) - 1

    with trine.autograd.graph.saved_tensors_hooks(pack, lambda i: trine.tensor(kept[i])):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [6.0] and kept


def test_save_on_cpu_gives_the_same_gradient():
    x = leaf(3.0)
    with trine.autograd.graph.save_on_cpu():
        y = x.exp()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_an_error_in_a_pack_hook_arrives_and_leaves_no_hooks_behind():
    def broken(t):
        raise KeyError("pack")

    with pytest.raises(KeyError), trine.autograd.graph.saved_tensors_hooks(broken, lambda t: t):
        leaf(1.0).exp()
    x = leaf(2.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0]


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomaly_mode_names_the_forward_line(capsys, recwarn):
    x = leaf(-1.0)
    with trine.autograd.detect_anomaly():
        y = x.sqrt()  # the line to be named
        with pytest.raises(RuntimeError, match=r"SqrtBackward0.* returned nan values in its 0th output") as caught:
            y.sum().backward()
    said = "".join(str(w.message) for w in recwarn) + capsys.readouterr().err + str(caught.value)
    assert "y = x.sqrt()" in said


def test_anomaly_mode_is_off_again():
    with pytest.warns(UserWarning), trine.autograd.detect_anomaly():
        pass
    x = leaf(-1.0)
    x.sqrt().sum().backward()
    assert x.grad.isnan().all()


# ---- gradcheck and the functional interface ---------------------------------------------------------------------------
def double(*values):
    return trine.tensor(values, dtype=trine.float64, requires_grad=True)


def test_gradcheck_accepts_right_gradients():
    a, b = double(0.5, -1.0), double(2.0, 0.3)
    assert trine.autograd.gradcheck(lambda x, y: (x * y, x.sin()), (a, b), check_forward_ad=True)
    assert trine.autograd.gradgradcheck(lambda x, y: x * x * y, (a, b))
    z = trine.tensor([0.5 + 1j], dtype=trine.complex128, requires_grad=True)
    assert trine.autograd.gradcheck(lambda x: x * x, (z,))
    assert trine.autograd.gradcheck(lambda x: x.exp(), (a,), fast_mode=True)


def test_gradcheck_shows_both_jacobians_of_a_wrong_gradient():
    class Wrong(trine.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    with pytest.raises(RuntimeError, match=r"Jacobian mismatch for output 0 with respect to input 0"):
        trine.autograd.gradcheck(Wrong.apply, (double(1.0),))
    assert not trine.autograd.gradcheck(Wrong.apply, (double(1.0),), raise_exception=False)
    with pytest.raises(ValueError, match="requires_grad"):
        trine.autograd.gradcheck(Wrong.apply, (trine.ones(1),))


def test_gradcheck_compares_batched_gradients_with_single_ones():
    x = trine.tensor([[0.5, 1.0], [2.0, -1.0]], dtype=trine.float64, requires_grad=True)
    assert trine.autograd.gradcheck(
        lambda x: (x.sin(), x @ x), x, check_batched_grad=True, check_forward_ad=True, check_batched_forward_grad=True
    )
    assert trine.autograd.gradgradcheck(trine.exp, x, check_batched_grad=True)

    class Choice(trine.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return 2 * g if g.sum().item() else g * 2  # item() cannot be batched

    with pytest.raises(RuntimeError, match="does not work under vmap"):
        trine.autograd.gradcheck(Choice.apply, x, check_batched_grad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad"):
        trine.autograd.gradcheck(trine.sin, x, check_batched_forward_grad=True)


def test_functional_jacobian_hessian_and_products():
    F = trine.autograd.functional
    x = trine.tensor([1.0, 2.0])
    assert F.jacobian(lambda t: t**2, x).tolist() == [[2, 0], [0, 4]]
    assert F.hessian(lambda t: (t**3).sum(), x).tolist() == [[6, 0], [0, 12]]
    value, product = F.vjp(lambda t: t**2, x, trine.ones(2))
    assert (value.tolist(), product.tolist()) == ([1, 4], [2, 4])
    assert F.jvp(lambda t: t**2, x, trine.ones(2))[1].tolist() == [2, 4]
    assert F.hvp(lambda t: (t**3).sum(), x, trine.ones(2))[1].tolist() == [6, 12]
    blocks = F.jacobian(lambda a, b: (a * b, a.sum()), (x, x))
    assert [[tuple(b.shape) for b in row] for row in blocks] == [[(2, 2), (2, 2)], [(2,), (2,)]]


# ---- forward mode -----------------------------------------------------------------------------------------------------
def test_forward_mode_carries_tangents():
    fw = trine.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(trine.tensor([2.0, 3.0]), trine.tensor([1.0, 10.0]))
        assert fw.unpack_dual(x * x).tangent.tolist() == [4.0, 60.0]
        assert fw.unpack_dual(trine.ones(2)).tangent is None
        assert fw.unpack_dual((x * 2).view(2, 1)).tangent.tolist() == [[2.0], [20.0]]
    assert fw.unpack_dual(x).tangent is None


def test_tangents_of_an_ended_level_do_not_return():
    fw = trine.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(trine.ones(1), trine.ones(1))
    with fw.dual_level():
        assert fw.unpack_dual(x).tangent is None


def test_forward_mode_needs_a_level_and_does_not_nest():
    fw = trine.autograd.forward_ad
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(trine.ones(1), trine.ones(1))
    with pytest.raises(RuntimeError, match=r"[Nn]ested"), fw.dual_level(), fw.dual_level():
        pass


def test_forward_over_reverse_gives_the_hessian_vector_product():
    fw = trine.autograd.forward_ad
    x = leaf(1.0, 2.0)
    with fw.dual_level():
        dual = fw.make_dual(x, trine.tensor([1.0, 1.0]))
        (g,) = grad((dual**3).sum(), dual, create_graph=True)
        assert fw.unpack_dual(g).tangent.tolist() == [6.0, 12.0]
