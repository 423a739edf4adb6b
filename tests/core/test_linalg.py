"""Decompositions whose factors are not unique: what must hold of them, their derivatives, and what is refused.

The rest of linear algebra is in the operator tables.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.linalg
import trine
from trine import linalg

FLOATS = [trine.float32, trine.float64, trine.complex64, trine.complex128]
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 3, 4, 4), (2, 5, 3), (1, 1), (60, 40), (70, 70)]


@pytest.fixture(autouse=True)
def seeded():
    trine.manual_seed(0)


def near(a, b, scale=1.0):
    eps = 5e-5 if a.dtype in (trine.float32, trine.complex64) else 1e-11
    assert a.shape == b.shape
    assert (a - b).abs().max().item() <= eps * scale * max(1.0, a.shape[-1])


def hermitian(*shape, dtype):
    a = trine.randn(*shape, dtype=dtype)
    return a + a.mH


def identity(a, n):
    return trine.eye(n, dtype=a.dtype).expand(*a.shape[:-2], n, n)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
class TestFactors:
    def test_svd(self, shape, dtype):
        a = trine.randn(*shape, dtype=dtype)
        k = min(shape[-2:])
        for full in (True, False):
            U, S, Vh = linalg.svd(a, full_matrices=full)
            near((U[..., :k] * S[..., None, :].to(dtype)) @ Vh[..., :k, :], a)
            near(U.mH @ U, identity(a, U.shape[-1]))
            near(Vh @ Vh.mH, identity(a, Vh.shape[-2]))
            assert (S[..., :-1] >= S[..., 1:]).all() and S.dtype.is_floating_point
        near(linalg.svdvals(a), S)

    def test_qr(self, shape, dtype):
        a = trine.randn(*shape, dtype=dtype)
        for mode in ("reduced", "complete"):
            Q, R = linalg.qr(a, mode)
            near(Q @ R, a)
            near(Q.mH @ Q, identity(a, Q.shape[-1]))
            assert (R.tril(-1) == 0).all()
        near(linalg.qr(a, "r").R, linalg.qr(a).R)

    def test_lu(self, shape, dtype):
        a = trine.randn(*shape, dtype=dtype)
        P, L, U = linalg.lu(a)
        near(P @ L @ U, a)
        near(P @ P.mT, identity(a, shape[-2]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5, 5), (1, 1), (70, 70)], ids=str)
class TestSquare:
    def test_eigh(self, shape, dtype):
        a = hermitian(*shape, dtype=dtype)
        for uplo in "LU":
            read = a.tril() + a.tril(-1).mH if uplo == "L" else a.triu() + a.triu(1).mH
            junk = a + 100 * (trine.ones_like(a).triu(1) if uplo == "L" else trine.ones_like(a).tril(-1))
            L, V = linalg.eigh(junk, uplo)
            near(V * L[..., None, :].to(dtype) @ V.mH, read, 10)
            near(linalg.eigvalsh(junk, uplo), L, 10)

    def test_eig(self, shape, dtype):
        a = trine.randn(*shape, dtype=dtype)
        L, V = linalg.eig(a)
        near(a.to(V.dtype) @ V, V * L[..., None, :], 10)
        near(V.norm(dim=-2), trine.ones(L.shape, dtype=V.real.dtype))
        near(linalg.eigvals(a).sum(-1, keepdim=True), L.sum(-1, keepdim=True), 10)

    def test_ldl(self, shape, dtype):
        a, b = hermitian(*shape, dtype=dtype), trine.randn(*shape[:-1], 2, dtype=dtype)
        symmetric = a if not a.is_complex() else (a + a.mT) / 2
        near(symmetric @ linalg.ldl_solve(*linalg.ldl_factor(symmetric), b), b, 100)
        near(a @ linalg.ldl_solve(*linalg.ldl_factor(a, hermitian=True), b, hermitian=True), b, 100)

    def test_solvers_agree(self, shape, dtype):
        a, b = trine.randn(*shape, dtype=dtype) + 3 * trine.eye(shape[-1], dtype=dtype), trine.randn(*shape[:-1], 2, dtype=dtype)
        x = linalg.solve(a, b)
        near(a @ x, b, 20)
        near(linalg.inv(a) @ b, x, 20)
        near(linalg.lu_solve(*linalg.lu_factor(a), b), x, 20)
        near(linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True), linalg.solve(a.mH, b), 20)
        near(linalg.solve(a, b.mT, left=False), linalg.solve(a.mT, b).mT, 20)


def random64(*shape, complex=False):
    return trine.randn(*shape, dtype=trine.complex128 if complex else trine.float64)


def phase_free(U, Vh=None):
    """What of singular or eigenvectors does not depend on their phases."""
    return U.abs() if Vh is None else U[..., :, :, None] * Vh[..., None, :, :]


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 3, 3)], ids=str)
def test_derivatives_of_svd(shape, complex):
    a = random64(*shape, complex=complex).requires_grad_()

    def parts(a):
        U, S, Vh = linalg.svd(a, full_matrices=False)
        return S, phase_free(U), phase_free(Vh.mH), phase_free(U, Vh)

    assert trine.autograd.gradcheck(parts, a)
    assert trine.autograd.gradgradcheck(lambda a: parts(a)[3].sum((-3, -1)) + parts(a)[0][..., None, :].sum(-1, keepdim=True), a)


@pytest.mark.parametrize("complex", [False, True])
def test_derivatives_of_eigh_and_eig(complex):
    a = random64(2, 4, 4, complex=complex).requires_grad_()

    def of_eigh(a):
        L, V = linalg.eigh(a + a.mH)
        return L, phase_free(V), V @ V.mH, linalg.eigvalsh(a + a.mH)

    def of_eig(a):
        L, V = linalg.eig(a)
        order = L.detach().abs().argsort(-1)
        return L.abs().gather(-1, order), phase_free(V).sum(-1), linalg.eigvals(a).real.sum(-1)

    assert trine.autograd.gradcheck(of_eigh, a)
    assert trine.autograd.gradgradcheck(lambda a: of_eigh(a)[1], a)
    assert trine.autograd.gradcheck(of_eig, a)
    assert trine.autograd.gradgradcheck(lambda a: of_eig(a)[1], a)


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_determinant_of_singular_matrices_has_its_derivative(n, complex):
    a = random64(n, n, complex=complex)
    a[-1] = a[0] if n > 1 else 0
    a = (linalg.qr(a).Q if n > 1 else trine.ones_like(a)) @ a
    expected = trine.stack(
        [
            trine.stack(
                [(-1) ** (i + j) * linalg.det(trine.cat([a[:i], a[i + 1 :]])[:, [c for c in range(n) if c != j]]) for j in range(n)]
            )
            for i in range(n)
        ]
    )  # cofactors
    matrix = a.clone().requires_grad_()
    (grad,) = trine.autograd.grad(linalg.det(matrix), matrix, grad_outputs=trine.ones((), dtype=a.dtype))
    near(grad, expected.conj(), 10)


def test_singular_values_with_a_twin_have_a_derivative():
    a = trine.eye(3, dtype=trine.float64, requires_grad=True)
    (grad,) = trine.autograd.grad(linalg.svdvals(a).sum(), a)
    near(grad, trine.eye(3, dtype=trine.float64))
    (grad,) = trine.autograd.grad(linalg.eigvalsh(a).sum(), a)
    near(grad, trine.eye(3, dtype=trine.float64))


def test_matrix_exp_over_magnitudes():
    for scale in (1e-10, 1e-3, 0.1, 1, 5, 30):
        a = random64(3, 6, 6) * scale
        expected = scipy.linalg.expm(a.numpy())
        assert np.allclose(trine.matrix_exp(a).numpy(), expected, rtol=1e-10, atol=1e-12 * abs(expected).max())
    mixed = trine.stack([random64(4, 4) * 1e-8, random64(4, 4) * 20])
    assert np.allclose(trine.matrix_exp(mixed).numpy(), scipy.linalg.expm(mixed.numpy()), rtol=1e-9)


def test_lstsq_drivers_and_ranks():
    a, b = random64(2, 6, 3), random64(2, 6, 2)
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        x = linalg.lstsq(a, b, driver=driver)
        near(x.solution, linalg.pinv(a) @ b)
        assert (x.rank == 3).all() if driver != "gels" else x.rank.numel() == 0
        if driver != "gelsy":
            near(x.residuals, ((a @ x.solution - b) ** 2).sum(-2))
        if driver in ("gelsd", "gelss"):
            near(x.singular_values, linalg.svdvals(a))
    poor = a.clone()
    poor[..., 2] = poor[..., 1]
    assert linalg.lstsq(poor, b).rank.tolist() == [2, 2]
    assert linalg.lstsq(poor, b, driver="gelsd").residuals.numel() == 0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 3, 3)], ids=str)
def test_nothing_to_decompose(shape):
    a = trine.randn(*shape)
    U, S, Vh = linalg.svd(a)
    assert (
        U.shape == (*shape[:-1], shape[-2])
        and S.shape == (*shape[:-2], min(shape[-2:]))
        and Vh.shape == (*shape[:-2], shape[-1], shape[-1])
    )
    assert (U @ U.mT - trine.eye(shape[-2])).abs().sum() == 0
    assert linalg.pinv(a).shape == (*shape[:-2], shape[-1], shape[-2])
    assert (linalg.matrix_rank(a) == 0).all()
    assert linalg.lstsq(a, trine.randn(*shape[:-1], 2)).solution.shape == (*shape[:-2], shape[-1], 2)


ZEROS, NANS = trine.zeros(3, 3), trine.full((3, 3), float("nan"))
FAILURES = [
    (lambda: linalg.cholesky(ZEROS), "linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order 1"),
    (lambda: linalg.cholesky(trine.stack([trine.eye(3), ZEROS])), r"linalg.cholesky: \(Batch element 1\): The factorization"),
    (lambda: trine.cholesky(ZEROS), "cholesky: The factorization"),
    (lambda: linalg.inv(ZEROS), "linalg.inv: The diagonal element 1 is zero"),
    (lambda: linalg.inv_ex(ZEROS, check_errors=True), "linalg.inv_ex: The diagonal element 1 is zero"),
    (lambda: trine.inverse(ZEROS), "linalg.inv: The diagonal element 1 is zero"),
    (lambda: linalg.matrix_power(ZEROS, -1), "linalg.inv: The diagonal element 1"),
    (lambda: linalg.solve(ZEROS, trine.ones(3)), "torch.linalg.solve: The solver failed because the input matrix is singular"),
    (lambda: linalg.eigh(NANS), "linalg.eigh: The algorithm failed to converge"),
    (lambda: linalg.svd(NANS), "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values"),
    (lambda: linalg.svd(trine.stack([trine.eye(3), NANS])), r"linalg.svd: \(Batch element 1\): The algorithm"),
    (lambda: linalg.tensorinv(trine.zeros(3, 3), 1), "linalg.tensorinv: The diagonal element 1 is zero"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), FAILURES)
def test_failures_are_linalg_errors(call, message):
    with pytest.raises(linalg.LinAlgError, match=message.replace("(the", r"\(the")):
        call()


def test_linalg_error_is_a_runtime_error_and_travels():
    assert issubclass(linalg.LinAlgError, RuntimeError)
    assert type(pickle.loads(pickle.dumps(linalg.LinAlgError("x")))) is linalg.LinAlgError
    _, info = linalg.cholesky_ex(trine.stack([trine.eye(3), ZEROS]))
    assert info.tolist() == [0, 1] and info.dtype == trine.int32


WRONG = [
    (lambda: linalg.cholesky(trine.zeros(3, 2)), "linalg.cholesky: A must be batches of square matrices, but they are 3 by 2 matrices"),
    (lambda: linalg.cholesky(trine.zeros(3)), "linalg.cholesky: The input tensor A must have at least 2 dimensions"),
    (lambda: linalg.cholesky(trine.zeros(3, 3, dtype=trine.int32)), "linalg.cholesky: Expected a floating point or complex tensor as input. Got Int"),
    (lambda: linalg.eig(NANS), "linalg.eig: input tensor should not contain infs or NaNs"),
    (lambda: linalg.lu_factor(ZEROS), r"torch.linalg.lu_factor: U\[1,1\] is zero"),
    (lambda: linalg.qr(ZEROS, "x"), "linalg.qr: qr received unrecognized mode 'x'"),
    (lambda: linalg.eigh(ZEROS, "x"), "linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got x"),
    (lambda: linalg.lstsq(trine.zeros(3, 2), trine.zeros(2)), r"linalg.lstsq: input.size\(-2\) should match other.size\(-1\)"),
    (lambda: linalg.lstsq(trine.zeros(3, 2), trine.zeros(3), driver="x"), "linalg.lstsq: parameter `driver`"),
    (lambda: linalg.solve(ZEROS, trine.zeros(2, 2)), r"linalg.solve: Incompatible shapes of A and B for the equation AX = B \(3x3 and 2x2\)"),
    (lambda: linalg.solve(ZEROS, trine.zeros(3, dtype=trine.float64)), "linalg.solve: Expected A and B to have the same dtype"),
    (lambda: linalg.solve_triangular(ZEROS, trine.zeros(2, 2), upper=True), "linalg.solve_triangular: Incompatible shapes"),
    (lambda: linalg.det(trine.zeros(2, 3)), "linalg.det: A must be batches of square matrices"),
    (lambda: trine.logdet(trine.zeros(2)), "logdet: The input tensor A must have at least 2 dimensions"),
    (lambda: linalg.matrix_exp(trine.zeros(2, 3)), "linalg.matrix_exp: A must be batches of square matrices"),
    (lambda: linalg.matrix_norm(trine.zeros(3)), "linalg.matrix_norm: The input tensor A must have at least 2 dimensions"),
    (lambda: linalg.matrix_norm(ZEROS, "x"), "linalg.matrix_norm: Order x not supported"),
    (lambda: linalg.matrix_norm(ZEROS, 3), "linalg.matrix_norm: Order 3 not supported"),
    (lambda: linalg.norm(ZEROS, "fro", dim=1), "linalg.matrix_norm: dim must be a 2-tuple"),
    (lambda: linalg.cond(trine.zeros(2, 3), "fro"), r"linalg.cond\(ord=fro\): A must be batches of square matrices"),
    (lambda: linalg.tensorinv(ZEROS, 0), "linalg.tensorinv: Expected a strictly positive integer for 'ind', but got 0"),
    (lambda: linalg.tensorinv(trine.zeros(3, 2), 1), "linalg.tensorinv: Expected self to satisfy"),
    (lambda: linalg.householder_product(trine.zeros(2, 3), trine.zeros(2)), "linalg.householder_product: input.shape"),
    (lambda: linalg.lu_solve(ZEROS, trine.zeros(3, dtype=trine.int64), ZEROS), "linalg.lu_solve: pivots should be"),
    (lambda: trine.lu_unpack(ZEROS, trine.full((3,), 9, dtype=trine.int32)), "lu_unpack: pivots must be between 1 and 3, got 9"),
    (lambda: linalg.svd(ZEROS, driver="gesvd"), "linalg.svd: keyword argument `driver=`"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_infinite_condition_of_singular_matrices():
    assert linalg.cond(ZEROS, 1).item() == float("inf")
    assert linalg.cond(ZEROS).isnan()


class TestOldForms:
    def test_symeig(self):
        a = hermitian(4, 4, dtype=trine.float64)
        with pytest.warns(UserWarning, match="symeig is deprecated"):
            values, vectors = trine.symeig(a, eigenvectors=True)
        near(vectors * values @ vectors.mT, a)
        with pytest.warns(UserWarning, match="symeig"):
            assert a.symeig()[1].numel() == 0

    def test_eig(self):
        a = random64(5, 5)
        with pytest.warns(UserWarning, match="eig is deprecated"):
            values, vectors = trine.eig(a, eigenvectors=True)
        assert values.shape == (5, 2)
        column = 0
        while column < 5:
            re, im = values[column].tolist()
            x = vectors[:, column]
            if im == 0:
                near(a @ x, re * x)
                column += 1
            else:
                y = vectors[:, column + 1]
                near(a @ x, re * x - im * y)
                near(a @ y, re * y + im * x)
                column += 2

    def test_solve_and_lstsq(self):
        a, b = random64(3, 3), random64(3, 2)
        with pytest.warns(UserWarning, match="solve is deprecated"):
            near(a @ trine.solve(b, a)[0], b)
        tall, right = random64(6, 3), random64(6, 2)
        with pytest.warns(UserWarning, match="lstsq is deprecated"):
            whole, factors = trine.lstsq(right, tall)
        near(whole[:3], linalg.lstsq(tall, right).solution)
        near((whole[3:] ** 2).sum(0), ((tall @ whole[:3] - right) ** 2).sum(0))
        assert factors.shape == tall.shape

    def test_lu(self):
        a = random64(2, 3, 3)
        LU, pivots, _ = a.lu(get_infos=True)
        near(LU, trine.lu(a)[0])
        P, L, U = trine.lu_unpack(LU, pivots)
        near(P @ L @ U, a)
        with pytest.raises(RuntimeError, match="is zero"):
            trine.lu(ZEROS)

    def test_matrix_rank(self):
        with pytest.warns(UserWarning, match="matrix_rank is deprecated"):
            assert trine.matrix_rank(trine.ones(3, 3)).item() == 1


class TestLowRank:
    def test_svd_and_pca(self):
        a = random64(2, 40, 4) @ random64(2, 4, 20) + 5
        U, S, V = trine.svd_lowrank(a, q=6)
        near(U * S[..., None, :] @ V.mT, a, 10)
        U, S, V = trine.pca_lowrank(a, q=5)
        near(U * S[..., None, :] @ V.mT, a - a.mean(-2, keepdim=True), 10)
        for bad in (21, -1):
            with pytest.raises(ValueError, match="q\\(="):
                trine.svd_lowrank(a, q=bad)

    @pytest.mark.parametrize("method", ["basic", "ortho"])
    @pytest.mark.parametrize("largest", [True, False])
    def test_lobpcg(self, method, largest):
        a = random64(2, 30, 30)
        a = a @ a.mT + trine.eye(30)
        b = trine.diag_embed(trine.rand(2, 30, dtype=trine.float64) + 1)
        states = []
        E, V = trine.lobpcg(a, k=2, tol=1e-9, largest=largest, method=method, tracker=lambda s: states.append(s.ivars["istep"]))
        expected = linalg.eigvalsh(a)
        near(E, expected.flip(-1)[..., :2] if largest else expected[..., :2], 100)
        near(a @ V, V * E[..., None, :], 1e5)
        assert 0 in states and 1 in states
        E, V = trine.lobpcg(a, B=b, k=2, tol=1e-9, largest=largest, method=method)
        near(a @ V, b @ V * E[..., None, :], 1e5)

    def test_lobpcg_derivative(self):
        a = trine.diag(trine.arange(1.0, 8.0, dtype=trine.float64)) + 0.1 * random64(7, 7)

        def pairs(a):
            trine.manual_seed(1)
            E, V = trine.lobpcg((a + a.mT) / 2, k=2, tol=1e-13, niter=200)
            return E, V[:, :1] @ V[:, :1].mT

        assert trine.autograd.gradcheck(pairs, a.requires_grad_(), atol=1e-4)


def test_nuclear_norm_by_its_old_name():
    x = trine.tensor(np.random.default_rng(0).normal(size=(2, 3, 4)))
    expected = np.linalg.svd(x.numpy(), compute_uv=False).sum(-1)
    assert np.allclose(trine.norm(x, "nuc", dim=(1, 2)).numpy(), expected)
    assert np.allclose(x[0].norm("nuc").item(), expected[0])
    for wrong, dim in ((x, None), (x, 1), (x[0, 0], None)):
        with pytest.raises(RuntimeError, match=r"linalg\.matrix_norm"):
            trine.norm(wrong, "nuc", dim=dim)
