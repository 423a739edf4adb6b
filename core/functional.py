"""Functions of the main namespace that are made of operators: calling forms, shapes and tuples that the tables cannot say."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from trine import _C, _ops

from .overrides import overridable

__all__ = [
    "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
    "complex", "einsum", "meshgrid", "nonzero", "norm", "polar", "split", "tensordot", "unique", "unique_consecutive",
]  # fmt: skip

Tensor = _C.Tensor


def _tensors(args: tuple) -> tuple[Tensor, ...]:
    """Tensors given one by one or as one sequence."""
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else args


def asarray(
    obj: Any, *, dtype: _C.dtype | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """``obj`` (a tensor, an array, a buffer, numbers or sequences of them) as a tensor.

    Memory is shared where dtype and device allow it, always copied with ``copy=True``, and ValueError is raised where a copy is
    needed with ``copy=False``.

    >>> import trine
    >>> trine.asarray([1, 2])
    tensor([1, 2])
    """
    if copy is False and not (isinstance(obj, Tensor) or hasattr(obj, "__array_interface__")):
        raise ValueError(f"asarray: a {type(obj).__name__} cannot become a tensor without a copy, and copy=False was given")
    t = _C.as_tensor(obj, dtype=dtype, device=device)
    shared = t is obj or (hasattr(obj, "__array_interface__") and t.data_ptr() == obj.__array_interface__["data"][0])
    if copy is False and not shared:
        raise ValueError("asarray: the dtype or device asked for takes a copy, and copy=False was given")
    if copy and shared:
        t = t.clone()
    return t.detach().requires_grad_() if requires_grad else t


def broadcast_shapes(*shapes: int | Sequence[int]) -> _C.Size:
    """The shape that tensors of ``shapes`` broadcast to. RuntimeError when they do not fit together.

    >>> import trine
    >>> trine.broadcast_shapes((2, 1), (3,), (1, 1))
    torch.Size([2, 3])
    """
    dims = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result: list[int] = []
    for column in itertools.zip_longest(*(reversed(d) for d in dims), fillvalue=1):
        sizes = {n for n in column if n != 1}
        if len(sizes) > 1 or any(n < 0 for n in sizes):
            raise RuntimeError(f"broadcast_shapes: the shapes {', '.join(map(str, dims))} do not broadcast to one shape")
        result.append(sizes.pop() if sizes else 1)
    return _C.Size(reversed(result))


@overridable
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of the tensors expanded to their common shape.

    >>> import trine
    >>> [t.shape for t in trine.broadcast_tensors(trine.ones(3, 1), trine.ones(2))]
    [torch.Size([3, 2]), torch.Size([3, 2])]
    """
    given = _tensors(tensors)
    shape = broadcast_shapes(*(t.shape for t in given))
    return tuple(t.expand(shape) for t in given)


@overridable
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinate grids of 0-dim or 1-dim tensors: as many grids as tensors, each of shape ``(len of each)``.

    ``indexing="xy"`` swaps the first two dimensions, as pictures are laid out; the default is ``"ij"``.

    >>> import trine
    >>> x, y = trine.meshgrid(trine.tensor([1, 2]), trine.tensor([3, 4, 5]), indexing="ij")
    >>> x
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    given = list(_tensors(tensors))
    if not given:
        raise ValueError("meshgrid expects a non-empty TensorList")
    for t in given:
        if t.dim() > 1:
            raise RuntimeError(f"meshgrid: expected scalar or 1D tensors, got one of shape {tuple(t.shape)}")
    swap = indexing == "xy" and len(given) > 1  # rows are counted by the second coordinate then
    if swap:
        given[0], given[1] = given[1], given[0]
    sizes = [t.numel() for t in given]
    grids = [t.reshape([1] * i + [-1] + [1] * (len(given) - i - 1)).expand(sizes) for i, t in enumerate(given)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@overridable
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of 1-dim tensors: shape ``(product of lengths, number of tensors)``.

    >>> import trine
    >>> trine.cartesian_prod(trine.tensor([1, 2]), trine.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    given = _tensors(tensors)
    for t in given:
        if t.dim() != 1:
            raise RuntimeError(f"cartesian_prod: expected 1D vectors, got one of shape {tuple(t.shape)}")
    if len(given) == 1:
        return given[0]
    return _ops.stack([g.flatten() for g in meshgrid(*given, indexing="ij")], -1)


def _at_least(tensors: tuple, shape_up: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return shape_up(tensors[0])
    return tuple(shape_up(t) for t in _tensors(tensors))


@overridable
def atleast_1d(*tensors: Tensor) -> Any:
    """Each tensor with at least one dimension; one tensor for one, a tuple for several."""
    return _at_least(tensors, lambda t: t if t.dim() else t.reshape(1))


@overridable
def atleast_2d(*tensors: Tensor) -> Any:
    """Each tensor with at least two dimensions: a vector becomes a row.

    >>> import trine
    >>> trine.atleast_2d(trine.ones(3)).shape
    torch.Size([1, 3])
    """
    return _at_least(tensors, lambda t: t.reshape(1, 1) if t.dim() == 0 else t.unsqueeze(0) if t.dim() == 1 else t)


@overridable
def atleast_3d(*tensors: Tensor) -> Any:
    """Each tensor with at least three dimensions: a vector of n becomes ``(1, n, 1)``, a matrix gains a last dimension."""

    def shape_up(t: Tensor) -> Tensor:
        if t.dim() == 0:
            return t.reshape(1, 1, 1)
        if t.dim() == 1:
            return t.unsqueeze(0).unsqueeze(-1)
        return t.unsqueeze(-1) if t.dim() == 2 else t

    return _at_least(tensors, shape_up)


@overridable
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices (vectors count as rows) along its diagonal, zeros elsewhere.

    >>> import trine
    >>> trine.block_diag(trine.tensor([[1]]), trine.tensor([[2, 3]]))
    tensor([[1, 0, 0],
            [0, 2, 3]])
    """
    blocks = [atleast_2d(t) for t in tensors]
    for t in blocks:
        if t.dim() > 2:
            raise RuntimeError(f"block_diag: tensors must have at most two dimensions, got one of shape {tuple(t.shape)}")
    if not blocks:
        return _ops.empty((1, 0))
    width = sum(t.size(1) for t in blocks)
    rows, left = [], 0
    for t in blocks:
        height, right = t.size(0), width - left - t.size(1)
        rows.append(_ops.cat([t.new_zeros((height, left)), t, t.new_zeros((height, right))], 1))
        left += t.size(1)
    return _ops.cat(rows, 0)


@overridable
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its parts, two float32 or two float64 tensors of one shape.

    >>> import trine
    >>> trine.complex(trine.tensor([1.0, 2.0]), trine.tensor([0.0, -1.0]))
    tensor([1.+0.j, 2.-1.j])
    """
    if real.dtype != imag.dtype or real.dtype not in (_C.float32, _C.float64):
        raise RuntimeError(f"complex: expected both inputs to be Float or Double tensors of one dtype, got {real.dtype} and {imag.dtype}")
    result = _ops.view_as_complex(_ops.stack(broadcast_tensors(real, imag), -1))
    return result if out is None else out.copy_(result)


@overridable
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from absolute value and angle in radians.

    >>> import trine
    >>> trine.polar(trine.tensor([2.0]), trine.tensor([0.0]))
    tensor([2.+0.j])
    """
    return complex(abs * angle.cos(), abs * angle.sin(), out=out)


@overridable
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of ``tensor`` along ``dim``: of one size each (the last may be smaller), or of the listed sizes.

    >>> import trine
    >>> trine.split(trine.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return _ops.split(tensor, split_size_or_sections, dim)


@overridable
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums the products over several dimensions of both: the last ``dims`` of ``a`` with the first of ``b``, or two lists.

    >>> import trine
    >>> trine.tensordot(trine.ones(2, 3, 4), trine.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects 0 <= dims <= {min(a.dim(), b.dim())} for these tensors, but got dims={dims}")
        of_a, of_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        of_a, of_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    result = _ops.tensordot(a, b, of_a, of_b)
    return result if out is None else out.copy_(result)


def _letters(number: int) -> str:
    if not 0 <= number < 52:
        raise ValueError(f"einsum: subscripts in the sublist format must be within [0, 52), got {number}")
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _from_sublists(args: tuple) -> tuple[str, list]:
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as an equation and its operands."""

    def term(sublist: Sequence) -> str:
        return "".join("..." if s is Ellipsis else _letters(s) for s in sublist)

    pairs, output = (args[:-1], args[-1]) if len(args) % 2 else (args, None)
    equation = ",".join(term(s) for s in pairs[1::2])
    return (equation if output is None else f"{equation}->{term(output)}"), list(pairs[::2])


@overridable
def einsum(*args: Any) -> Tensor:
    """Sums of products in Einstein's notation: ``einsum("ij,jk->ik", a, b)`` is a matrix product.

    Letters name dimensions; those that the result does not name are summed over; ``...`` stands for any others. Without
    ``->`` the letters that occur once remain, in alphabetical order. Operands follow one by one or as a list; sublists
    of numbers may stand for the letters. RuntimeError when sizes or letters do not fit.

    >>> import trine
    >>> trine.einsum("bij,bjk->bik", trine.ones(2, 3, 4), trine.ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """
    if not args:
        raise ValueError(
            "einsum: must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], list(_tensors(args[1:]))
    return _ops.einsum(equation, operands)


@overridable
def norm(
    input: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None,
    dtype: _C.dtype | None = None,
) -> Tensor:  # fmt: skip
    """The p-norm of all elements, or of those along ``dim``; ``p`` is a number, ``inf``, "fro" (2), or "nuc": the sum of
    the singular values of a matrix, or of those along two dims.

    >>> import trine
    >>> trine.norm(trine.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if p == "nuc":
        dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
        return _ops.linalg_matrix_norm(input, "nuc", tuple(dims), keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: p must be a number, 'fro' or 'nuc', got {p!r}")
    result = _ops.norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)


@overridable
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Positions of the elements that are not zero: a row `(number, dims)` each, or with ``as_tuple`` one tensor for each dim.

    >>> import trine
    >>> trine.nonzero(trine.tensor([0, 2, 3]), as_tuple=True)
    (tensor([1, 2]),)
    """
    if as_tuple:
        return tuple(_ops.nonzero_numpy(input))
    return _ops.nonzero(input) if out is None else _ops.nonzero(input, out=out)


def _asked(results: tuple, inverse: bool, counts: bool) -> Any:
    values, inverses, numbers = results
    asked = (values, *((inverses,) if inverse else ()), *((numbers,) if counts else ()))
    return asked if len(asked) > 1 else values


@overridable
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The distinct elements, or slices along ``dim``, in rising order.

    With ``return_inverse`` also where each element of ``input`` is found among them, with ``return_counts`` how often each
    occurs.

    >>> import trine
    >>> trine.unique(trine.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        return _asked(_ops._unique2(input, sorted, return_inverse, return_counts), return_inverse, return_counts)
    return _asked(_ops._unique_dim(input, dim, sorted, return_inverse, return_counts), return_inverse, return_counts)


def _consecutive_slices(input: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    count = input.size(dim)
    if count and not input.numel():
        raise RuntimeError(
            "unique_consecutive: there are 0 sized dimensions, and they aren't the selected one, so unique cannot be applied"
        )
    slices = input.detach().movedim(dim, 0).reshape(count, -1 if count else 0)
    first = _ops.ones(count, dtype=_C.bool, device=input.device)
    if count:
        first[1:] = (slices[1:] != slices[:-1]).any(1)
    starts = first.nonzero().flatten()
    ends = _ops.cat([starts[1:], starts.new_full((min(count, 1),), count)])
    return input.index_select(dim, starts), first.cumsum(0) - 1, ends - starts


@overridable
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The elements of the flattened tensor, or slices along ``dim``, without those that equal the one before them.

    Arguments as in :func:`unique`.

    >>> import trine
    >>> trine.unique_consecutive(trine.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    if dim is not None:
        return _asked(_consecutive_slices(input, dim), return_inverse, return_counts)
    return _asked(_ops._unique_consecutive(input, return_inverse, return_counts), return_inverse, return_counts)
