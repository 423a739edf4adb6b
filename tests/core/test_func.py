"""vmap and the function transforms against loops, rows of Jacobians computed one by one, and difference quotients."""

from __future__ import annotations

import pytest
import trine
from trine import func, nn
from trine.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap


@pytest.fixture(autouse=True)
def seeded():
    trine.manual_seed(0)


def t(*shape):
    return trine.randn(*shape, dtype=trine.float64)


def near(a, b):
    assert a.shape == b.shape
    assert trine.allclose(a, b, rtol=1e-9, atol=1e-9), (a - b).abs().max()


X, W = t(3, 4), t(6, 4)
FUNCTIONS = {
    "mlp": lambda z: trine.tanh(z @ W.T).sigmoid(),
    "softmax": lambda z: trine.softmax(z, -1) * z.cumsum(-1),
    "indexing": lambda z: z[..., 1:] * z[..., :-1].flip(-1),
    "where": lambda z: trine.where(z > 0, z.exp(), z.sin()),
    "norm": lambda z: z / z.norm(),
    "sort": lambda z: trine.sort(z, -1).values.cumprod(-1),
    "cat": lambda z: trine.cat([z, z**2], -1).view(-1),
    "conv": lambda z: nn.functional.conv1d(z.reshape(1, 1, -1), W[:2, :2].reshape(2, 1, 2)),
    "pool": lambda z: nn.functional.max_pool1d(z.reshape(1, 1, -1), 2) * 3,
    "layer_norm": lambda z: nn.functional.layer_norm(z, z.shape[-1:]),
    "in place": lambda z: z.clone().mul_(2).add_(z).pow(2),
    "einsum": lambda z: trine.einsum("...i,ji->...j", z, W),
    "det": lambda z: trine.linalg.det(z.reshape(-1)[:4].reshape(2, 2) + 3 * trine.eye(2, dtype=z.dtype)),
    "fft": lambda z: trine.fft.rfft(z).abs(),
}
each = pytest.mark.parametrize("name", FUNCTIONS)


@each
def test_vmap_equals_a_loop(name):
    near(vmap(FUNCTIONS[name])(X), trine.stack([FUNCTIONS[name](x) for x in X]))


@each
def test_jacobians_agree(name):
    f, x = FUNCTIONS[name], X[0]
    rows = trine.autograd.functional.jacobian(f, x)
    near(jacrev(f)(x), rows)
    near(jacfwd(f)(x), rows)
    near(jacrev(f, chunk_size=3)(x), rows)
    near(trine.autograd.functional.jacobian(f, x, vectorize=True), rows)
    near(trine.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode"), rows)
    near(vmap(jacrev(f))(X), trine.stack([jacrev(f)(x) for x in X]))


@each
def test_hessians_agree(name):
    def f(z):
        return FUNCTIONS[name](z).sum()

    expected = trine.autograd.functional.hessian(f, X[0])
    near(hessian(f)(X[0]), expected)
    near(jacrev(grad(f))(X[0]), expected)
    near(jacfwd(grad(f))(X[0]), expected)
    near(trine.autograd.functional.hessian(f, X[0], vectorize=True), expected)
    near(vmap(hessian(f))(X), trine.stack([hessian(f)(x) for x in X]))


@each
def test_vector_products_agree(name):
    f, x, v = FUNCTIONS[name], X[0], t(4)
    J = jacrev(f)(x)
    y, pull = vjp(f, x)
    c = trine.randn(y.shape, dtype=y.dtype)
    near(pull(c)[0], (c.reshape(-1) @ J.reshape(-1, 4)))
    value, moved = jvp(f, (x,), (v,))
    near(value, f(x))
    near(moved, J @ v)
    near(vmap(lambda a, b: jvp(f, (a,), (b,))[1])(X, t(3, 4) * 0 + v), trine.stack([jacrev(f)(a) @ v for a in X]))


class TestVmap:
    def test_dimensions(self):
        a, b = t(3, 4, 5), t(5, 2, 3)
        near(vmap(trine.mm, in_dims=(0, 2))(a, b), trine.stack([a[i] @ b[:, :, i] for i in range(3)]))
        near(vmap(trine.mm, in_dims=(0, None), out_dims=2)(a, b[:, :, 0]), trine.stack([a[i] @ b[:, :, 0] for i in range(3)], 2))
        near(vmap(lambda x: x.sum(), in_dims=-1)(a), a.sum((0, 1)))
        near(vmap(vmap(trine.dot, in_dims=(0, None)), in_dims=(None, 0))(X, W), W @ X.T)
        both = vmap(lambda x: (x.sum(), x), out_dims=(0, 1))(X)
        near(both[1], X.T)

    def test_nested_containers(self):
        out = vmap(lambda d: {"o": d["a"] + d["b"][0], "c": [d["a"]]})({"a": X, "b": (X,)})
        near(out["o"], 2 * X)
        near(out["c"][0], X)

    def test_what_is_shared_stays_shared(self):
        out = vmap(lambda x: (x, W), out_dims=(0, None))(X)
        assert out[1] is W
        near(vmap(lambda x: W)(X), W.expand(3, 6, 4))

    def test_chunks(self):
        near(vmap(trine.dot, chunk_size=2)(X, X), (X * X).sum(1))

    def test_randomness(self):
        with pytest.raises(RuntimeError, match="randomness"):
            vmap(lambda x: trine.nn.functional.dropout(x))(trine.ones(3, 100))
        rows = vmap(lambda x: trine.rand_like(x), randomness="different")(trine.ones(3, 100))
        assert not trine.equal(rows[0], rows[1])
        rows = vmap(lambda x: trine.rand_like(x), randomness="same")(trine.ones(3, 100))
        assert trine.equal(rows[0], rows[1])

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: vmap(trine.sin)(), ValueError, "got no inputs"),
            (lambda: vmap(trine.sin, in_dims=3)(X), ValueError, "dimensionality 2"),
            (lambda: vmap(trine.add, in_dims=(0, 1))(X, X), ValueError, "same size"),
            (lambda: vmap(trine.add, in_dims=(None, None))(X, X), ValueError, "at least one Tensor"),
            (lambda: vmap(lambda x: 3)(X), ValueError, "must only return Tensors"),
            (lambda: vmap(lambda x: x, out_dims=None)(X), ValueError, "out_dim is None"),
            (lambda: vmap(lambda x: x.sum().item())(X), RuntimeError, "item"),
            (lambda: vmap(lambda x: x if x.sum() > 0 else -x)(X), RuntimeError, "vmap"),
            (lambda: vmap(lambda x: W.add_(x))(X), RuntimeError, "inplace"),
            (lambda: vmap(lambda x: x.tolist())(X), RuntimeError, "tolist"),
            (lambda: vmap(lambda x: x.numpy())(X), RuntimeError, "vmap"),
            (lambda: vmap(trine.sin, randomness="x"), RuntimeError, "randomness"),
            (lambda: vmap(trine.sin, chunk_size=0), ValueError, "chunk_size"),
        ],
    )
    def test_errors(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


class TestGrad:
    def test_argnums_and_aux(self):
        def f(a, b):
            return (a * b).sum(), a + 1

        g, aux = grad(f, argnums=(0, 1), has_aux=True)(X, 2 * X)
        near(g[0], 2 * X)
        near(g[1], X)
        near(aux, X + 1)
        g, (value, aux) = grad_and_value(f, has_aux=True)(X, 2 * X)
        near(value, (2 * X * X).sum())
        assert not value.requires_grad and not aux.requires_grad

    def test_nested(self):
        near(grad(lambda z: grad(lambda q: (q**3).sum())(z).sum())(X), 6 * X)
        third = grad(grad(grad(lambda z: z**4)))(trine.tensor(2.0))
        assert third.item() == 48

    def test_what_an_outer_pass_needs_is_kept(self):
        w = t(4).requires_grad_()
        grad(lambda z: (w * z * z).sum())(X[0]).sum().backward()
        near(w.grad, 2 * X[0])
        assert not grad(lambda z: (z * z).sum())(X[0]).requires_grad

    def test_gradient_of_a_vmap_sums_over_the_batch(self):
        w = t(4)
        near(grad(lambda w: vmap(lambda z: (w * z).sum().sin())(X).sum())(w), (X * (X @ w).cos()[:, None]).sum(0))
        near(grad(lambda w: vmap(lambda z: w.sum() + z.sum())(X).sum())(w), trine.full((4,), 3.0, dtype=trine.float64))
        v = w.clone().requires_grad_()
        vmap(lambda z: (v * z).sum())(X).sum().backward()
        near(v.grad, X.sum(0))

    def test_gradients_of_each_sample(self):
        model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
        params = {n: p.detach() for n, p in model.named_parameters()}
        targets = trine.tensor([0, 2, 1])

        def loss(params, x, y):
            return nn.functional.cross_entropy(func.functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))

        each = vmap(grad(loss), in_dims=(None, 0, 0))(params, X, targets)
        for i in range(3):
            model.zero_grad()
            nn.functional.cross_entropy(model(X[i : i + 1]), targets[i : i + 1]).backward()
            for name, p in model.named_parameters():
                near(each[name][i], p.grad)

    def test_gradients_of_each_image(self):
        model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2)).double()
        params, images = {n: p.detach() for n, p in model.named_parameters()}, t(3, 1, 6, 6)

        def loss(params, x):
            return func.functional_call(model, params, (x.unsqueeze(0),)).logsumexp(-1).sum()

        each = vmap(grad(loss), in_dims=(None, 0))(params, images)
        for i in range(3):
            model.zero_grad()
            model(images[i : i + 1]).logsumexp(-1).sum().backward()
            for name, p in model.named_parameters():
                near(each[name][i], p.grad)

    def test_ensemble(self):
        models = [nn.Linear(4, 2).double() for _ in range(3)]
        params, buffers = func.stack_module_state(models)
        out = vmap(lambda p, b, x: func.functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, X)
        near(out, trine.stack([m(X) for m in models]))

    def test_several_outputs_and_arguments(self):
        J = jacrev(lambda a, b: (a * b, {"s": a.sum()}), argnums=(0, 1))(X[0], X[1])
        near(J[0][1], trine.diag(X[0]))
        near(J[1]["s"][0], trine.ones(4, dtype=trine.float64))
        assert J[1]["s"][1].abs().sum() == 0

    def test_batched_gradients(self):
        q = X[0].clone().requires_grad_()
        (rows,) = trine.autograd.grad(q**2, q, trine.eye(4, dtype=trine.float64), is_grads_batched=True)
        near(rows, trine.diag(2 * X[0]))
        unused = t(2).requires_grad_()
        found = trine.autograd.grad(q**2, (q, unused), trine.eye(4, dtype=trine.float64), is_grads_batched=True, allow_unused=True)
        assert found[1] is None

    def test_forward_mode_nests(self):
        def f(x):
            return jvp(lambda q: q**3, (x,), (trine.ones_like(x),))[1]

        near(jvp(f, (X[0],), (trine.ones_like(X[0]),))[1], 6 * X[0])
        _, push = func.linearize(trine.sin, X[0])
        near(push(X[1]), X[0].cos() * X[1])

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: grad(lambda x: x)(X), "scalar tensor"),
            (lambda: grad(lambda x: 3)(X), "return a tensor"),
            (lambda: grad(lambda x: x.sum(), argnums=3)(X), "only 1 positional"),
            (lambda: grad(lambda x: x.sum())(3), "tensor"),
            (lambda: jvp(trine.sin, X, X), "tuples"),
            (lambda: jvp(trine.sin, (X,), (X, X)), "same python structure"),
            (lambda: vjp(trine.sin, X)[1]((X, X)), "structure of cotangents"),
        ],
    )
    def test_errors(self, call, message):
        with pytest.raises(RuntimeError, match=message):
            call()


class TestFunctionalCall:
    def test_tensors_are_replaced_and_put_back(self):
        layer = nn.Linear(2, 2)
        weight = layer.weight
        out = func.functional_call(layer, {"weight": trine.zeros(2, 2)}, (trine.ones(2),))
        assert trine.equal(out, layer.bias) and layer.weight is weight
        with pytest.raises(RuntimeError, match="Missing key"):
            func.functional_call(layer, {"weight": weight}, (trine.ones(2),), strict=True)
        assert trine.equal(func.functional_call(layer, {"nothing": weight}, (trine.ones(2),)), layer(trine.ones(2)))
        with pytest.raises(RuntimeError, match="Unexpected key"):
            func.functional_call(layer, {"nothing": weight}, (trine.ones(2),), strict=True)
        with pytest.raises(AttributeError):
            func.functional_call(layer, {"missing.weight": weight}, (trine.ones(2),))
        with pytest.raises(ValueError, match="to be a dict"):
            func.functional_call(layer, 5, (trine.ones(2),))
        with pytest.raises(ValueError, match="multiple dictionaries"):
            func.functional_call(layer, [{"weight": weight}, {"weight": weight}], (trine.ones(2),))
        assert layer.weight is weight

    def test_tied_weights(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Parameter(trine.ones(1))
                self.b = self.a

            def forward(self):
                return self.a + self.b

        assert func.functional_call(Tied(), {"a": trine.zeros(1)}).item() == 0
        assert func.functional_call(Tied(), {"a": trine.zeros(1)}, tie_weights=False).item() == 1


FACTORIES = {
    "rand": lambda: trine.rand(3), "randn": lambda: trine.randn(3), "randint": lambda: trine.randint(0, 10**6, (3,)),
    "randperm": lambda: trine.randperm(20), "normal": lambda: trine.normal(0.0, 1.0, (3,)),
}  # fmt: skip


@pytest.mark.parametrize("factory", FACTORIES)
def test_random_factories_draw_for_each_element_or_once(factory):
    def f(x):
        return FACTORIES[factory]() + x * 0

    def batch(randomness):
        return vmap(f, randomness=randomness)(trine.zeros(4))

    different, same = batch("different"), batch("same")
    assert different.shape == same.shape and len({tuple(row) for row in different.tolist()}) == 4
    assert len({tuple(row) for row in same.tolist()}) == 1
    if factory == "randperm":
        assert bool((different.sort(1)[0] == trine.arange(20)).all())
    with pytest.raises(RuntimeError, match="randomness error mode"):
        batch("error")


@pytest.mark.parametrize("outer, inner", [("same", "different"), ("different", "same"), ("different", "different")])
def test_random_factories_in_nested_vmaps(outer, inner):
    numbers = vmap(lambda x: vmap(lambda y: trine.rand(2) + y, randomness=inner)(x), randomness=outer)(trine.zeros(3, 4))
    assert trine.equal(numbers[0], numbers[1]) == (outer == "same")
    assert trine.equal(numbers[:, 0], numbers[:, 1]) == (inner == "same")
