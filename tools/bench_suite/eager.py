"""What one call costs: operators so small that only the way to the kernel counts."""

from __future__ import annotations

from bench_suite.cases import case


@case("add_one", threads=(1,), torch=0.15, numpy=1.0)
def add_one(torch):
    a, b = torch.ones(1), torch.ones(1)
    return lambda: a + b


@add_one.variant("numpy")
def _(np):
    a, b = np.ones(1, np.float32), np.ones(1, np.float32)
    return lambda: a + b


@case("add_one_recorded", threads=(1,), torch=0.25)
def add_one_recorded(torch):
    a, b = torch.ones(1, requires_grad=True), torch.ones(1)
    return lambda: a + b


@case("chain_forward_backward", threads=(1,), torch=0.3)
def chain_forward_backward(torch):
    x, b = torch.ones(1, requires_grad=True), torch.ones(1)

    def step():
        x.grad = None
        ((x * b + b).relu()).sum().backward()

    return step


@case("view", threads=(1,), torch=0.2)
def view(torch):
    x = torch.ones(4, 4)
    return lambda: x.view(16)


@case("select_row", threads=(1,), torch=0.2)
def select_row(torch):
    x = torch.ones(4, 4)
    return lambda: x[0]


@case("empty_four", threads=(1,), torch=0.2)
def empty_four(torch):
    empty = torch.empty
    return lambda: empty(4)


@case("matmul_4x4", threads=(1,), torch=0.2)
def matmul_4x4(torch):
    m = torch.ones(4, 4)
    return lambda: m @ m


def mlp(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


@case("mlp_inference", threads=(1,), torch=0.25)
def mlp_inference(torch):
    net, x = mlp(torch).eval(), torch.randn(1, 64)

    def forward():
        with torch.no_grad():
            return net(x)

    return forward


@case("mlp_training_step", threads=(1,), torch=0.4)
def mlp_training_step(torch):
    net, x = mlp(torch), torch.randn(32, 64)
    target = torch.arange(32) % 10
    optimizer = torch.optim.Adam(net.parameters())
    loss_of = torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss_of(net(x), target).backward()
        optimizer.step()

    return step
