"""Hooks of modules: when they run, what they may replace, how they are removed."""

import warnings

import pytest
import trine
from trine import nn
from trine.nn.modules import module as module_file


def linear():
    layer = nn.Linear(2, 1, bias=False)
    with trine.no_grad():
        layer.weight.copy_(trine.tensor([[1.0, 2.0]]))
    return layer


def test_forward_hooks_run_in_order_around_forward():
    layer, seen = linear(), []
    layer.register_forward_pre_hook(lambda m, args: seen.append("pre"))
    layer.register_forward_hook(lambda m, args, out: seen.append("first"))
    layer.register_forward_hook(lambda m, args, out: seen.append("prepended"), prepend=True)
    layer(trine.ones(1, 2))
    assert seen == ["pre", "prepended", "first"]


def test_forward_hooks_replace_arguments_and_results():
    layer = linear()
    layer.register_forward_pre_hook(lambda m, args: args[0] * 10)
    layer.register_forward_hook(lambda m, args, out: out + 1)
    assert layer(trine.ones(1, 2)).item() == 31


def test_hooks_with_kwargs_see_and_replace_keywords():
    class Scale(nn.Module):
        def forward(self, x, by=1):
            return x * by

    module, seen = Scale(), []
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True)
    assert module(trine.ones(1), by=2).item() == 3
    assert seen == [{"by": 3}]
    module.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 5"):
        module(trine.ones(1), by=2)


def test_removed_hooks_are_silent_and_handles_are_context_managers():
    layer, seen = linear(), []
    handle = layer.register_forward_hook(lambda *a: seen.append(1))
    handle.remove()
    with layer.register_forward_hook(lambda *a: seen.append(2)):
        layer(trine.ones(1, 2))
    layer(trine.ones(1, 2))
    assert seen == [2]
    assert not layer._forward_hooks


def test_a_hook_put_straight_into_the_table_runs():
    layer, seen = linear(), []
    layer._forward_hooks[0] = lambda *a: seen.append(1)
    layer(trine.ones(1, 2))
    assert seen == [1]


def test_always_called_hooks_run_after_an_exception_and_leave_it_alone():
    layer, seen = linear(), []
    layer.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    layer.register_forward_hook(lambda m, args, out: seen.append("never"))
    with pytest.raises(RuntimeError):
        layer(trine.ones(1, 3))
    assert seen == [None]


def test_global_hooks_run_before_those_of_the_module():
    layer, seen = linear(), []
    handles = [
        module_file.register_module_forward_pre_hook(lambda m, a: seen.append("global pre")),
        module_file.register_module_forward_hook(lambda m, a, o: seen.append("global")),
        layer.register_forward_pre_hook(lambda m, a: seen.append("pre")),
        layer.register_forward_hook(lambda m, a, o: seen.append("own")),
    ]
    try:
        layer(trine.ones(1, 2))
    finally:
        for handle in handles:
            handle.remove()
    layer(trine.ones(1, 2))
    assert seen == ["global pre", "pre", "global", "own"]


def test_registration_hooks_see_new_parameters_buffers_and_children():
    seen = []
    handles = [
        module_file.register_module_parameter_registration_hook(lambda m, n, v: seen.append(n)),
        module_file.register_module_buffer_registration_hook(lambda m, n, v: seen.append(n)),
        module_file.register_module_module_registration_hook(lambda m, n, v: seen.append(n)),
    ]
    try:
        net = nn.Module()
        net.p = nn.Parameter(trine.ones(1))
        net.register_buffer("b", trine.ones(1))
        net.child = nn.ReLU()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["p", "b", "child"]


def test_full_backward_hook_sees_both_gradients_and_replaces_the_input_one():
    layer, seen = linear(), []

    def hook(module, grad_input, grad_output):
        seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_hook(hook)
    x = trine.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [([[1.0, 2.0]], [[1.0]])]
    assert x.grad.tolist() == [[10.0, 20.0]]
    assert layer.weight.grad.tolist() == [[1.0, 1.0]]


def test_full_backward_pre_hook_replaces_the_output_gradient():
    layer = linear()
    layer.register_full_backward_pre_hook(lambda m, grad_output: (grad_output[0] * 3,))
    x = trine.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.tolist() == [[3.0, 6.0]]
    assert layer.weight.grad.tolist() == [[3.0, 3.0]]


def test_full_backward_hook_runs_even_when_no_input_needs_a_gradient():
    layer, seen = linear(), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(gi))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer(trine.ones(1, 2)).sum().backward()
    assert seen == [(None,)]


def test_wrong_number_of_gradients_from_a_hook_is_refused():
    layer = linear()
    layer.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    out = layer(trine.ones(1, 2, requires_grad=True))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        out.sum().backward()


def test_full_and_legacy_backward_hooks_do_not_mix():
    layer = linear()
    layer.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        layer.register_backward_hook(lambda *a: None)


def test_state_dict_hooks_run_around_saving_and_loading():
    net, seen = nn.Sequential(nn.Linear(1, 1)), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    net.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(extra=trine.ones(1)))
    net.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("extra"))
    net.register_load_state_dict_post_hook(lambda m, keys: seen.append(("post", list(keys.missing_keys))))
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "extra"]
    net.load_state_dict(state)
    assert seen == [("pre", "", False), ("post", [])]


def test_a_post_hook_can_forgive_missing_keys():
    layer = nn.Linear(1, 1)
    layer.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    layer.load_state_dict({"weight": trine.ones(1, 1)})
    assert layer.weight.item() == 1


def test_hooks_that_must_not_return_are_caught():
    layer = nn.Linear(1, 1)
    layer.register_state_dict_post_hook(lambda *a: 5)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()
