"""Nested containers of anything, taken apart into their leaves and put together again: what function transforms work on."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

__all__ = [
    "LeafSpec", "TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_iter", "tree_leaves", "tree_map",
    "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip

Context = Any


class NodeDef(NamedTuple):
    """How a container type is taken apart: (children, context) of it, and it of (children, context)."""

    flatten: Callable[[Any], tuple[list, Context]]
    unflatten: Callable[[Iterable, Context], Any]


SUPPORTED_NODES: dict[type, NodeDef] = {}


def register_pytree_node(cls: type, flatten_fn: Callable, unflatten_fn: Callable, **_: Any) -> None:
    """Makes instances of ``cls`` containers: ``flatten_fn(x)`` gives children and a context, ``unflatten_fn(children, context)`` x."""
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node

register_pytree_node(list, lambda x: (x, None), lambda children, _: list(children))
register_pytree_node(tuple, lambda x: (list(x), None), lambda children, _: tuple(children))
register_pytree_node(dict, lambda x: (list(x.values()), list(x)), lambda children, keys: dict(zip(keys, children, strict=True)))
register_pytree_node(
    OrderedDict, lambda x: (list(x.values()), list(x)), lambda children, keys: OrderedDict(zip(keys, children, strict=True))
)
register_pytree_node(
    defaultdict,
    lambda x: (list(x.values()), (x.default_factory, list(x))),
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
)
register_pytree_node(deque, lambda x: (list(x), x.maxlen), lambda children, maxlen: deque(children, maxlen))
register_pytree_node(namedtuple, lambda x: (list(x), type(x)), lambda children, cls: cls(*children))  # type: ignore[arg-type]


def _node_type(x: Any) -> type | None:
    cls = type(x)
    if cls in SUPPORTED_NODES:
        return cls
    if isinstance(x, tuple) and hasattr(cls, "_fields"):
        return namedtuple  # type: ignore[return-value]
    if isinstance(x, tuple) and cls.__module__.endswith("return_types"):
        return tuple
    return None


class TreeSpec:
    """The structure of a nested container without its leaves."""

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves: int = sum(c.num_leaves for c in children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        name = getattr(self.type, "__name__", str(self.type))
        return f"TreeSpec({name}, {self.context!r}, [{', '.join(map(repr, self.children_specs))}])"


class LeafSpec(TreeSpec):
    """The structure of a single leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])
        self.num_leaves = 1

    def is_leaf(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "*"


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves of ``tree`` from left to right, and its structure."""
    node = None if is_leaf is not None and is_leaf(tree) else _node_type(tree)
    if node is None:
        return [tree], LeafSpec()
    children, context = SUPPORTED_NODES[node].flatten(tree)
    leaves: list = []
    specs = []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(node, context, specs)


def tree_unflatten(leaves: Iterable, treespec: TreeSpec) -> Any:
    """The container of structure ``treespec`` with these leaves. ValueError for another number of them."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: the structure has {treespec.num_leaves} leaves, got {len(leaves)}")
    if treespec.is_leaf():
        return leaves[0]
    children, at = [], 0
    for spec in treespec.children_specs:
        children.append(tree_unflatten(leaves[at : at + spec.num_leaves], spec))
        at += spec.num_leaves
    return SUPPORTED_NODES[treespec.type].unflatten(children, treespec.context)


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The container with ``func`` of each leaf (and of the leaves of ``rests`` at the same place) in its place."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(r, is_leaf)[0] for r in rests]
    return tree_unflatten([func(*group) for group in zip(leaves, *others, strict=True)], spec)


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Calls ``func`` on each leaf and gives the container back."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(types: Any, func: Callable, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``tree_map`` over the leaves of these types; the others stay."""
    return tree_map(lambda x: func(x) if isinstance(x, types) else x, tree, is_leaf=is_leaf)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list:
    """The leaves from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable:
    """The leaves from left to right, one by one."""
    yield from tree_leaves(tree, is_leaf)


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure alone."""
    return tree_flatten(tree, is_leaf)[1]


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list | None:
    """The leaves of ``tree``, each repeated for all leaves of ``treespec`` that stand below it; None when the two do not fit."""
    if treespec.is_leaf():
        return [tree] if _node_type(tree) is None else None
    node = _node_type(tree)
    if node is None:
        return [tree] * treespec.num_leaves
    if node is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[node].flatten(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    result: list = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec)
        if part is None:
            return None
        result += part
    return result
