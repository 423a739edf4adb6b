"""Gradients checked against differences of the function's own values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import _C, _ops

from . import forward_ad
from ._jacobians import Matrix, as_outputs, by_backward, by_differences, by_forward_mode, reals
from ._run import grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Tensor = _C.Tensor


class GradcheckError(RuntimeError):
    """A gradient is wrong; the message shows both Jacobians."""


def _differentiable(t: object) -> bool:
    return isinstance(t, Tensor) and t.requires_grad


def _tuple(inputs: object) -> tuple:
    return (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)  # type: ignore[arg-type]


def _checked_arguments(inputs: tuple) -> list[Tensor]:
    arguments = [t for t in inputs if _differentiable(t)]
    if not arguments:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
    for number, t in enumerate(inputs):
        if not _differentiable(t):
            continue
        if t.dtype not in (trine.float64, trine.complex128):
            warnings.warn(
                f"Input #{number} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex.",
                stacklevel=3,
            )
        if any(step == 0 and size > 1 for step, size in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(
                f"gradcheck: input {number} has a dimension with stride 0: its elements share memory and cannot be moved one "
                "by one. Call .contiguous() on the input before passing it to gradcheck."
            )
        t.retain_grad()
    return arguments


def _close(a: float, b: float, rtol: float, atol: float) -> bool:
    return a == b or abs(a - b) <= atol + rtol * abs(b)


def _all_close(a: Matrix, b: Matrix, rtol: float, atol: float) -> bool:
    return all(_close(x, y, rtol, atol) for row_a, row_b in zip(a, b, strict=True) for x, y in zip(row_a, row_b, strict=False))


def _project(matrix: Matrix, seed: int) -> Matrix:
    """``u' matrix v`` for fixed vectors of the same length as a matrix's sides, as a 1x1 matrix."""
    if not matrix or not matrix[0]:
        return [[0.0]]
    u = [math.cos(seed + 1.7 * i) for i in range(len(matrix))]
    v = [math.sin(seed + 2.3 * j + 0.4) for j in range(len(matrix[0]))]
    scale = math.sqrt(sum(x * x for x in u) * sum(x * x for x in v))
    return [[sum(ui * sum(m * vj for m, vj in zip(row, v, strict=True)) for ui, row in zip(u, matrix, strict=False)) / scale]]


def _show(matrix: Matrix) -> str:
    return str(trine.tensor(matrix, dtype=trine.float64).t()) if matrix and matrix[0] else "[]"


def _compare(mode: str, output: int, argument: int, numerical: Matrix, found: Matrix, rtol: float, atol: float, fast: bool) -> None:
    if fast:
        numerical, found = _project(numerical, output + argument), _project(found, output + argument)
    if not _all_close(found, numerical, rtol, atol):
        raise GradcheckError(
            f"Jacobian {mode}mismatch for output {output} with respect to input {argument},\n"
            f"numerical:{_show(numerical)}\nanalytical:{_show(found)}\n"
        )


def _check_repeatable(output: Tensor, arguments: list[Tensor], first: list[Matrix], tolerance: float) -> None:
    again = by_backward(output, arguments)
    if not all(_all_close(a, b, 0.0, tolerance) for a, b in zip(again, first, strict=True)):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient. "
            f"The tolerance for nondeterminism was {tolerance}."
        )


def _check_kinds(outputs: tuple, arguments: list[Tensor], check_dtypes: bool) -> None:
    """A zero gradient must come back as zeros of the argument's shape, device and (if asked) dtype."""
    zeros = [_ops.zeros_like(o) for o in outputs]
    gradients = grad(outputs, arguments, zeros, retain_graph=True, allow_unused=True)
    for number, (gradient, argument) in enumerate(zip(gradients, arguments, strict=True)):
        if gradient is None:
            continue
        if any(reals(gradient, gradient)):
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.shape != argument.shape:
            raise GradcheckError(f"grad has the shape {tuple(gradient.shape)} and input {number} the shape {tuple(argument.shape)}")
        if gradient.device != argument.device:
            raise GradcheckError(f"grad is on {gradient.device} and input {number} on {argument.device}")
        if check_dtypes and gradient.dtype != argument.dtype:
            raise GradcheckError(f"grad has the dtype {gradient.dtype} and input {number} the dtype {argument.dtype}")


def _compare_batched(what: str, batched: Sequence, singles: Sequence[Sequence]) -> None:
    """``batched`` holds for each result all directions at once, ``singles`` for each direction the results."""
    for number, (together, *alone) in enumerate(zip(batched, *singles, strict=True)):
        if (together is None) != all(a is None for a in alone):
            raise GradcheckError(f"While testing batched {what}: result {number} is None in one of the two ways only")
        if together is None:
            continue
        expected = _ops.stack([_ops.zeros_like(together[0]) if a is None else a for a in alone])
        if together.shape != expected.shape or not trine.allclose(together, expected, 1e-5, 1e-8, True):
            raise GradcheckError(
                f"While testing batched {what}: vmap over two directions and one call for each differ in result {number}.\n"
                f"batched:\n{together}\none by one:\n{expected}\n"
            )


def _check_batched_backward(outputs: tuple, arguments: list[Tensor]) -> None:
    for output in outputs:
        directions = _ops.stack([_random_like(output, False).detach() for _ in range(2)])

        def pull(direction: Tensor, batched: bool, output: Tensor = output) -> tuple:
            return grad(output, arguments, direction, retain_graph=True, allow_unused=True, is_grads_batched=batched)

        try:
            batched = pull(directions, True)
        except RuntimeError as error:
            raise GradcheckError(f"While testing batched gradients: the backward pass does not work under vmap: {error}") from error
        _compare_batched("gradients", batched, [pull(d, False) for d in directions])


def _check_batched_forward(function: Callable, inputs: tuple, arguments: list[Tensor]) -> None:
    for argument in arguments:

        def push(tangent: Tensor, argument: Tensor = argument) -> tuple:
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(argument.detach(), tangent)
                given = [dual if i is argument else i.detach() if isinstance(i, Tensor) else i for i in inputs]
                pairs = [forward_ad.unpack_dual(o) for o in as_outputs(function(*given))]
                return tuple(_ops.zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs)

        tangents = _ops.stack([_random_like(argument, False).detach() for _ in range(2)])
        try:
            batched = trine.func.vmap(push)(tangents)
        except RuntimeError as error:
            raise GradcheckError(f"While testing batched tangents: the function does not work under vmap: {error}") from error
        _compare_batched("tangents", batched, [push(t) for t in tangents])


def _run(
    function: Callable, inputs: tuple, eps: float, atol: float, rtol: float, nondet_tol: float, check_dtypes: bool,
    forward: bool, backward: bool, fast: bool, batched_forward: bool, batched_backward: bool,
) -> None:  # fmt: skip
    arguments = _checked_arguments(inputs)
    outputs = as_outputs(function(*inputs))
    recorded = tuple(o for o in outputs if o.requires_grad)
    numerical = [by_differences(function, inputs, a, eps) for a in arguments]
    for a, matrices in enumerate(numerical):
        for o, matrix in enumerate(matrices):
            if not outputs[o].requires_grad and not _all_close(matrix, [[0.0] * len(row) for row in matrix], 0.0, atol):
                raise GradcheckError(
                    f"Numerical gradient of output {o} for input {a} expected to be zero: the output does not require grad"
                )
    if forward:
        for a, argument in enumerate(arguments):
            for o, found in enumerate(by_forward_mode(function, inputs, argument)):
                _compare("computed with forward mode ", o, a, numerical[a][o], found, rtol, atol, fast)
        if batched_forward:
            _check_batched_forward(function, inputs, arguments)
    if not backward or not recorded:
        return
    for o, output in enumerate(outputs):
        if not output.requires_grad:
            continue
        found_all = by_backward(output, arguments)
        for a, found in enumerate(found_all):
            _compare("", o, a, numerical[a][o], found, rtol, atol, fast)
        _check_repeatable(output, arguments, found_all, nondet_tol)
    _check_kinds(recorded, arguments, check_dtypes)
    if batched_backward:
        _check_batched_backward(recorded, arguments)


def gradcheck(
    func: Callable,
    inputs: Tensor | Sequence,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compares the gradients of ``func`` with central differences of step ``eps``.

    ``func`` takes ``inputs`` and gives a tensor or several; those inputs that require gradients (float64 or complex128,
    any shape) are moved one element at a time. True when every Jacobian entry agrees within ``atol + rtol * |numerical|``,
    otherwise a :class:`GradcheckError` that shows both Jacobians, or False with ``raise_exception=False``.
    ``check_forward_ad`` checks forward mode too. ``fast_mode`` compares one projection of each Jacobian. Each output is
    differentiated alone, so that a function's backward meets undefined gradients of its other results whatever
    ``check_undefined_grad`` says. ``check_batched_grad`` compares the backward pass under vmap over two random directions with one
    pass for each, ``check_batched_forward_grad`` does so with forward mode.

    >>> import trine
    >>> x = trine.tensor([0.5, 1.0], dtype=trine.float64, requires_grad=True)
    >>> trine.autograd.gradcheck(trine.sin, x)
    True
    """
    if not (check_backward_ad or check_forward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        _run(
            func, _tuple(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes, check_forward_ad, check_backward_ad, fast_mode,
            check_batched_forward_grad, check_batched_grad,
        )  # fmt: skip
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Tensor | Sequence,
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """:func:`gradcheck` of the gradients of ``func``, with respect to ``inputs`` and to ``grad_outputs``.

    ``grad_outputs`` has a tensor of each output's shape; by default they are random (and not contiguous with
    ``gen_non_contig_grad_outputs``). ``check_fwd_over_rev`` runs forward mode over the backward pass.

    >>> import trine
    >>> x = trine.tensor([0.5, 1.0], dtype=trine.float64, requires_grad=True)
    >>> trine.autograd.gradgradcheck(trine.sin, x)
    True
    """
    given = _tuple(inputs)
    if grad_outputs is None:
        outputs = [o for o in as_outputs(func(*given)) if o.requires_grad]
        incoming = tuple(_random_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        incoming = _tuple(grad_outputs)
    count = len(given)

    def gradients(*args: Any) -> tuple:
        # forward mode hands in duals that were cut off; requires_grad_ keeps their tangents
        inner = [a.requires_grad_() if _differentiable(b) else a for a, b in zip(args[:count], given, strict=True)]
        with trine.enable_grad():
            outs = [o for o in as_outputs(func(*inner)) if o.requires_grad]
            wanted = [a for a, b in zip(inner, given, strict=True) if _differentiable(b)]
            found = grad(outs, wanted, args[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients, given + incoming, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _random_like(output: Tensor, spread: bool) -> Tensor:
    if not spread or output.dim() == 0:
        return _ops.randn(output.shape, dtype=output.dtype).requires_grad_()
    return _ops.randn([*output.shape, 2], dtype=output.dtype)[..., 0].detach().requires_grad_()
