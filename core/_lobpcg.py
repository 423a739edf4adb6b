"""The locally optimal block preconditioned conjugate gradient method (Knyazev 2001; Stathopoulos and Wu 2002 for the basis)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trine import _C, _ops

__all__ = ["lobpcg"]

Tensor = _C.Tensor


class _Iteration:
    """One problem A X = B X diag(E): the state that ``tracker`` sees between steps."""

    def __init__(
        self, A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None, iparams: dict[str, int], fparams: dict[str, float],
        bparams: dict[str, bool], method: str, tracker: Callable[[_Iteration], None] | None,
    ) -> None:  # fmt: skip
        self.A, self.B, self.iK = A, B, iK
        self.iparams, self.fparams, self.bparams = iparams, fparams, bparams
        self.method, self.tracker = method, tracker
        self.X = X
        self.S = X.new_zeros(X.shape[0], 0)
        self.E = X.new_zeros(X.shape[1])
        self.R = X
        self.ivars: dict[str, int] = {"istep": 0, "converged_count": 0, "iterations_left": iparams["niter"]}
        self.fvars: dict[str, Any] = {"A_norm": float(A.norm()), "B_norm": float(B.norm()) if B is not None else 1.0}
        self.tvars: dict[str, Tensor] = {}
        self.bvars: dict[str, bool] = {"force_stop": False}

    def times_B(self, X: Tensor) -> Tensor:
        return X if self.B is None else self.B @ X

    def rayleigh_ritz(self, S: Tensor) -> tuple[Tensor, Tensor]:
        """Eigenvalues and coefficients of the best vectors within the span of S, largest or smallest first."""
        gram = S.mT @ self.times_B(S)
        scale = gram.diagonal().clamp_min(_tiny(S)).rsqrt()
        values, vectors = _ops.linalg_eigh(gram * scale[:, None] * scale)
        kept = values > values[-1] * _eps(S) * S.shape[1] * 10  # the directions that are not combinations of others
        basis = scale[:, None] * vectors[:, kept] * values[kept].rsqrt()
        E, Z = _ops.linalg_eigh(basis.mT @ (S.mT @ (self.A @ S)) @ basis)
        if self.bparams["largest"]:
            E, Z = E.flip(0), Z.flip(1)
        return E, basis @ Z

    def start(self) -> None:
        k = self.iparams["k"]
        E, Z = self.rayleigh_ritz(self.X)
        self.X, self.E = self.X @ Z, E
        self.measure(k)

    def measure(self, k: int) -> None:
        """Residuals of the current vectors, and how many of the first k have converged."""
        BX = self.times_B(self.X)
        self.R = self.A @ self.X - BX * self.E
        size = self.R.norm(dim=0)
        scale = self.X.norm(dim=0) * (self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"])
        self.tvars["rerr"] = size / scale
        self.ivars["converged_count"] = int((self.tvars["rerr"][:k] < self.fparams["tol"]).cumprod(0).sum())

    def step(self) -> None:
        k, n = self.iparams["k"], self.X.shape[1]
        W = self.R if self.iK is None else self.iK @ self.R
        parts = [self.X, W] if self.S.shape[1] == 0 else [self.X, W, self.S]
        S = _ops.cat(parts, -1)
        if self.method == "ortho":
            # An orthonormal basis of the same span keeps the small problem well conditioned.
            S = _ops.cat([self.X, _ops.linalg_qr(_project_out(self.X, self.times_B(self.X), S[:, n:])).Q], -1)
        E, Z = self.rayleigh_ritz(S)
        Z, E = Z[:, :n], E[:n]
        direction = S[:, n:] @ Z[n:]
        self.X, self.E, self.S = S @ Z, E, direction / direction.norm(dim=0).clamp_min(_tiny(direction))
        self.measure(k)

    def run(self) -> None:
        self.start()
        self.track()
        while not self.bvars["force_stop"] and self.ivars["converged_count"] < self.iparams["k"] and self.ivars["iterations_left"] != 0:
            self.ivars["istep"] += 1
            self.ivars["iterations_left"] -= 1
            self.step()
            self.track()

    def track(self) -> None:
        if self.tracker is not None:
            self.tracker(self)


def _project_out(X: Tensor, BX: Tensor, W: Tensor) -> Tensor:
    return W - X @ (BX.mT @ W)


def _eps(t: Tensor) -> float:
    return 1.1920929e-07 if t.dtype == _C.float32 else 2.220446049250313e-16


def _tiny(t: Tensor) -> float:
    return 1e-30 if t.dtype == _C.float32 else 1e-300


def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None, iK: Tensor | None = None,
    niter: int | None = None, tol: float | None = None, largest: bool | None = None, method: str | None = None,
    tracker: Callable[[Any], None] | None = None, ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None, ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k largest (or smallest) eigenvalues (..., k) of a symmetric A (..., m, m), and their eigenvectors (..., m, k).

    With a positive-definite ``B`` those of the generalised problem A x = lambda B x. ``X`` (..., m, n) is a first guess, ``n`` the
    number of vectors that are iterated (k by default), ``iK`` a preconditioner, ``niter`` the largest number of steps (-1: until
    converged), ``tol`` the relative residual at which a vector counts as found, ``method`` "ortho" (default) or "basic".
    ``tracker`` is called after each step with the state of the iteration. m must be at least 3 k.
    """
    if not isinstance(A, Tensor) or A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(
            f"lobpcg: A must be batches of square matrices, got {tuple(A.shape) if isinstance(A, Tensor) else type(A).__name__}"
        )
    if A.dtype not in (_C.float32, _C.float64):
        raise ValueError(f"lobpcg: A must be of float32 or float64, got {A.dtype}")
    if B is not None and B.shape[-2:] != A.shape[-2:]:
        raise ValueError(f"lobpcg: B must have the shape of A, got {tuple(B.shape)} and {tuple(A.shape)}")
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if k < 1 or m < 3 * n:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested eigenpairs (={n})"
        )
    method = "ortho" if method is None else method
    if method not in ("basic", "ortho"):
        raise ValueError(f"lobpcg: method must be 'basic' or 'ortho', got {method!r}")
    tol = _eps(A) ** 0.5 if tol is None else tol
    iparams = {"m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter, **(ortho_iparams or {})}
    fparams = {"tol": tol, **(ortho_fparams or {})}
    bparams = {"largest": True if largest is None else largest, **(ortho_bparams or {})}

    batch = A.shape[:-2]
    problems, values, vectors = A.detach().reshape(-1, m, m), [], []
    for i in range(problems.shape[0]):
        b = None if B is None else B.detach().expand(A.shape).reshape(-1, m, m)[i]
        guess = _ops.randn(m, n, dtype=A.dtype, device=A.device) if X is None else X.detach().expand(*batch, m, n).reshape(-1, m, n)[i]
        worker = _Iteration(problems[i], b, guess, iK, iparams, fparams, bparams, method, tracker)
        worker.run()
        values.append(worker.E[:k])
        vectors.append(worker.X[:, :k])
    E = _ops.stack(values).reshape(*batch, k) if values else A.new_zeros(*batch, k)
    V = _ops.stack(vectors).reshape(*batch, m, k) if vectors else A.new_zeros(*batch, m, k)
    if A.requires_grad and _C.is_grad_enabled():
        return _differentiable(A, E, V) if B is None else (E, V)
    return E, V


def _differentiable(A: Tensor, E: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """The eigenpairs as functions of A, by one step of perturbation theory that changes no value.

    dE = v^T dA v, and the change of v solves (A - E) dv = -(dA v) in the space orthogonal to v.
    """
    Av = A @ V
    values = (V * Av).sum(-2)
    m = A.shape[-1]
    eye = _ops.eye(m, dtype=A.dtype, device=A.device)
    columns = []
    for j in range(V.shape[-1]):
        v = V[..., j : j + 1]
        projector = v @ v.mT
        shifted = A.detach() - E[..., j, None, None] * eye + projector
        change = _ops.linalg_solve(shifted, (eye - projector) @ (Av[..., j : j + 1] - Av[..., j : j + 1].detach()))
        columns.append(v - change)
    return values, _ops.cat(columns, -1)
