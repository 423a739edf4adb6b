"""Classes with ``__torch_function__`` answer for themselves."""

from __future__ import annotations

import threading

import pytest
import trine


class Logged(trine.Tensor):
    """A subclass that notes what it is asked."""

    calls: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Plain(trine.Tensor):
    pass


class Diagonal:
    """A foreign class: a number on the diagonal."""

    def __init__(self, value, size):
        self.value, self.size = value, size

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (trine.Tensor, Diagonal)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


HANDLED = {}


def handles(function):
    def register(handler):
        HANDLED[function] = handler
        return handler

    return register


@handles(trine.mean)
def mean(input):
    return input.value / input.size


@handles(trine.add)
def add(a, b):
    return "added"


@handles(trine.stack)
def stack(tensors, dim=0):
    return f"stacked {len(tensors)} along {dim}"


@handles(trine.tensordot)
def tensordot(a, b, dims=2, out=None):
    return f"dotted {dims}"


def test_results_of_a_subclass_are_of_the_subclass():
    t = trine.ones(2).as_subclass(Plain)
    assert type(t + 1) is type(1 + t) is type(t * t) is type(t.exp()) is type(trine.exp(t)) is Plain
    assert type(t[0]) is type(t.sum()) is type(t.view(2, 1)) is type(t.detach()) is Plain
    assert type(trine.ones(2) + t) is Plain
    assert all(type(x) is Plain for x in t.unbind())
    assert type(t.view(1, 2).max(dim=1).values) is Plain
    assert type(trine.cat([t, trine.ones(1)])) is Plain
    assert t.tolist() == [1, 1] and t.shape == (2,)


def test_attributes_and_slots_of_a_subclass():
    class Named(trine.Tensor):
        def __new__(cls, data, name):
            made = trine.Tensor._make_subclass(cls, trine.tensor(data))
            made.name_ = name
            return made

    t = Named([1.0], "mine")
    assert t.name_ == "mine" and isinstance(t, trine.Tensor) and (t + 1).tolist() == [2.0]


def test_an_override_sees_functions_methods_and_operators():
    t = trine.ones(2).as_subclass(Logged)
    Logged.calls.clear()
    _ = trine.exp(t)
    _ = t.exp()
    _ = t + 1
    _ = t[0]
    assert Logged.calls[:2] == ["exp", "exp"]
    assert len(Logged.calls) == 4
    assert "add" in Logged.calls[2] and "getitem" in Logged.calls[3]


def test_an_override_sees_methods_written_in_python():
    t = trine.tensor([3.0]).as_subclass(Logged)
    Logged.calls.clear()
    t.split(1)
    assert Logged.calls == ["split"]
    Logged.calls.clear()
    repr(t)
    assert "__repr__" in Logged.calls


def test_foreign_objects_answer_for_functions():
    d = Diagonal(4.0, 2)
    assert trine.mean(d) == 2.0
    assert trine.add(d, trine.ones(1)) == trine.add(trine.ones(1), d) == "added"
    assert trine.stack([trine.ones(1), d], dim=1) == "stacked 2 along 1"
    assert trine.tensordot(d, trine.ones(1), dims=1) == "dotted 1"


def test_no_answer_is_a_type_error_that_names_function_and_types():
    with pytest.raises(TypeError, match=r"(?s)exp.*__torch_function__.*Diagonal"):
        trine.exp(Diagonal(1.0, 2))


def test_subclasses_are_asked_before_their_base_classes():
    order = []

    class Base(trine.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append(cls.__name__)
            return NotImplemented

    class Derived(Base):
        pass

    a, b = trine.ones(1).as_subclass(Base), trine.ones(1).as_subclass(Derived)
    with pytest.raises(TypeError):
        trine.add(a, b)
    assert order == ["Derived", "Base"]


def test_siblings_do_not_understand_each_other():
    class A(trine.Tensor):
        pass

    class B(trine.Tensor):
        pass

    with pytest.raises(TypeError, match="__torch_function__"):
        trine.add(trine.ones(1).as_subclass(A), trine.ones(1).as_subclass(B))


def test_gradients_flow_through_subclasses():
    x = trine.ones(2, requires_grad=True)
    y = x.as_subclass(Plain)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_parameters_are_plain_tensors_to_functions():
    p = trine.nn.Parameter(trine.ones(2))
    assert type(p + 1) is trine.Tensor and type(p.exp()) is trine.Tensor and type(p[0]) is trine.Tensor


def test_questions_of_the_protocol():
    o = trine.overrides
    assert o.has_torch_function([1, Diagonal(1, 2)]) and not o.has_torch_function([trine.ones(1), 2])
    assert o.is_tensor_like(Diagonal(1, 2)) and o.is_tensor_like(trine.ones(1)) and not o.is_tensor_like(3)
    assert o.resolve_name(trine.add) == "torch.add"

    def public(a):
        return o.handle_torch_function(public, (a,), a) if o.has_torch_function((a,)) else "default"

    HANDLED[public] = lambda a: "mine"
    assert public(Diagonal(1, 2)) == "mine" and public(3) == "default"


def test_metadata_tensor_of_pytorchs_documentation():
    class MetadataTensor:
        def __init__(self, data, metadata=None):
            self._t, self._metadata = trine.as_tensor(data), metadata

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            metadatas = tuple(a._metadata for a in args if hasattr(a, "_metadata"))
            args = [getattr(a, "_t", a) for a in args]
            return MetadataTensor(func(*args, **(kwargs or {})), metadata=metadatas[0])

    result = trine.add(MetadataTensor([1, 2], "first"), MetadataTensor([3, 4], "second"))
    assert result._metadata == "first" and result._t.tolist() == [4, 6]


# ---- modes ---------------------------------------------------------------------------------------------------------------


class Log(trine.overrides.TorchFunctionMode):
    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append((func.__name__, tuple(types)))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_functions_operators_methods_and_factories():
    with Log() as log:
        x = trine.ones(2) + 1
        x[0] = x[1] * 2
        x.mul_(3)
        x.neg()
        trine.tensor([1.0])
        trine.nn.functional.linear(x, trine.eye(2))
    names = [name for name, _ in log.calls]
    assert names == ["ones", "add", "__getitem__", "mul", "__setitem__", "mul_", "neg", "tensor", "eye", "linear"]
    calls = len(log.calls)
    trine.ones(2)
    assert len(log.calls) == calls


def test_modes_nest_and_are_told_the_overriding_types():
    class Sub(trine.Tensor):
        pass

    x = trine.ones(2).as_subclass(Sub)
    with Log() as outer, Log() as inner:
        y = x + 1
    assert inner.calls == outer.calls == [("add", (Sub,))] and type(y) is Sub


def test_a_mode_may_replace_results_or_decline():
    class Answer(trine.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 42 if func.__name__ == "ones" else NotImplemented

    with Answer():
        assert trine.ones(3) == 42
        with pytest.raises(TypeError, match=r"no implementation found for 'torch\.zeros'"):
            trine.zeros(3)
    assert trine.zeros(1).tolist() == [0.0]


def test_a_mode_ends_with_an_exception_of_its_handler():
    with pytest.raises(NotImplementedError, match="TorchFunctionMode"), trine.overrides.TorchFunctionMode():
        trine.ones(1)
    assert trine.ones(1).tolist() == [1.0]
    with trine.overrides.BaseTorchFunctionMode():
        assert trine.ones(1).tolist() == [1.0]


def test_a_mode_belongs_to_its_thread():
    seen = []
    with Log() as log:
        thread = threading.Thread(target=lambda: seen.append(trine.ones(1).tolist()))
        thread.start()
        thread.join()
    assert seen == [[1.0]] and log.calls == []


# ---- the default device --------------------------------------------------------------------------------------------------


def test_a_device_as_a_region_takes_what_is_made_out_of_nothing():
    nn = trine.nn
    with trine.device("meta"):
        layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LSTM(4, 4), nn.MultiheadAttention(4, 2), nn.Embedding(3, 4))
        made = [
            trine.zeros(2),
            trine.rand(2),
            trine.tensor([1]),
            trine.as_tensor([1.0]),
            trine.eye(2),
            trine.arange(3),
            trine.hann_window(4),
        ]
        here = trine.ones(2, device="cpu")
        assert {here.device.type, trine.zeros_like(here).device.type, here.new_ones(2).device.type} == {"cpu"}
        with trine.device("cpu"):
            assert trine.ones(1).device.type == "cpu"
        assert trine.get_default_device() == trine.device("meta")
    assert {t.device.type for t in (*made, *layers.parameters(), *layers.buffers())} == {"meta"}
    assert trine.get_default_device() == trine.ones(1).device == trine.device("cpu")


def test_the_default_device_of_a_thread():
    try:
        trine.set_default_device("meta")
        assert trine.ones(1).is_meta
        with trine.device("cpu"):
            assert not trine.ones(1).is_meta
            trine.set_default_device(None)  # holds after the region
            assert not trine.ones(1).is_meta
        assert not trine.ones(1).is_meta
        with pytest.raises(TypeError, match=r"must be torch\.device, not float"):
            trine.set_default_device(1.5)
    finally:
        trine.set_default_device(None)
