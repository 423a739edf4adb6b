"""The graph of a model: its modules as they call each other on an example, and how tensors go from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import trine
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

__all__ = ["model_graph"]


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, trine.Tensor):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _tensors(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _tensors(entry)


def _shapes(tensors: list[Any]) -> Any:
    shapes = [TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in t.shape]) for t in tensors]
    return AttrValue(list=AttrValue.ListValue(shape=shapes))


class _Recorder:
    """Notes, while the model runs, which module made which tensor."""

    def __init__(self, model: Any) -> None:
        self.nodes: list[Any] = []
        self._root = type(model).__name__
        self._names = {module: f"{self._root}/{name.replace('.', '/')}" if name else self._root for name, module in model.named_modules()}
        self._is_leaf = {module: not any(True for _ in module.children()) for module in self._names}
        self._made_by: dict[int, str] = {}
        self._alive: list[Any] = []  # an identity means a tensor as long as it lives
        self._used: dict[str, int] = {}

    def made(self, name: str, tensors: list[Any]) -> None:
        self._alive += tensors
        self._made_by.update((id(t), name) for t in tensors)

    def sources(self, tensors: list[Any]) -> list[str]:
        return list(dict.fromkeys(self._made_by[id(t)] for t in tensors if id(t) in self._made_by))

    def add(self, name: str, op: str, inputs: list[Any], outputs: list[Any], text: str = "") -> None:
        count = self._used[name] = self._used.get(name, 0) + 1
        name = name if count == 1 else f"{name}_{count}"  # called again
        attributes = {"_output_shapes": _shapes(outputs)}
        if text:
            attributes["attr"] = AttrValue(s=text.encode())
        self.nodes.append(NodeDef(name=name, op=op, input=self.sources(inputs), attr=attributes))
        self.made(name, outputs)

    def hook(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        inputs, outputs = [*_tensors(args), *_tensors(kwargs)], list(_tensors(output))
        # What a module does to its children's results itself shows as a node of its own.
        own = [t for t in outputs if id(t) not in self._made_by]
        if self._is_leaf[module]:
            self.add(self._names[module], type(module).__name__, inputs, outputs, module.extra_repr())
        elif own:
            known = [t for t in self._alive if self._made_by.get(id(t), "").startswith(self._names[module] + "/")]
            self.add(f"{self._names[module]}/result", type(module).__name__, known[-1:] or inputs, own)


def model_graph(model: Any, inputs: Any, verbose: bool) -> Any:
    """Graph of ``model(*inputs)``, which runs once, in evaluation mode and without gradients."""
    args = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    recorder = _Recorder(model)
    for i, example in enumerate(_tensors(args)):
        recorder.add(f"input/{i}", "Input", [], [example])
    handles = [module.register_forward_hook(recorder.hook, with_kwargs=True) for module in recorder._names]
    training = {module: module.training for module in recorder._names}
    try:
        model.eval()
        with trine.no_grad():
            result = model(*args)
    finally:
        for handle in handles:
            handle.remove()
        for module, was in training.items():
            module.training = was
    for i, output in enumerate(_tensors(result)):
        recorder.add(f"output/{i}", "Output", [output], [output])
    graph = GraphDef(node=recorder.nodes, versions=VersionDef(producer=22))
    if verbose:
        print(graph)
    return graph
