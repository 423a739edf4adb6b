"""Classes with ``__torch_function__`` answer for themselves."""

from __future__ import annotations

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
