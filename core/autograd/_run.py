"""``backward`` and ``grad``: from tensors and incoming gradients to the engine."""

from __future__ import annotations

from collections.abc import Sequence

from trine import _C

__all__ = ["backward", "grad"]

Tensor = _C.Tensor


def _tuple(tensors: object) -> tuple:
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)  # type: ignore[arg-type]


def _first_gradient(out: Tensor, given: Tensor | None, number: int) -> Tensor | None:
    """The gradient that enters at ``out``: the given one, checked, or None for a real scalar, which stands for 1."""
    if given is None:
        if not out.requires_grad:
            return None
        if out.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not out.dtype.is_floating_point:
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
        return None  # the engine starts with 1 there
    if not isinstance(given, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    if given.shape != out.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {given.shape} and output[{number}] has a shape of {out.shape}."
        )
    if given.dtype.is_complex != out.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{number}] has a dtype of {given.dtype} and output[{number}] has a dtype of {out.dtype}."
        )
    return given


def _first_gradients(outs: tuple, given: object) -> tuple:
    gradients = (None,) * len(outs) if given is None else _tuple(given)
    if len(gradients) != len(outs):
        raise RuntimeError(f"got {len(outs)} tensors and {len(gradients)} gradients")
    return tuple(_first_gradient(out, g, i) for i, (out, g) in enumerate(zip(outs, gradients, strict=True)))


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradient of ``tensors`` to ``.grad`` of every leaf that they were computed from.

    ``grad_tensors`` holds a gradient of the shape of each tensor (None for real scalars: 1). The graph is freed as it is
    walked unless ``retain_graph`` (default: ``create_graph``); ``create_graph`` records the backward pass itself. With
    ``inputs``, only these tensors receive gradients. Raises RuntimeError when a tensor has no history or shapes differ.

    >>> import trine
    >>> x = trine.tensor([1.0, 2.0], requires_grad=True)
    >>> trine.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    targets = () if inputs is None else _tuple(inputs)
    if inputs is not None and not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outs = _tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    _C._run_backward(outs, _first_gradients(outs, grad_tensors), keep, create_graph, targets, True, True)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, leaving every ``.grad`` alone.

    Returns one tensor of the shape of each input. An input that ``outputs`` do not depend on is a RuntimeError unless
    ``allow_unused``, which gives None for it, or ``materialize_grads``, which gives zeros. The other arguments are those of
    :func:`backward`. With ``is_grads_batched`` the first dimension of every ``grad_outputs`` counts gradients, all of which are computed in
    one batched pass; the results have that dimension too.

    >>> import trine
    >>> x = trine.tensor(3.0, requires_grad=True)
    >>> trine.autograd.grad(x**2, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    outs, targets = _tuple(outputs), _tuple(inputs)
    if is_grads_batched:
        return _batched_grad(outs, targets, _tuple(grad_outputs), retain_graph, create_graph, allow_unused, materialize_grads)
    if not targets:
        raise ValueError("grad requires non-empty inputs.")
    allow = materialize_grads if allow_unused is None else allow_unused
    keep = create_graph if retain_graph is None else retain_graph
    result = _C._run_backward(outs, _first_gradients(outs, grad_outputs), keep, create_graph, targets, allow, False)
    if materialize_grads:
        zeros = _C.ops["zeros_like"]
        result = tuple(zeros(t).requires_grad_(create_graph) if g is None else g for g, t in zip(result, targets, strict=True))
    return result


def _batched_grad(
    outs: tuple, targets: tuple, vectors: tuple, retain_graph: bool | None, create_graph: bool, allow_unused: bool | None, materialize: bool
) -> tuple:
    from ..func._vmap import vmap

    unused: list[bool] = []

    def one(*rows: Tensor) -> tuple:
        found = grad(outs, targets, rows, retain_graph, create_graph, True, allow_unused, False, materialize)
        unused[:] = [g is None for g in found]
        return tuple(g for g in found if g is not None)

    computed = iter(vmap(one)(*vectors))
    return tuple(None if missing else next(computed) for missing in unused)
