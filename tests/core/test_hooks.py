"""Hooks on tensors and graph nodes see, replace and refuse gradients; errors leave nothing broken."""

from __future__ import annotations

import gc
import weakref

import pytest
import trine


def leaf(*values: float):
    return trine.tensor(values, requires_grad=True)


def test_a_hook_sees_and_replaces_the_gradient_of_a_leaf():
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g * 10)
    (x * 3).sum().backward()
    assert (seen, x.grad.tolist()) == ([[3.0, 3.0]], [30.0, 30.0])


def test_a_hook_on_a_computed_tensor_changes_what_flows_on():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g + 100)
    y.sum().backward()
    assert x.grad.tolist() == [202.0]


def test_hooks_run_in_the_order_of_registration_and_once_per_backward():
    x, calls = leaf(1.0), []
    y = x * 1
    y.register_hook(lambda g: calls.append("first"))
    y.register_hook(lambda g: calls.append("second"))
    (y * 2 + y).sum().backward()
    assert calls == ["first", "second"]


def test_a_removed_hook_is_silent():
    x, calls = leaf(1.0), []
    handle = x.register_hook(lambda g: calls.append(1))
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()
    assert calls == []


def test_a_handle_removes_its_hook_at_the_end_of_a_with_block():
    x, calls = leaf(1.0), []
    with x.register_hook(lambda g: calls.append(1)):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert calls == [1]


def test_post_accumulate_grad_hook_sees_the_filled_gradient():
    x, seen = leaf(1.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert seen == [(True, [2.0]), (True, [4.0])]


def test_post_accumulate_grad_hook_is_for_leaves():
    with pytest.raises(RuntimeError, match="leaf"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(lambda t: None)


def test_a_hook_on_a_tensor_without_gradient_is_refused():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        trine.ones(1).register_hook(lambda g: g)


def test_an_error_in_a_hook_arrives_unchanged_and_the_next_pass_works():
    x = leaf(2.0)
    handle = x.register_hook(lambda g: {}["missing"])
    with pytest.raises(KeyError, match="missing"):
        (x * x).sum().backward()
    handle.remove()
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0]


def test_a_hook_that_returns_no_tensor_is_refused():
    x = leaf(1.0)
    x.register_hook(lambda g: 3)
    with pytest.raises(TypeError):
        (x * 2).sum().backward()


def test_retain_grad_sees_what_the_hooks_made():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    assert y.grad.tolist() == [5.0]


def test_node_hooks_see_gradients_before_and_after():
    x, seen = leaf(3.0), []
    y = x * x
    y.grad_fn.register_prehook(lambda grads: seen.append(("before", grads[0].tolist())))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(("after", outputs[0].tolist())))
    y.sum().backward()
    assert seen == [("before", [1.0]), ("after", [1.0])]


def test_a_node_prehook_replaces_the_gradient():
    x = leaf(3.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 7,))
    y.sum().backward()
    assert x.grad.tolist() == [14.0]


def test_the_graph_can_be_walked():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert y.grad_fn.name() == "ExpBackward0"
    (multiply, number) = y.grad_fn.next_functions[0]
    assert (multiply.name(), number) == ("MulBackward0", 0)
    accumulate = multiply.next_functions[0][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad" or accumulate.name() == "AccumulateGrad"
    assert accumulate.variable is x
    assert multiply.next_functions[1] == (None, 0)


def test_the_same_node_is_the_same_object():
    y = leaf(1.0) * 2
    assert y.grad_fn is y.grad_fn
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}


def test_a_hook_that_refers_to_its_tensor_is_collected():
    x = leaf(1.0)
    x.register_hook(lambda g, x=x: g)
    dead = weakref.ref(x)
    del x
    gc.collect()
    assert dead() is None


def test_hooks_on_several_tensors_wait_for_all():
    a, b, calls = leaf(1.0), leaf(2.0), []
    trine.autograd.graph.register_multi_grad_hook((a, b), lambda grads: calls.append([g.tolist() for g in grads]))
    (a * b).sum().backward()
    assert calls == [[[2.0], [1.0]]]


def test_any_mode_runs_at_the_first_gradient():
    a, b, calls = leaf(1.0), leaf(2.0), []
    trine.autograd.graph.register_multi_grad_hook((a, b), lambda g: calls.append(1), mode="any")
    (a * b).sum().backward()
    (a * b).sum().backward()
    assert calls == [1, 1]


def test_a_backward_pass_inside_a_hook_works():
    x, inner = leaf(2.0), leaf(3.0)

    def hook(g):
        assert not trine.is_grad_enabled()
        with trine.enable_grad():
            (inner * inner).sum().backward()

    x.register_hook(hook)
    (x * x).sum().backward()
    assert (x.grad.tolist(), inner.grad.tolist()) == ([4.0], [6.0])
