"""Operations with hand-written gradients behave as PyTorch's do."""

from __future__ import annotations

import gc
import pickle
import weakref

import pytest
import trine

Function = trine.autograd.Function


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class Split(Function):
    """Two results, an argument that is no tensor, and the two-function form."""

    @staticmethod
    def forward(x, factor):
        return x * factor, x + factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g_product, g_sum):
        return g_product * ctx.factor + g_sum, None


def leaf(*values: float, dtype=None):
    return trine.tensor(values, requires_grad=True, dtype=dtype)


def test_forward_backward_and_second_derivative():
    x = leaf(2.0)
    y = Cube.apply(x)
    assert y.grad_fn.name() == "CubeBackward"
    (first,) = trine.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = trine.autograd.grad(first.sum(), x)
    assert (y.tolist(), first.tolist(), second.tolist()) == ([8.0], [12.0], [12.0])


def test_gradcheck_of_a_function():
    x = leaf(0.5, -1.5, dtype=trine.float64)
    assert trine.autograd.gradcheck(Cube.apply, (x,))
    assert trine.autograd.gradgradcheck(Cube.apply, (x,))


def test_several_results_and_plain_arguments():
    x = leaf(1.0, 2.0)
    product, total = Split.apply(x, 5)
    (product.sum() + 2 * total.sum()).backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_a_result_without_a_gradient_counts_as_zeros():
    x = leaf(1.0)
    product, _ = Split.apply(x, 5)
    product.sum().backward()
    assert x.grad.tolist() == [5.0]


def test_gradients_stay_none_when_asked():
    seen = []

    class Pair(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a is None, b is None))
            return b * 2

    x = leaf(1.0)
    Pair.apply(x)[1].sum().backward()
    assert seen == [(True, False)] and x.grad.tolist() == [2.0]


def test_needs_input_grad_says_which_gradients_are_wanted():
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            return a * b

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, None, None

    Product.apply(leaf(1.0), trine.ones(1), 3).sum().backward()
    assert seen == [(True, False, False)]


def test_nothing_is_recorded_without_need():
    assert not Cube.apply(trine.ones(1)).requires_grad
    with trine.no_grad():
        assert not Cube.apply(leaf(1.0)).requires_grad


def test_forward_runs_without_recording():
    class Peek(Function):
        @staticmethod
        def forward(ctx, x):
            assert not trine.is_grad_enabled()
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert Peek.apply(leaf(1.0)).requires_grad


def test_a_wrong_number_of_gradients_is_told():
    class Two(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, g, g

    y = Two.apply(leaf(1.0), leaf(1.0))
    with pytest.raises(RuntimeError, match=r"TwoBackward.* returned an incorrect number of gradients \(expected 2, got 3\)"):
        y.sum().backward()


def test_a_gradient_of_a_wrong_shape_is_told():
    class Long(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return trine.ones(7)

    with pytest.raises(RuntimeError, match=r"LongBackward.* returned an invalid gradient"):
        Long.apply(leaf(1.0, 2.0)).sum().backward()


def test_mark_dirty_writes_the_input_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    y = x * 3
    z = Double.apply(y)
    assert z is y
    z.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([6.0], [6.0])


def test_mark_non_differentiable():
    class Sort(Function):
        @staticmethod
        def forward(ctx, x):
            rounded = x.round()
            ctx.mark_non_differentiable(rounded)
            return x * 2, rounded

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    y, rounded = Sort.apply(leaf(1.4))
    assert y.requires_grad and not rounded.requires_grad
    y.sum().backward()


def test_an_input_given_back_is_a_view_of_it():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = leaf(1.0)
    y = Same.apply(x)
    assert y is not x
    y.sum().backward()
    assert x.grad.tolist() == [10.0]


def test_a_saved_tensor_that_changed_is_found_out():
    x = leaf(2.0)
    y = x * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_saved_tensors_are_freed_by_the_backward_pass():
    y = Cube.apply(leaf(2.0)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_once_differentiable_refuses_a_second_derivative():
    from_once = trine.autograd.function.once_differentiable

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.exp())
            return x.exp()

        @staticmethod
        @from_once
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(0.0)
    (g,) = trine.autograd.grad(Exp.apply(x).sum(), x)
    assert g.tolist() == [1.0]
    # the incoming gradient requires gradients here, so that the pass is recorded
    weight = leaf(2.0)
    (g,) = trine.autograd.grad(Exp.apply(x), x, weight * 1, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_errors_in_forward_and_backward_arrive():
    class Broken(Function):
        @staticmethod
        def forward(ctx, x, when):
            if when == "forward":
                raise KeyError("forward")
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("backward")

    with pytest.raises(KeyError, match="forward"):
        Broken.apply(leaf(1.0), "forward")
    assert trine.is_grad_enabled()
    with pytest.raises(KeyError, match="backward"):
        Broken.apply(leaf(1.0), "").sum().backward()


def test_missing_methods_are_named():
    class Nothing(Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(leaf(1.0))


def test_attributes_of_the_context_live_as_long_as_the_graph():
    class Payload:
        pass

    class Keep(Function):
        @staticmethod
        def forward(ctx, x, payload):
            ctx.payload = payload
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g, None

    payload = Payload()
    alive = weakref.ref(payload)
    y = Keep.apply(leaf(1.0), payload)
    del payload
    gc.collect()
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_forward_mode_rule_of_a_function():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.saved_tensors[0] * t

    fw = trine.autograd.forward_ad
    with fw.dual_level():
        y = Square.apply(fw.make_dual(trine.tensor([3.0]), trine.tensor([1.0])))
        assert fw.unpack_dual(y).tangent.tolist() == [6.0]


def test_apply_can_be_pickled_by_reference():
    assert pickle.loads(pickle.dumps(Cube)) is Cube
