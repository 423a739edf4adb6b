"""Ten million floats: memory traffic, fresh results, vector kernels."""

from __future__ import annotations

from bench_suite.cases import case

ROWS, COLUMNS = 10_000, 1_000


def matrix(torch):
    return torch.randn(ROWS, COLUMNS)


FRESH = {
    "add": lambda torch, x, y: torch.add(x, y),
    "exp": lambda torch, x, y: torch.exp(x),
    "softmax": lambda torch, x, y: torch.softmax(x, 1),
    "layer_norm": lambda torch, x, y: torch.nn.functional.layer_norm(x, (COLUMNS,)),
    "cat": lambda torch, x, y: torch.cat((x[: ROWS // 2], y[: ROWS // 2])),
    "transpose_contiguous": lambda torch, x, y: x.t().contiguous(),
}

INTO = {
    "add": lambda torch, x, y, out: torch.add(x, y, out=out),
    "exp": lambda torch, x, y, out: torch.exp(x, out=out),
    "softmax": lambda torch, x, y, out: torch.softmax(x, 1, out=out),
    "cat": lambda torch, x, y, out: torch.cat((x[: ROWS // 2], y[: ROWS // 2]), out=out),
}


def declare_fresh(name, work):
    @case(f"{name}_10m", torch=0.5)
    def prepare(torch):
        x, y = matrix(torch), matrix(torch)
        return lambda: work(torch, x, y)


def declare_into(name, work):
    @case(f"{name}_10m_out", torch=0.9)
    def prepare(torch):
        x, y, out = matrix(torch), matrix(torch), matrix(torch)
        return lambda: work(torch, x, y, out)


for operator, work in FRESH.items():
    declare_fresh(operator, work)
for operator, work in INTO.items():
    declare_into(operator, work)


@case("sum_10m", torch=0.9)
def sum_10m(torch):
    x = matrix(torch)
    return lambda: x.sum()


@case("transpose_copy_10m_out", torch=0.9)
def transpose_copy_10m_out(torch):
    x, out = matrix(torch), torch.empty(COLUMNS, ROWS)
    return lambda: out.copy_(x.t())
