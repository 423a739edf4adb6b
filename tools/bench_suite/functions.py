"""Heavier operators by name: linear algebra, transforms, sorting, indexing, sequences, batched derivatives."""

from __future__ import annotations

from bench_suite.cases import case


def declare(name, build, limit=1.0, threads=(1,)):
    @case(name, threads=threads, torch=limit)
    def prepare(torch):
        return build(torch)


def linear_algebra(name, size, batch, symmetric=False):
    def build(torch):
        a = torch.randn(batch, size, size) if batch > 1 else torch.randn(size, size)
        if symmetric:
            a = a @ a.transpose(-1, -2) + size * torch.eye(size)
        b = torch.randn(*a.shape[:-1], 8)
        calls = {
            "solve": lambda: torch.linalg.solve(a, b),
            "svd": lambda: torch.linalg.svd(a, full_matrices=False),
            "qr": lambda: torch.linalg.qr(a),
        }
        return calls.get(name) or (lambda: getattr(torch.linalg, name)(a))

    return build


for _name in ("solve", "svd", "eigh", "qr", "cholesky", "inv", "det"):
    for _batch, _size in ((1000, 4), (64, 32), (1, 200), (1, 512)):
        declare(f"{_name}_{_batch}x{_size}", linear_algebra(_name, _size, _batch, _name in ("eigh", "cholesky")))


def transform(name, shape, complex_input):
    def build(torch):
        x = torch.randn(shape, dtype=torch.complex64 if complex_input else torch.float32)
        return lambda: getattr(torch.fft, name)(x)

    return build


for _name, _shape, _complex in (
    ("fft", (64, 1024), True), ("fft", (1 << 18,), True), ("fft", (64, 1000), True), ("fft", (64, 1009), True), ("rfft", (64, 1024), False),
    ("rfft", (1 << 18,), False), ("fft2", (256, 256), True), ("fft2", (1024, 1024), True), ("rfft2", (8, 224, 224), False),
):  # fmt: skip
    declare(f"{_name}_{'x'.join(map(str, _shape))}", transform(_name, _shape, _complex))


def sequence(kind):
    def build(torch):
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(200, 200, 2)
        x = torch.randn(35, 20, 200)

        def step():
            layer.zero_grad()
            layer(x)[0].sum().backward()

        return step

    return build


for _kind in ("LSTM", "GRU"):
    declare(f"{_kind.lower()}_step", sequence(_kind), threads=(1, 2))


@case("ctc_step", threads=(1,), torch=1.0)
def ctc_step(torch):
    x = torch.randn(100, 16, 40).log_softmax(-1).requires_grad_()
    targets, steps, labels = torch.randint(1, 40, (16, 30)), (100,) * 16, (30,) * 16

    def step():
        x.grad = None
        torch.nn.functional.ctc_loss(x, targets, steps, labels).backward()

    return step


@case("embedding_bag_step", threads=(1,), torch=1.0)
def embedding_bag_step(torch):
    w, i, o = torch.randn(10_000, 64, requires_grad=True), torch.randint(0, 10_000, (4096,)), torch.arange(0, 4096, 16)

    def step():
        w.grad = None
        torch.nn.functional.embedding_bag(i, w, o, mode="sum").sum().backward()

    return step


@case("grid_sample_step", threads=(1,), torch=1.0)
def grid_sample_step(torch):
    x, grid = torch.randn(4, 16, 64, 64, requires_grad=True), (torch.rand(4, 64, 64, 2) * 2 - 1).requires_grad_()

    def step():
        x.grad = grid.grad = None
        torch.nn.functional.grid_sample(x, grid, align_corners=False).sum().backward()

    return step


@case("conv3d", threads=(1,), torch=1.0)
def conv3d(torch):
    x, layer = torch.randn(2, 16, 12, 28, 28), torch.nn.Conv3d(16, 32, 3, padding=1)
    return lambda: layer(x)


@case("index_put_accumulate", threads=(1,), torch=1.0)
def index_put_accumulate(torch):
    x, i, v = torch.zeros(10_000), torch.randint(0, 10_000, (100_000,)), torch.randn(100_000)
    return lambda: x.index_put_((i,), v, accumulate=True)


def network(torch):
    torch.manual_seed(0)
    a, b = torch.randn(64, 64) / 8, torch.randn(64, 64) / 8
    return lambda x: torch.tanh(torch.tanh(x @ a) @ b)


@case("jacobian_vectorised", threads=(1,), torch=1.0)
def jacobian_vectorised(torch):
    f, x = network(torch), torch.randn(64)
    return lambda: torch.autograd.functional.jacobian(f, x, vectorize=True)


@case("hessian_vectorised", threads=(1,), torch=1.0)
def hessian_vectorised(torch):
    f, x = network(torch), torch.randn(64)
    return lambda: torch.autograd.functional.hessian(lambda x: f(x).sum(), x, vectorize=True)


@case("per_sample_gradients", threads=(1,), torch=1.0)
def per_sample_gradients(torch):
    torch.manual_seed(0)
    import importlib

    func = importlib.import_module(f"{torch.__name__}.func")
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    params = {n: p.detach() for n, p in model.named_parameters()}
    x, y = torch.randn(64, 32), torch.randn(64, 10)
    each = func.vmap(func.grad(lambda p, x, y: ((func.functional_call(model, p, (x,)) - y) ** 2).mean()), in_dims=(None, 0, 0))
    return lambda: each(params, x, y)
