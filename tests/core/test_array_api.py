"""Tensors as arrays of the array API standard: SciPy and scikit-learn compute on them and return tensors."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import trine

SCIPY = """
import numpy as np, trine
from scipy import special, stats, fft
from scipy.cluster import vq
x = trine.tensor([0.5, 1.5, 2.5, 4.0], dtype=trine.float64)
for f in (special.logsumexp, special.softmax, special.gammaln, stats.zscore, stats.skew, stats.kurtosis, fft.fft, fft.dct):
    result = f(x)
    assert isinstance(result, trine.Tensor), f
    np.testing.assert_allclose(result.numpy(), f(x.numpy()), rtol=1e-12, atol=1e-12)
data = trine.rand(6, 3, dtype=trine.float64)
np.testing.assert_allclose(vq.whiten(data).numpy(), vq.whiten(data.numpy()), rtol=1e-12)
"""


SKLEARN = """
import numpy as np, trine
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
rng = np.random.default_rng(0)
a = rng.standard_normal((50, 6))
b = a @ rng.standard_normal(6)
x, y = trine.from_numpy(a), trine.from_numpy(b)
for make in (MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler, lambda: PCA(n_components=2, svd_solver="full")):
    with config_context(array_api_dispatch=True):
        result = make().fit_transform(x)
    assert isinstance(result, trine.Tensor), make
    np.testing.assert_allclose(result.numpy(), make().fit_transform(a), rtol=1e-9, atol=1e-9)
with config_context(array_api_dispatch=True):
    predicted = Ridge(solver="svd").fit(x, y).predict(x)
    error = mean_squared_error(y, predicted)
assert isinstance(predicted, trine.Tensor)
np.testing.assert_allclose(error, mean_squared_error(b, Ridge(solver="svd").fit(a, b).predict(a)), rtol=1e-9)
"""


@pytest.mark.parametrize(("library", "oldest", "program"), [("scipy", "1.16", SCIPY), ("sklearn", "1.8", SKLEARN)])
def test_libraries_compute_on_tensors(library, oldest, program):
    pytest.importorskip(library, oldest)
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_namespace_follows_the_standard():
    x = trine.arange(6, dtype=trine.float64).reshape(2, 3)
    xp, a = x.__array_namespace__(api_version="2023.12"), x.numpy()
    for name in ("sum", "prod", "max", "min", "mean", "var", "std"):
        for axis in (None, 0, 1, (0, 1)):
            expected = getattr(np, name)(a, axis=axis, keepdims=True)
            np.testing.assert_allclose(getattr(xp, name)(x, axis=axis, keepdims=True).numpy(), expected)
    assert xp.sum(xp.ones(2, dtype=xp.int8)).dtype == xp.int64
    assert xp.eye(3, 4, k=1).tolist() == np.eye(3, 4, k=1).tolist()
    assert xp.concat([x, xp.ones((1, 3), dtype=xp.int64)]).shape == (3, 3)
    assert xp.isdtype(xp.float32, ("integral", "real floating")) and not xp.isdtype(xp.bool, "numeric")
    assert xp.take(x, xp.asarray([2, 0]), axis=1).tolist() == [[2, 0], [5, 3]] and xp.squeeze(x[None], 0).shape == (2, 3)
    with pytest.raises(ValueError, match="squeeze"):
        xp.squeeze(x, 0)
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.1")
    assert set(xp.__array_namespace_info__().dtypes(kind="complex floating")) == {"complex64", "complex128"}
