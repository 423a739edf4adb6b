"""Sequential, lists and dicts of modules and parameters behave as the Python containers they resemble."""

from collections import OrderedDict

import pytest
import trine
from trine import nn


def names(modules):
    return [type(m).__name__ for m in modules]


def test_sequential_runs_in_order_and_slices():
    net = nn.Sequential(OrderedDict([("first", nn.Linear(1, 1)), ("act", nn.ReLU()), ("last", nn.Tanh())]))
    assert names(net[:2]) == ["Linear", "ReLU"] and list(net[:2]._modules) == ["first", "act"]
    assert net[-1] is net.last and len(net) == 3
    with pytest.raises(IndexError, match="index 5 is out of range"):
        net[5]
    x = trine.tensor([[0.5]])
    assert net(x).item() == net.last(net.act(net.first(x))).item()


def test_sequential_edits_like_a_list():
    net = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.GELU())
    net[1] = nn.ReLU6()
    del net[0]
    net.append(nn.Mish()).insert(0, nn.SiLU())
    net += nn.Sequential(nn.ELU())
    assert names(net) == ["SiLU", "ReLU6", "GELU", "Mish", "ELU"]
    assert list(net._modules) == ["0", "1", "2", "3", "4"]
    assert names(net.pop(slice(0, 2))) == ["SiLU", "ReLU6"]
    assert names(nn.Sequential(nn.ReLU()) * 2 + net) == ["ReLU", "ReLU", "GELU", "Mish", "ELU"]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        net.append(3)
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        net * 0


def test_sequential_honours_a_childs_own_call():
    class Loud(nn.Identity):
        def __call__(self, x):
            return super().__call__(x) + 1

    assert nn.Sequential(Loud(), Loud())(trine.zeros(1)).item() == 2


def test_module_list_edits_like_a_list_and_owns_parameters():
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    layers.insert(1, nn.Linear(1, 1))
    layers += [nn.GELU()]
    assert names(layers) == ["ReLU", "Linear", "Tanh", "GELU"]
    assert [n for n, _ in layers.named_parameters()] == ["1.weight", "1.bias"]
    del layers[0]
    assert list(layers._modules) == ["0", "1", "2"] and names(layers[1:]) == ["Tanh", "GELU"]
    assert names(layers + [nn.ReLU()]) == ["Linear", "Tanh", "GELU", "ReLU"]
    with pytest.raises(NotImplementedError, match="ModuleList"):
        layers(1)
    with pytest.raises(TypeError, match=r"ModuleList\.extend should be called with an iterable, but got int"):
        nn.ModuleList(5)


def test_module_dict_edits_like_a_dict():
    heads = nn.ModuleDict([("b", nn.ReLU()), ("a", nn.Tanh())])
    heads["c"] = nn.GELU()
    heads.update({"b": nn.Mish()})
    assert list(heads) == ["b", "a", "c"] and names(heads.values()) == ["Mish", "Tanh", "GELU"]
    assert "a" in heads and type(heads.pop("a")) is nn.Tanh and "a" not in heads
    del heads["c"]
    assert dict(heads.items()).keys() == {"b"}
    with pytest.raises(KeyError):
        heads["nope"]
    with pytest.raises(ValueError, match="element #0 has length 1; 2 is required"):
        nn.ModuleDict([("a",)])
    heads.clear()
    assert len(heads) == 0


def test_parameter_list_turns_tensors_into_parameters():
    values = nn.ParameterList([trine.ones(2), "text"])
    values.extend([trine.ones(3)])
    values[0] = trine.zeros(4)
    assert isinstance(values[0], nn.Parameter) and values[1] == "text"
    assert list(values.state_dict()) == ["0", "2"]
    assert [tuple(v.shape) for v in values[2:]] == [(3,)]
    assert repr(values) == (
        "ParameterList(\n"
        f"    (0): Parameter containing: [{trine.float32} of size 4]\n"
        "    (1): Object of type: str\n"
        f"    (2): Parameter containing: [{trine.float32} of size 3]\n"
        ")"
    )
    with pytest.raises(TypeError, match=r"ParameterList\.extend should be called with an iterable, but got Tensor"):
        nn.ParameterList(trine.ones(2))


def test_parameter_dict_edits_like_a_dict():
    values = nn.ParameterDict({"b": trine.ones(1), "a": trine.ones(2)})
    assert list(values) == ["a", "b"]
    values["c"] = 5
    assert values.setdefault("d", trine.ones(1)) is values["d"] and isinstance(values["d"], nn.Parameter)
    assert values.get("nope", 7) == 7 and values.pop("c") == 5
    assert values.popitem()[0] == "d" and list(reversed(values)) == ["b", "a"]
    merged = values | nn.ParameterDict({"z": trine.ones(1)})
    assert list(merged) == ["a", "b", "z"] and list(merged.state_dict()) == ["a", "b", "z"]
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        values[1]
    with pytest.raises(KeyError):
        del values["nope"]


def test_representations_are_those_of_pytorch():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ModuleList([nn.ReLU(), nn.ReLU()]))
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)\n"
        "  (1): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)\n"
        "  (2): ModuleList(\n"
        "    (0-1): 2 x ReLU()\n"
        "  )\n"
        ")"
    )


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (lambda: nn.Linear(2, 3, bias=False), "Linear(in_features=2, out_features=3, bias=False)"),
        (lambda: nn.ReLU(inplace=True), "ReLU(inplace=True)"),
        (lambda: nn.ReLU6(), "ReLU6()"),
        (lambda: nn.Hardswish(True), "Hardswish()"),
        (lambda: nn.GELU(), "GELU(approximate='none')"),
        (lambda: nn.LeakyReLU(0.2), "LeakyReLU(negative_slope=0.2)"),
        (lambda: nn.PReLU(4), "PReLU(num_parameters=4)"),
        (lambda: nn.Softmax(1), "Softmax(dim=1)"),
        (lambda: nn.Dropout(0.1), "Dropout(p=0.1, inplace=False)"),
        (lambda: nn.Flatten(), "Flatten(start_dim=1, end_dim=-1)"),
        (lambda: nn.LayerNorm(4), "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)"),
        (lambda: nn.GroupNorm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"),
        (lambda: nn.MaxPool2d(2), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"),
        (lambda: nn.AvgPool1d(2), "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"),
        (lambda: nn.AdaptiveAvgPool2d((1, 1)), "AdaptiveAvgPool2d(output_size=(1, 1))"),
        (lambda: nn.Embedding(5, 2, padding_idx=-1), "Embedding(5, 2, padding_idx=4)"),
        (
            lambda: nn.ConvTranspose2d(2, 2, 3, output_padding=1, stride=2),
            "ConvTranspose2d(2, 2, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))",
        ),
        (lambda: nn.Upsample(scale_factor=2), "Upsample(scale_factor=2.0, mode='nearest')"),
        (lambda: nn.CrossEntropyLoss(), "CrossEntropyLoss()"),
        (lambda: nn.ReflectionPad2d(1), "ReflectionPad2d((1, 1, 1, 1))"),
        (lambda: nn.ConstantPad1d(2, 1.5), "ConstantPad1d(padding=(2, 2), value=1.5)"),
    ],
)
def test_layers_print_as_in_pytorch(layer, text):
    assert repr(layer()) == text
