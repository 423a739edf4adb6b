"""Derivatives as functions of functions: grad, vjp, jvp, jacrev, jacfwd, hessian.

Each call differentiates with respect to copies of its arguments (views, so that an outer transform sees through them). Under vmap the copies
are made different for each element, so that a parameter that all elements share has a gradient of its own for each.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trine import _C, _ops

from ..autograd import forward_ad
from ..autograd._run import grad as run_grad
from ..autograd.grad_mode import enable_grad
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from ._vmap import hide, vmap

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]

Tensor = _C.Tensor
Argnums = int | tuple[int, ...]
_state = threading.local()


@contextlib.contextmanager
def _transform() -> Iterator[None]:
    """Marks a reverse transform in progress: what runs inside keeps its graph for it."""
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        with enable_grad():
            yield
    finally:
        _state.depth -= 1


def _nested() -> bool:
    return getattr(_state, "depth", 0) > 0


def _fresh(t: Tensor) -> Tensor:
    """A copy to differentiate by: different for each element of the vmaps in progress, and connected to the argument."""
    own = _C._batch_levels(t)
    for level, size in _C._vmaps():
        if level not in own:
            t = hide(t.unsqueeze(0).expand(size, *t.shape), 0, level)
    if t.requires_grad:
        return t.view_as(t)
    value, tangent = forward_ad.unpack_dual(t)
    fresh = value.detach().requires_grad_()
    fresh._made_by_transform = True
    return fresh if tangent is None else forward_ad.make_dual(fresh, tangent)


def _check_tensors(name: str, tree: Any, what: str) -> None:
    for leaf in tree_leaves(tree):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: Expected {what} to be a tensor or a (nested) container of tensors, got {type(leaf)}")


def _reaches_other_leaves(outputs: list[Tensor]) -> bool:
    """Whether the graph of the outputs ends in leaves beside the transforms' copies: then somebody differentiates further."""
    seen: set[int] = set()
    stack = [t.grad_fn for t in outputs if t.grad_fn is not None]
    keep = []
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        keep.append(node)
        variable = getattr(node, "variable", None)
        if variable is not None and not hasattr(variable, "_made_by_transform"):
            return True
        stack += [n for n, _ in node.next_functions if n is not None]
    return False


def _gradients(outputs: list[Tensor], inputs: list[Tensor], vectors: list[Tensor] | None, create_graph: bool) -> list[Tensor]:
    pairs = [(o, None if vectors is None else vectors[i]) for i, o in enumerate(outputs) if o.requires_grad]
    found: tuple = (None,) * len(inputs)
    if pairs and inputs:
        found = run_grad(
            [o for o, _ in pairs], inputs, [v for _, v in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True
        )
    return [_ops.zeros_like(t) if g is None else g for g, t in zip(found, inputs, strict=True)]


def _cut(tree: Any) -> Any:
    """Results without a graph. Within a forward pass they keep their tangents."""
    if forward_ad._levels.current >= 0:
        return tree
    return tree_map(lambda t: t.detach() if isinstance(t, Tensor) else t, tree)


def _argnums(argnums: Argnums, count: int, name: str) -> tuple[int, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(f"{name}: argnums must be int or Tuple[int, ...], got: {argnums}")
    for n in numbers:
        if not -count <= n < count:
            raise RuntimeError(f"{name}: Got argnum={n}, but only {count} positional inputs")
    numbers = tuple(n % count for n in numbers)
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"{name}: argnums elements must be unique, got {argnums}")
    return numbers


def _split_aux(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def grad_and_value(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradient of ``func`` and its value (with ``has_aux``: the pair of value and the rest).

    See :func:`grad`.
    """

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = _argnums(argnums, len(args), "grad")
        outer = _nested() or any(t.requires_grad for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor))
        with _transform():
            given = list(args)
            for n in numbers:
                _check_tensors("grad_and_value", given[n], "the arguments in argnums")
                given[n] = tree_map(_fresh, given[n])
            output, aux = _split_aux("grad_and_value", func(*given, **kwargs), has_aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Maybe you "
                    "wanted to use the vjp or jacrev APIs instead?"
                )
            leaves, spec = tree_flatten(tuple(given[n] for n in numbers))
            outer = outer or _reaches_other_leaves([output])
            found = _gradients([output], leaves, None, outer)
        grads = tree_unflatten(found, spec)
        if isinstance(argnums, int):
            grads = grads[0]
        if not outer:
            output, aux = _cut(output), _cut(aux)
        return grads, ((output, aux) if has_aux else output)

    return call


def grad(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradient of ``func``, which returns a single number, by its arguments ``argnums``.

    The gradient has the structure of the argument (a tensor, or nested containers of tensors); several argnums give a tuple. With
    ``has_aux`` the function returns a pair, of which the second part is handed on. RuntimeError for results of other shapes.

    >>> import trine
    >>> trine.func.grad(lambda x: (x**3).sum())(trine.tensor([1.0, 2.0]))
    tensor([ 3., 12.])
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """``(func(*primals), f)`` where ``f`` maps a cotangent of the result's structure to the tuple of the primals' gradients.

    With ``has_aux`` also what the function returns beside its result.

    >>> import trine
    >>> value, f = trine.func.vjp(lambda x: x * x, trine.tensor([1.0, 2.0]))
    >>> f(trine.ones(2))
    (tensor([2., 4.]),)
    """
    _check_tensors("vjp(f, *primals)", primals, "all primals")
    outer = _nested() or any(t.requires_grad for t in tree_leaves(primals))
    with _transform():
        given = tree_map(_fresh, primals)
        output, aux = _split_aux("vjp", func(*given), has_aux)
        _check_tensors("vjp(f, *primals)", output, "f(*primals)")
        outputs, out_spec = tree_flatten(output)
        inputs, in_spec = tree_flatten(given)
        outer = outer or _reaches_other_leaves(outputs)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors, spec = tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {spec}, primal output: {out_spec}"
            )
        again = outer or _nested() or any(v.requires_grad for v in vectors)
        with enable_grad():
            found = _gradients(outputs, inputs, vectors, again)
        result = tree_unflatten(found, in_spec)
        return result

    shown = output if outer else _cut(output)
    return (shown, pull, aux if outer else _cut(aux)) if has_aux else (shown, pull)


def jvp(func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """``(func(*primals), derivative in the direction of the tangents)``; ``primals`` and ``tangents`` are tuples of one structure.

    >>> import trine
    >>> trine.func.jvp(lambda x: x * x, (trine.tensor(3.0),), (trine.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to be tuples. E.g. it should be valid to call f(*primals)."
        )
    flat, spec = tree_flatten(primals)
    directions, other = tree_flatten(tangents)
    if spec != other:
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals and tangents to have the same python structure, got {spec} and {other}"
        )
    _check_tensors("jvp(f, primals, tangents)", (primals, tangents), "primals and tangents")
    if forward_ad._levels.current >= 0:
        return _jvp_by_vjp(func, flat, spec, directions, has_aux)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(p.view_as(p), t) for p, t in zip(flat, directions, strict=True)]
        output, aux = _split_aux("jvp", func(*tree_unflatten(duals, spec)), has_aux)
        _check_tensors("jvp(f, primals, tangents)", output, "f(*primals)")
        parts = tree_map(forward_ad.unpack_dual, output)
        leaves, out_spec = tree_flatten(parts, is_leaf=lambda x: hasattr(x, "tangent"))
        values = tree_unflatten([p.primal for p in leaves], out_spec)
        moved = tree_unflatten([_ops.zeros_like(p.primal) if p.tangent is None else p.tangent for p in leaves], out_spec)
        if has_aux:
            aux = tree_map(lambda t: forward_ad.unpack_dual(t).primal if isinstance(t, Tensor) else t, aux)
    outer = _nested() or any(t.requires_grad for t in (*flat, *directions))
    if not outer and not _reaches_other_leaves([t for t in tree_leaves((values, moved)) if isinstance(t, Tensor)]):
        values, moved, aux = _cut(values), _cut(moved), _cut(aux)
    return (values, moved, aux) if has_aux else (values, moved)


def _jvp_by_vjp(func: Callable, flat: list[Tensor], spec: Any, directions: list[Tensor], has_aux: bool) -> tuple:
    """Forward mode inside forward mode: the vjp is linear in its vector, and its own vjp is the jvp."""
    with _transform():
        given = [_fresh(t) for t in flat]
        output, aux = _split_aux("jvp", func(*tree_unflatten(given, spec)), has_aux)
        outputs, out_spec = tree_flatten(output)
        dummies = [_ops.zeros_like(o).requires_grad_() for o in outputs]
        rows = _gradients(outputs, given, dummies, True)
        moved = _gradients(rows, dummies, directions, True)
    values, products = output, tree_unflatten(moved, out_spec)
    return (values, products, aux) if has_aux else (values, products)


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """``(func(*primals), f)`` where ``f(*tangents)`` is the derivative at the primals in that direction."""
    output = func(*primals)
    return output, lambda *tangents: jvp(func, primals, tangents)[1]


def _basis(tensors: list[Tensor]) -> list[Tensor]:
    """Unit tensors of all elements of all tensors together: one tensor (elements, *shape) for each."""
    total = sum(t.numel() for t in tensors)
    basis, start = [], 0
    for t in tensors:
        unit = _ops.zeros(total, t.numel(), dtype=t.dtype, device=t.device)
        unit.diagonal(-start).fill_(1)
        basis.append(unit.view(total, *t.shape))
        start += t.numel()
    return basis


def _of_chosen(func: Callable, numbers: Sequence[int], args: tuple, kwargs: dict) -> tuple[Callable, tuple]:
    """``func`` of its arguments of these numbers alone, and those arguments."""

    def of_chosen(*chosen: Any) -> Any:
        given = list(args)
        for n, value in zip(numbers, chosen, strict=True):
            given[n] = value
        return func(*given, **kwargs)

    return of_chosen, tuple(args[n] for n in numbers)


def jacrev(
    func: Callable, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None, _preallocate_and_copy: bool = False
) -> Callable:
    """A function that gives the Jacobian of ``func`` by its arguments ``argnums``, computed row by row in one batched backward pass.

    The Jacobian of a result of shape S by an argument of shape T has the shape (*S, *T); results and arguments may be nested
    containers. ``chunk_size`` rows are computed at a time.

    >>> import trine
    >>> trine.func.jacrev(lambda x: x * x)(trine.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = _argnums(argnums, len(args), "jacrev")

        of_chosen, primals = _of_chosen(func, numbers, args, kwargs)
        result = vjp(of_chosen, *primals, has_aux=has_aux)
        output, pull = result[0], result[1]
        outputs, out_spec = tree_flatten(output)
        inputs, in_spec = tree_flatten(primals)
        rows = (
            vmap(lambda *v: tuple(tree_leaves(pull(tree_unflatten(list(v), out_spec)))), chunk_size=chunk_size)(*_basis(outputs))
            if outputs
            else ()
        )
        blocks, start = [], 0
        for o in outputs:
            by_input = [r.narrow(0, start, o.numel()).reshape(*o.shape, *i.shape) for r, i in zip(rows, inputs, strict=True)]
            block = tree_unflatten(by_input, in_spec)
            blocks.append(block[0] if isinstance(argnums, int) else block)
            start += o.numel()
        jacobian = tree_unflatten(blocks, out_spec)
        return (jacobian, result[2]) if has_aux else jacobian

    return call


def jacfwd(
    func: Callable, argnums: Argnums = 0, has_aux: bool = False, *, chunk_size: int | None = None, randomness: str = "error"
) -> Callable:
    """The same as :func:`jacrev`, computed column by column in forward mode: for functions with few inputs and many results."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = _argnums(argnums, len(args), "jacfwd")

        of_chosen, primals = _of_chosen(func, numbers, args, kwargs)
        inputs, in_spec = tree_flatten(primals)
        seen: list = []

        def column(*tangents: Tensor) -> tuple:
            result = jvp(of_chosen, primals, tree_unflatten(list(tangents), in_spec), has_aux=has_aux)
            leaves, spec = tree_flatten(result[1])
            seen[:] = [spec, result[2] if has_aux else None]
            return tuple(leaves)

        columns = vmap(column, chunk_size=chunk_size, randomness=randomness)(*_basis(inputs))
        out_spec, aux = seen
        blocks = []
        for c in columns:
            shape, start, by_input = c.shape[1:], 0, []
            for i in inputs:
                part = c.narrow(0, start, i.numel()).movedim(0, -1).reshape(*shape, *i.shape)
                by_input.append(part)
                start += i.numel()
            block = tree_unflatten(by_input, in_spec)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        jacobian = tree_unflatten(blocks, out_spec)
        return (jacobian, aux) if has_aux else jacobian

    return call


def hessian(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that gives the second derivatives of ``func``: for a single result by an argument of shape T, (*T, *T).

    >>> import trine
    >>> trine.func.hessian(lambda x: (x**3).sum())(trine.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
