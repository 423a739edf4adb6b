"""Solutions and factors where the algorithm changes with the size of a matrix or of its batch: on both sides of each change."""

from __future__ import annotations

import numpy as np
import pytest
import trine

# One by one or in groups of equal ones (from 4 matrices on, up to 32 rows); in plain loops (up to 24 rows) or by halves, in blocks of 16.
SIZES = [1, 2, 3, 15, 16, 17, 24, 25, 31, 32, 33, 47, 64, 97, 131, 200]
BATCHES = [1, 3, 4, 5, 8, 16, 17, 33]
TOLERANCE = {"float32": 2e-3, "float64": 1e-10, "complex64": 2e-3, "complex128": 1e-10}
DTYPES = list(TOLERANCE)


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


def cases():
    for n in SIZES:
        yield n, 1
        if n <= 33:
            yield n, 5
    for batch in BATCHES:
        yield 7, batch


def regular(n, batch, dtype):
    """Matrices that need row exchanges and are far from singular."""
    a = draw((batch, n, n), dtype)
    return (a + 2 * np.sqrt(n) * np.roll(np.eye(n), n // 2, 0)).astype(dtype)


def close(ours, expected, dtype):
    np.testing.assert_allclose(
        ours, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * max(1.0, float(np.abs(expected).max(initial=0)))
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows_first", [True, False])
def test_solutions_inverses_and_determinants_of_every_size(dtype, rows_first):
    for n, batch in cases():
        a = regular(n, batch, dtype)
        A = trine.tensor(a) if rows_first else trine.tensor(np.swapaxes(a, -1, -2).copy()).mT
        for k in (1, 8, 70):
            b = draw((batch, n, k), dtype, 1)
            close(trine.linalg.solve(A, trine.tensor(b)).numpy(), np.linalg.solve(a, b), dtype)
            c = np.swapaxes(b, -1, -2).copy()
            close(trine.linalg.solve(A, trine.tensor(c), left=False).numpy() @ a, c, dtype)
        close(trine.linalg.inv(A).numpy(), np.linalg.inv(a), dtype)
        sign, log = trine.linalg.slogdet(A)
        close(sign.numpy(), np.linalg.slogdet(a)[0], dtype)
        close(log.numpy(), np.linalg.slogdet(a)[1], dtype)
        LU, pivots = trine.linalg.lu_factor(A)
        P, L, U = trine.lu_unpack(LU, pivots)
        close((P @ L @ U).numpy(), a, dtype)
        assert np.abs(L.numpy()).max() <= 1 + 1e-6 or "complex" in dtype
        close(trine.linalg.lu_solve(LU, pivots, trine.tensor(b)).numpy(), np.linalg.solve(a, b), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky_of_every_size_reads_one_triangle(dtype):
    for n, batch in cases():
        a = draw((batch, n, n), dtype)
        a = a @ np.conj(np.swapaxes(a, -1, -2)) + n * np.eye(n, dtype=dtype)
        expected = np.linalg.cholesky(a)
        noise = draw((n, n), dtype, 2)
        close(trine.linalg.cholesky(trine.tensor(a + np.triu(noise, 1))).numpy(), expected, dtype)
        close(
            trine.linalg.cholesky(trine.tensor(a + np.tril(noise, -1)), upper=True).numpy(), np.conj(np.swapaxes(expected, -1, -2)), dtype
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr_of_every_size_has_the_signs_of_lapack(dtype, mode):
    for m, n in [(1, 1), (4, 4), (7, 3), (3, 7), (32, 32), (32, 5), (5, 32), (33, 32), (32, 33)]:
        for batch in (3, 4, 17):
            a = draw((batch, m, n), dtype)
            a[0, :, 0] = 0
            a[0, 0, 0] = 3  # nothing to reflect in the first column
            Q, R = trine.linalg.qr(trine.tensor(a), mode=mode)
            expected = np.linalg.qr(a, mode=mode)
            if mode == "r":
                close(R.numpy(), expected, dtype)
            else:
                close(R.numpy(), expected[1], dtype)
                close(Q.numpy(), expected[0], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_qr_neither_overflows_nor_loses_small_numbers(dtype, scale):
    a = (draw((4, 6, 3), "float64") * scale).astype(dtype)
    Q, R = (x.numpy() for x in trine.linalg.qr(trine.tensor(a)))
    close(np.swapaxes(Q, -1, -2) @ Q, np.broadcast_to(np.eye(3), (4, 3, 3)), dtype)
    unit = np.dtype(dtype).type(scale)
    close(Q @ (R / unit), a / unit, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "batch"), [(1, 4), (2, 1), (5, 4), (5, 20), (24, 1), (25, 1), (32, 5), (33, 2), (70, 1), (131, 1)])
def test_the_singular_matrix_of_a_batch_is_named(dtype, n, batch):
    at, row = batch - 1, n // 2
    a = np.broadcast_to(np.eye(n), (batch, n, n)).astype(dtype)
    a[at, row, row] = 0
    A, where = trine.tensor(a), rf"\(Batch element {at}\)"
    for call in (
        lambda: trine.linalg.inv(A),
        lambda: trine.linalg.solve(A, trine.ones(batch, n, 2, dtype=A.dtype)),
        lambda: trine.linalg.cholesky(A),
    ):
        with pytest.raises(trine.linalg.LinAlgError, match=where):
            call()
    info = trine.linalg.inv_ex(A)[1].numpy()
    assert info.tolist() == [0] * at + [row + 1]
    assert trine.linalg.cholesky_ex(A)[1].numpy().tolist() == info.tolist()
    assert trine.linalg.lu_factor_ex(A)[2].numpy().tolist() == info.tolist()
    assert trine.linalg.det(A).numpy().tolist() == [1] * at + [0]
    # The others are solved all the same.
    close(trine.linalg.solve_ex(A, trine.ones(batch, n, 2, dtype=A.dtype))[0].numpy()[:at], np.ones((at, n, 2)), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "batch"), [(6, 1), (6, 4), (40, 1)])
def test_nan_reaches_the_result(dtype, n, batch):
    a = regular(n, batch, dtype)
    a[:, 2, 1] = np.nan
    A = trine.tensor(a)
    assert not np.isfinite(trine.linalg.inv_ex(A)[0].numpy()).all()
    assert np.isnan(trine.linalg.det(A).numpy()).all()


def test_batches_without_matrices_or_right_sides():
    for shape in [(0, 0), (4, 0, 0), (0, 4, 4)]:
        A = trine.zeros(shape)
        assert trine.linalg.inv(A).shape == shape
        assert trine.linalg.cholesky(A).shape == shape
        assert trine.linalg.det(A).tolist() == trine.ones(shape[:-2]).tolist()
        assert trine.linalg.solve(A, trine.zeros(*shape[:-1], 3)).shape == (*shape[:-1], 3)
    A = trine.eye(4).expand(5, 4, 4)
    assert trine.linalg.solve(A, trine.zeros(5, 4, 0)).shape == (5, 4, 0)
    assert trine.linalg.inv(A).tolist() == A.tolist()


def test_results_into_tensors_of_other_layouts_and_types():
    a = trine.tensor(regular(4, 6, "float32"))
    expected = trine.linalg.inv(a)
    for out in (trine.empty(6, 4, 4), trine.empty(6, 4, 8)[..., ::2], trine.empty(6, 4, 4, dtype=trine.float64), a.clone()):
        source = out if out.dtype == a.dtype and out.shape == a.shape and (out == a).all() else a
        trine.linalg.inv(source, out=out)
        trine.testing.assert_close(out.to(trine.float32), expected)
