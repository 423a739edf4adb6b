"""`nn.Module`: registration, state dicts, conversion, copies; messages are those users know from PyTorch."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest
import trine
from trine import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 3)
        self.bn = nn.BatchNorm1d(3)
        self.scale = nn.Parameter(trine.ones(3))
        self.register_buffer("table", trine.zeros(2))
        self.register_buffer("scratch", trine.zeros(1), persistent=False)

    def forward(self, x):
        return self.bn(self.lin(x)) * self.scale


PARAMETERS = ["scale", "lin.weight", "lin.bias", "bn.weight", "bn.bias"]
STATE = [
    "scale",
    "table",
    "lin.weight",
    "lin.bias",
    "bn.weight",
    "bn.bias",
    "bn.running_mean",
    "bn.running_var",
    "bn.num_batches_tracked",
]


def test_parameters_buffers_and_children_are_found_by_name_in_order():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == PARAMETERS
    assert [name for name, _ in net.named_buffers()][:2] == ["table", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "lin", "bn"]
    assert [name for name, _ in net.named_parameters(prefix="net", recurse=False)] == ["net.scale"]
    assert len(list(net.parameters())) == 5
    assert list(net.children()) == [net.lin, net.bn]


def test_a_shared_parameter_is_listed_once_unless_asked_for():
    net = nn.Module()
    net.a = net.b = nn.Linear(1, 1)
    assert [n for n, _ in net.named_parameters()] == ["a.weight", "a.bias"]
    assert [n for n, _ in net.named_parameters(remove_duplicate=False)] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert list(net.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert [n for n, _ in net.named_children()] == ["a"]


def test_state_dict_has_persistent_state_only_and_shares_memory():
    net = Net()
    state = net.state_dict()
    assert list(state) == STATE
    assert isinstance(state, OrderedDict)
    assert state._metadata == {"": {"version": 1}, "lin": {"version": 1}, "bn": {"version": 2}}
    assert not state["scale"].requires_grad
    state["scale"].fill_(7)
    assert net.scale.tolist() == [7, 7, 7]
    assert net.state_dict(keep_vars=True)["scale"] is net.scale


def test_load_state_dict_copies_values_and_reports_success():
    source, target = Net(), Net()
    with trine.no_grad():
        source.scale.fill_(5)
    before = target.scale
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert target.scale is before
    assert target.scale.tolist() == [5, 5, 5]


def test_load_state_dict_says_what_is_missing_unexpected_and_of_wrong_size():
    net = Net()
    state = net.state_dict()
    del state["scale"], state["lin.bias"]
    state["extra"] = trine.ones(1)
    state["lin.q"] = trine.ones(1)
    state["lin.weight"] = trine.ones(3, 3)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    size = str(trine.ones(3, 3).shape), str(trine.ones(3, 2).shape)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "scale", "lin.bias". \n'
        '\tUnexpected key(s) in state_dict: "extra", "lin.q". \n'
        f"\tsize mismatch for lin.weight: copying a param with shape {size[0]} from checkpoint, "
        f"the shape in current model is {size[1]}."
    )


def test_load_state_dict_without_strict_returns_the_differences():
    net = Net()
    state = net.state_dict()
    del state["scale"]
    state["extra"] = trine.ones(1)
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["scale"]
    assert result.unexpected_keys == ["extra"]
    assert repr(result) == "_IncompatibleKeys(missing_keys=['scale'], unexpected_keys=['extra'])"
    assert "scale" not in state and "extra" in state


def test_load_state_dict_refuses_what_is_no_tensor_and_no_mapping():
    net = nn.Linear(1, 1)
    with pytest.raises(RuntimeError, match=r'While copying the parameter named "weight", expected torch\.Tensor'):
        net.load_state_dict({"weight": 3, "bias": trine.ones(1)})
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        net.load_state_dict([1])


def test_assign_puts_the_given_tensors_in_place():
    net = nn.Linear(2, 1)
    weight = trine.ones(1, 2, dtype=trine.float64)
    net.load_state_dict({"weight": weight, "bias": trine.zeros(1, dtype=trine.float64)}, assign=True)
    assert net.weight.dtype == trine.float64
    assert net.weight.requires_grad and isinstance(net.weight, nn.Parameter)
    assert net.weight.data_ptr() == weight.data_ptr()


def test_extra_state_travels_with_the_state_dict():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 3

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    counter = Counter()
    assert counter.state_dict() == {"_extra_state": 3}
    counter.load_state_dict({"_extra_state": 9})
    assert counter.count == 9
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "_extra_state"'):
        counter.load_state_dict({})


def test_batch_norm_checkpoint_without_the_batch_count_still_loads():
    bn = nn.BatchNorm1d(2)
    state = dict(bn.state_dict())
    del state["num_batches_tracked"]
    bn.load_state_dict(state)
    assert bn.num_batches_tracked.item() == 0


@pytest.mark.parametrize(
    ("register", "error", "message"),
    [
        (lambda m: m.register_parameter("a.b", None), KeyError, 'parameter name can\'t contain "."'),
        (lambda m: m.register_parameter("", None), KeyError, 'parameter name can\'t be empty string ""'),
        (lambda m: m.register_parameter(5, None), TypeError, "parameter name should be a string. Got int"),
        (lambda m: m.register_parameter("forward", None), KeyError, "attribute 'forward' already exists"),
        (lambda m: m.register_buffer("a.b", None), KeyError, 'buffer name can\'t contain "."'),
        (lambda m: m.register_buffer("q", 5), TypeError, "cannot assign 'int' object to buffer 'q'"),
        (lambda m: m.add_module("a.b", nn.ReLU()), KeyError, 'module name can\'t contain ".", got: a.b'),
        (lambda m: m.add_module("q", 5), TypeError, "int is not a Module subclass"),
        (lambda m: setattr(m, "scale", 5), TypeError, "cannot assign 'int' as parameter 'scale'"),
        (lambda m: setattr(m, "lin", 5), TypeError, "cannot assign 'int' as child module 'lin'"),
        (lambda m: setattr(m, "table", "s"), TypeError, "cannot assign 'str' as buffer 'table'"),
        (lambda m: m.missing, AttributeError, "'Net' object has no attribute 'missing'"),
        (lambda m: m.get_parameter("lin"), AttributeError, "`lin` is not an nn.Parameter"),
        (lambda m: m.get_submodule("lin.x"), AttributeError, "Linear has no attribute `x`"),
        (lambda m: m.get_buffer("scale"), AttributeError, "`scale` is not a buffer"),
    ],
)
def test_wrong_registration_is_refused_by_name(register, error, message):
    with pytest.raises(error) as caught:
        register(Net())
    assert message in str(caught.value.args[0])


def test_a_tensor_that_has_a_history_cannot_become_a_parameter():
    weight = nn.Parameter(trine.ones(1))
    module = nn.Module()
    with pytest.raises(TypeError, match="cannot assign"):
        module.register_parameter("w", weight * 2)


@pytest.mark.parametrize("value", [nn.Parameter(trine.ones(1)), nn.ReLU(), nn.Buffer(trine.ones(1))])
def test_assigning_before_init_is_refused(value):
    class Early(nn.Module):
        def __init__(self):
            self.early = value

    with pytest.raises(AttributeError, match=r"cannot assign \w+ before Module.__init__\(\) call"):
        Early()


def test_an_attribute_moves_between_kinds_when_reassigned():
    net = Net()
    net.extra = 5
    net.extra = nn.Parameter(trine.ones(1))
    assert "extra" in dict(net.named_parameters()) and "extra" not in net.__dict__
    net.scale = None
    assert net.scale is None and "scale" not in net.state_dict()
    net.lin = None
    assert net.lin is None
    del net.table
    assert not hasattr(net, "table")
    with pytest.raises(AttributeError):
        del net.never_there


def test_buffer_objects_register_themselves():
    module = nn.Module()
    module.kept = nn.Buffer(trine.ones(1))
    module.dropped = nn.Buffer(trine.ones(1), persistent=False)
    assert list(module.state_dict()) == ["kept"]
    assert [name for name, _ in module.named_buffers()] == ["kept", "dropped"]
    assert isinstance(module.kept, nn.Buffer) and not isinstance(trine.ones(1), nn.Buffer)


def test_dtype_conversion_touches_floating_point_only_and_keeps_parameter_objects():
    net = Net()
    scale = net.scale
    assert net.double() is net
    assert net.scale is scale and scale.dtype == trine.float64
    assert net.bn.num_batches_tracked.dtype == trine.int64
    assert net.half().scale.dtype == trine.float16
    assert net.bfloat16().scale.dtype == trine.bfloat16
    assert net.to(trine.ones(1, dtype=trine.float64)).scale.dtype == trine.float64
    assert net.to("cpu", trine.float32).scale.dtype == trine.float32
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes, but got desired dtype="):
        net.to(trine.int64)


def test_conversion_casts_the_gradients_too():
    net = nn.Linear(1, 1)
    net(trine.ones(1, 1)).sum().backward()
    net.double()
    assert net.weight.grad.dtype == trine.float64


def test_to_rejects_nonsense_with_the_forms_it_knows():
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
        nn.ReLU().to(speed=1)


def test_a_module_built_on_the_meta_device_can_be_given_memory():
    layer = nn.Linear(3, 2, device="meta")
    assert layer.weight.is_meta
    with pytest.raises(NotImplementedError, match="to_empty"):
        layer.to("cpu")
    layer.to_empty(device="cpu")
    assert not layer.weight.is_meta and tuple(layer.weight.shape) == (2, 3)


def test_train_and_eval_reach_the_whole_tree():
    net = Net()
    assert net.eval().bn.training is False
    assert net.train().bn.training is True
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train("yes")


def test_requires_grad_and_zero_grad_reach_all_parameters():
    net = nn.Linear(2, 1)
    net(trine.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0, 0]]
    net.zero_grad()
    assert net.weight.grad is None
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_apply_visits_children_first():
    seen = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Net"]


def test_copies_and_pickles_are_independent_and_equal():
    layer = nn.Linear(2, 2)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert isinstance(twin.weight, nn.Parameter) and twin.weight.requires_grad
        np.testing.assert_array_equal(twin.weight.detach().numpy(), layer.weight.detach().numpy())
        with trine.no_grad():
            twin.weight.zero_()
        assert layer.weight.abs().sum().item() > 0
        assert tuple(twin(trine.ones(1, 2)).shape) == (1, 2)


def test_deepcopy_keeps_shared_parameters_shared():
    net = nn.Module()
    net.a = nn.Linear(1, 1)
    net.b = net.a
    twin = copy.deepcopy(net)
    assert twin.a.weight is twin.b.weight and twin.a.weight is not net.a.weight


def test_results_of_parameters_are_plain_tensors():
    p = nn.Parameter(trine.ones(2))
    assert type(p * 2) is trine.Tensor and type(p.detach()) is trine.Tensor
    assert isinstance(p, trine.Tensor) and p.is_leaf
    assert repr(p).startswith("Parameter containing:\ntensor([1., 1.], requires_grad=True")


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_constructor_arguments_of_the_base_class_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        nn.Module(a=1)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nn.Module(1)


def test_call_super_init_reaches_the_next_class():
    class Named:
        def __init__(self, name):
            self.name = name

    class Both(nn.Module, Named):
        call_super_init = True

        def __init__(self):
            super().__init__(name="n")

    assert Both().name == "n"


def test_set_submodule_replaces_by_dotted_name():
    net = nn.Sequential(nn.Sequential(nn.ReLU()))
    net.set_submodule("0.0", nn.Tanh())
    assert isinstance(net[0][0], nn.Tanh)
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", nn.Tanh())
    with pytest.raises(AttributeError):
        net.set_submodule("0.9", nn.Tanh(), strict=True)


def test_modules_import_by_the_names_pytorch_has():
    from trine.nn.modules.batchnorm import _BatchNorm
    from trine.nn.modules.conv import Conv2d
    from trine.nn.modules.module import Module, register_module_forward_hook
    from trine.nn.modules.utils import _pair, consume_prefix_in_state_dict_if_present

    assert Conv2d is nn.Conv2d and Module is nn.Module and issubclass(nn.BatchNorm2d, _BatchNorm)
    assert _pair(3) == (3, 3) and callable(register_module_forward_hook)
    state = OrderedDict({"module.weight": 1, "other": 2})
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert state == {"weight": 1, "other": 2}
