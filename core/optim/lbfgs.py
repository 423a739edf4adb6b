"""Limited-memory BFGS with an optional strong Wolfe line search (Nocedal and Wright, Numerical Optimization, chapters 3 and 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import trine
from trine import Tensor

from .optimizer import Optimizer, to_number

__all__ = ["LBFGS"]


def _cubic_minimum(x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with these values and slopes is lowest, inside of `bounds` (default: between the points)."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    place = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2)) if x1 <= x2 else x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(place, low), high)


class _Point:
    """A point of the line search: the step t, the loss, the gradient, and its slope along the direction."""

    __slots__ = ("gradient", "loss", "slope", "t")

    def __init__(self, t: float, loss: float, gradient: Tensor, slope: float) -> None:
        self.t, self.loss, self.gradient, self.slope = t, loss, gradient, slope


def strong_wolfe(
    evaluate: Callable[[float], _Point],
    start: _Point,
    t: float,
    largest: float,
    tolerance: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    limit: int = 25,
) -> tuple[_Point, int]:
    """A step that lowers the loss enough (c1) where the slope has flattened enough (c2), and the number of evaluations.

    `largest` is the largest component of the direction: an interval that moves no element by `tolerance` ends the search.
    """
    evaluations, before, now = 1, start, evaluate(t)

    def too_high(point: _Point) -> bool:
        return point.loss > start.loss + c1 * point.t * start.slope

    # First an interval that holds an acceptable step: steps grow until the loss rises or the slope turns.
    bracket: list[_Point] = []
    done, rounds = False, 0
    while rounds < limit:
        if too_high(now) or (rounds > 1 and now.loss >= before.loss):
            bracket = [before, now]
            break
        if abs(now.slope) <= -c2 * start.slope:
            bracket, done = [now], True
            break
        if now.slope >= 0:
            bracket = [before, now]
            break
        least = now.t + 0.01 * (now.t - before.t)
        further = _cubic_minimum(before.t, before.loss, before.slope, now.t, now.loss, now.slope, (least, now.t * 10))
        before = now
        now = evaluate(further)
        evaluations += 1
        rounds += 1
    if rounds == limit:
        bracket = [start, now]

    # Then the interval shrinks. A step too near its ends twice in a row, or outside, is moved inwards.
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    stalled = False
    while not done and rounds < limit:
        first, last = bracket
        if abs(last.t - first.t) * largest < tolerance:
            break
        t = _cubic_minimum(first.t, first.loss, first.slope, last.t, last.loss, last.slope)
        least, most = min(first.t, last.t), max(first.t, last.t)
        margin = 0.1 * (most - least)
        if min(most - t, t - least) < margin:
            if stalled or t >= most or t <= least:
                t = most - margin if abs(t - most) < abs(t - least) else least + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        now = evaluate(t)
        evaluations += 1
        rounds += 1
        if too_high(now) or now.loss >= bracket[low].loss:
            bracket[high] = now
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if abs(now.slope) <= -c2 * start.slope:
                done = True
            elif now.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = now
    return (bracket[low] if len(bracket) > 1 else bracket[0]), evaluations


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of gradient and point; `step` needs a closure, which it calls often.

    All parameters form one group. `line_search_fn` is None (steps of `lr`) or "strong_wolfe". State (of the first parameter): `d`, `t`,
    `old_dirs`, `old_stps`, `ro`, `H_diag`, `prev_flat_grad`, `prev_loss`, `func_evals`, `n_iter`, `al`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([3.0, -2.0]))
    >>> optimizer = trine.optim.LBFGS([p], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (p**2).sum()
    ...     loss.backward()
    ...     return loss
    >>> round(optimizer.step(closure).item(), 3), bool(p.abs().max() < 1e-4)
    (13.0, True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not to_number(lr) >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gather_flat_grad(self) -> Tensor:
        parts = []
        for param in self._params:
            grad = trine.zeros_like(param) if param.grad is None else param.grad
            parts.append((trine.view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        return trine.cat(parts, 0)

    def _add_grad(self, step_size: float, direction: Tensor) -> None:
        """Move every parameter along its part of the flat direction."""
        offset = 0
        for param in self._params:
            real = trine.view_as_real(param) if param.is_complex() else param
            count = real.numel()
            real.add_(direction[offset : offset + count].view_as(real), alpha=step_size)
            offset += count

    def _direction(self, state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
        """The quasi-Newton direction: minus the gradient, through the two loops over the remembered changes."""
        y, s = gradient.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = y.dot(s)
        changes, moves, inverse = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > 1e-10:
            if len(changes) == history_size:
                changes.pop(0), moves.pop(0), inverse.pop(0)
            changes.append(y), moves.append(s), inverse.append(1.0 / curvature)
            state["H_diag"] = curvature / y.dot(y)
        count = len(changes)
        weights = state["al"] = [None] * max(history_size, count)
        q = gradient.neg()
        for i in reversed(range(count)):
            weights[i] = moves[i].dot(q) * inverse[i]
            q.add_(changes[i] * -weights[i])
        direction = q.mul(state["H_diag"])
        for i in range(count):
            direction.add_(moves[i] * (weights[i] - changes[i].dot(direction) * inverse[i]))
        return direction

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to `max_iter` iterations; the loss before the first. ValueError for an unknown `line_search_fn`."""
        with trine.no_grad():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        lr, search = to_number(group["lr"]), group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = self._closure_loss(closure)
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._gather_flat_grad()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss

        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=gradient.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                state["d"] = self._direction(state, gradient, group["history_size"])
            state["prev_flat_grad"] = gradient.clone(memory_format=trine.contiguous_format)
            state["prev_loss"] = previous = loss
            direction = state["d"]
            t = min(1.0, 1.0 / gradient.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            slope = gradient.dot(direction).item()
            if slope > -group["tolerance_change"]:
                state["t"] = t
                break
            made = 0
            if search is not None:
                point, made = self._search(closure, direction, _Point(0.0, loss, gradient, slope), t, group["tolerance_change"])
                t, loss, gradient = point.t, point.loss, point.gradient
                self._add_grad(t, direction)
            else:
                self._add_grad(t, direction)
                if iterations != group["max_iter"]:
                    loss, made = float(self._closure_loss(closure)), 1
                    gradient = self._gather_flat_grad()
            state["t"] = t
            evaluations += made
            state["func_evals"] += made
            if (
                evaluations >= group["max_eval"]
                or gradient.abs().max() <= group["tolerance_grad"]
                or direction.mul(t).abs().max() <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _search(self, closure: Callable[[], Any], direction: Tensor, start: _Point, t: float, tolerance: float) -> tuple[_Point, int]:
        origin = [param.clone(memory_format=trine.contiguous_format) for param in self._params]

        def restore() -> None:
            for param, value in zip(self._params, origin, strict=True):
                param.copy_(value)

        def evaluate(t: float) -> _Point:
            self._add_grad(t, direction)
            loss = float(self._closure_loss(closure))
            gradient = self._gather_flat_grad()
            restore()
            return _Point(t, loss, gradient.clone(memory_format=trine.contiguous_format), gradient.dot(direction).item())

        return strong_wolfe(evaluate, start, t, direction.abs().max().item(), tolerance)
