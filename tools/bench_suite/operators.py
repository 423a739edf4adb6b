"""Operators one by one at three sizes: 16, 16 thousand and 4 million elements. The promise is about all of them together: a geometric mean of 0.7
(``tools/bench operators`` prints it), and none above 1.3."""

from __future__ import annotations

import math
from collections.abc import Callable

from bench_suite.cases import case

SIZES = {"16": 16, "16k": 16 * 1024, "4m": 4 * 1024 * 1024}
LIMIT = 1.3

UNARY = [
    "abs",
    "acos",
    "acosh",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logit",
    "neg",
    "positive",
    "rad2deg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
UNARY_SPECIAL = [
    "entr",
    "erfcx",
    "i0",
    "i0e",
    "i1",
    "log_ndtr",
    "ndtr",
    "ndtri",
]
ACTIVATIONS = [
    "celu",
    "elu",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "relu6",
    "selu",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
]
BINARY = [
    "add",
    "atan2",
    "copysign",
    "div",
    "eq",
    "fmax",
    "fmin",
    "fmod",
    "ge",
    "gt",
    "heaviside",
    "hypot",
    "le",
    "logaddexp",
    "logical_and",
    "logical_or",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "nextafter",
    "pow",
    "remainder",
    "sub",
    "true_divide",
    "xlogy",
]
INTEGER = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "floor_divide",
    "gcd",
]

Work = Callable[..., object]
# Of a square-ish matrix x, a second one y, and a mask or index where one is needed.
MATRIX: dict[str, Work] = {
    "sum": lambda t, x, y: x.sum(),
    "sum_rows": lambda t, x, y: x.sum(0),
    "sum_columns": lambda t, x, y: x.sum(1),
    "mean": lambda t, x, y: x.mean(),
    "prod": lambda t, x, y: x.prod(),
    "var": lambda t, x, y: x.var(1),
    "std": lambda t, x, y: x.std(),
    "amax": lambda t, x, y: x.amax(1),
    "max": lambda t, x, y: x.max(),
    "max_dim": lambda t, x, y: x.max(1),
    "min_rows": lambda t, x, y: x.min(0),
    "argmax": lambda t, x, y: x.argmax(1),
    "argmin": lambda t, x, y: x.argmin(),
    "norm": lambda t, x, y: x.norm(),
    "norm_columns": lambda t, x, y: x.norm(dim=1),
    "logsumexp": lambda t, x, y: x.logsumexp(1),
    "any": lambda t, x, y: (x > 3).any(),
    "all": lambda t, x, y: (x < 9).all(1),
    "count_nonzero": lambda t, x, y: t.count_nonzero(x),
    "cumsum": lambda t, x, y: x.cumsum(1),
    "cumprod": lambda t, x, y: x.cumprod(1),
    "cummax": lambda t, x, y: x.cummax(1),
    "logcumsumexp": lambda t, x, y: x.logcumsumexp(1),
    "diff": lambda t, x, y: x.diff(),
    "softmax": lambda t, x, y: x.softmax(1),
    "log_softmax": lambda t, x, y: x.log_softmax(1),
    "softmax_rows": lambda t, x, y: x.softmax(0),
    "layer_norm": lambda t, x, y: t.nn.functional.layer_norm(x, x.shape[1:]),
    "normalize": lambda t, x, y: t.nn.functional.normalize(x),
    "sort": lambda t, x, y: x.sort(1),
    "argsort": lambda t, x, y: x.argsort(1),
    "topk": lambda t, x, y: x.topk(2, 1),
    "kthvalue": lambda t, x, y: x.kthvalue(2, 1),
    "median": lambda t, x, y: x.median(1),
    "unique": lambda t, x, y: (x * 10).long().unique(),
    "histc": lambda t, x, y: x.histc(20),
    "bincount": lambda t, x, y: x.abs().long().reshape(-1).bincount(),
    "clone": lambda t, x, y: x.clone(),
    "transpose": lambda t, x, y: x.t().contiguous(),
    "flip": lambda t, x, y: x.flip(1),
    "roll": lambda t, x, y: x.roll(1, 1),
    "rot90": lambda t, x, y: x.rot90(),
    "cat": lambda t, x, y: t.cat([x, y]),
    "stack": lambda t, x, y: t.stack([x, y]),
    "repeat": lambda t, x, y: x[:1].repeat(x.shape[0], 1),
    "repeat_interleave": lambda t, x, y: x.repeat_interleave(2, 0),
    "tile": lambda t, x, y: x[:, :1].tile(1, x.shape[1]),
    "pad": lambda t, x, y: t.nn.functional.pad(x, (1, 1)),
    "reflect": lambda t, x, y: t.nn.functional.pad(x[None], (1, 1), mode="reflect"),
    "tril": lambda t, x, y: x.tril(),
    "triu": lambda t, x, y: x.triu(),
    "diagonal": lambda t, x, y: x.diagonal().clone(),
    "where": lambda t, x, y: t.where(x > 0, x, y),
    "masked_fill": lambda t, x, y: x.masked_fill(x > 0, 0.0),
    "masked_select": lambda t, x, y: x[x > 0],
    "nonzero": lambda t, x, y: (x > 1).nonzero(),
    "clamp": lambda t, x, y: x.clamp(-1, 1),
    "lerp": lambda t, x, y: x.lerp(y, 0.3),
    "addcmul": lambda t, x, y: t.addcmul(x, x, y),
    "addcdiv": lambda t, x, y: t.addcdiv(x, x, y),
    "to_double": lambda t, x, y: x.double(),
    "to_bfloat16": lambda t, x, y: x.bfloat16(),
    "to_int": lambda t, x, y: x.int(),
    "add_number": lambda t, x, y: x + 1,
    "mul_inplace": lambda t, x, y: y.mul_(1.0),
    "add_row": lambda t, x, y: x + y[:1],
    "add_column": lambda t, x, y: x + y[:, :1],
    "add_transposed": lambda t, x, y: x[:, : x.shape[0]] + y[:, : x.shape[0]].t() if x.shape[0] <= x.shape[1] else x,
    "outer": lambda t, x, y: t.outer(x[:, 0], y[0]),
    "mv": lambda t, x, y: x @ y[0],
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y),
    "l1_loss": lambda t, x, y: t.nn.functional.l1_loss(x, y),
    "smooth_l1_loss": lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y),
    "bce_with_logits": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "kl_div": lambda t, x, y: t.nn.functional.kl_div(x, y.abs(), reduction="sum"),
    "cosine_similarity": lambda t, x, y: t.nn.functional.cosine_similarity(x, y),
    "dropout": lambda t, x, y: t.nn.functional.dropout(x),
    "glu": lambda t, x, y: t.nn.functional.glu(x),
    "prelu": lambda t, x, y: t.nn.functional.prelu(x, y[0, :1]),
    "rand": lambda t, x, y: t.rand_like(x),
    "randn": lambda t, x, y: t.randn_like(x),
    "bernoulli": lambda t, x, y: t.bernoulli(y.sigmoid()),
    "zeros": lambda t, x, y: t.zeros_like(x),
    "full": lambda t, x, y: t.full_like(x, 2.0),
    "isclose": lambda t, x, y: t.isclose(x, y),
    "equal": lambda t, x, y: t.equal(x, x.clone()),
    "dist": lambda t, x, y: t.dist(x, y),
    "searchsorted": lambda t, x, y: t.bucketize(x, t.linspace(-2, 2, 33)),
    "gather": lambda t, x, y: x.gather(1, (y.abs() * 2).long().clamp_max(x.shape[1] - 1)),
    "take_along_dim": lambda t, x, y: t.take_along_dim(x, y[:, :1].abs().long().clamp_max(x.shape[1] - 1), 1),
}
# Of an index over the rows too.
INDEXED: dict[str, Work] = {
    "index_select": lambda t, x, i: x.index_select(0, i),
    "index_rows": lambda t, x, i: x[i],
    "index_add": lambda t, x, i: x.index_add(0, i, x),
    "index_put": lambda t, x, i: x.index_put((i,), x),
    "scatter_add": lambda t, x, i: x.scatter_add(0, i[:, None].expand_as(x), x),
    "embedding": lambda t, x, i: t.nn.functional.embedding(i, x),
    "one_hot": lambda t, x, i: t.nn.functional.one_hot(i % 7, 7),
    "cross_entropy": lambda t, x, i: t.nn.functional.cross_entropy(x, i % x.shape[1]),
}


def shape(size):
    columns = 4 if size == 16 else 128 if size < 100_000 else 1024
    return size // columns, columns


def declare(label, size, build):
    @case(f"op_{label}", threads=(1,), torch=LIMIT)
    def prepare(torch):
        return build(torch, size)


def unary(find):
    def build(torch, size):
        function, x = find(torch), torch.rand(shape(size)) * 0.9 + 0.05
        return lambda: function(x)

    return build


def binary(name, integer=False):
    def build(torch, size):
        function = getattr(torch, name)
        x, y = torch.rand(shape(size)) + 0.5, torch.rand(shape(size)) + 0.5
        if integer:
            x, y = (x * 100).long(), (y * 100).long()
        return lambda: function(x, y)

    return build


def matrix(work):
    def build(torch, size):
        x, y = torch.randn(shape(size)), torch.randn(shape(size))
        return lambda: work(torch, x, y)

    return build


def indexed(work):
    def build(torch, size):
        x = torch.randn(shape(size))
        i = torch.randint(0, x.shape[0], (x.shape[0],))
        return lambda: work(torch, x, i)

    return build


BUILDERS = {
    **{name: unary(lambda t, name=name: getattr(t, name)) for name in UNARY},
    **{f"special.{name}": unary(lambda t, name=name: getattr(t.special, name)) for name in UNARY_SPECIAL},
    **{f"F.{name}": unary(lambda t, name=name: getattr(t.nn.functional, name)) for name in ACTIVATIONS},
    **{name: binary(name) for name in BINARY},
    **{name: binary(name, integer=True) for name in INTEGER},
    **{name: matrix(work) for name, work in MATRIX.items()},
    **{name: indexed(work) for name, work in INDEXED.items()},
}  # fmt: skip
for _label, _build in BUILDERS.items():
    for _size_name, _size in SIZES.items():
        declare(f"{_label}_{_size_name}", _size, _build)


def summary(ratios: dict[str, float]) -> str:
    """What is promised of all operators together, from the ratios by case."""
    if not ratios:
        return ""
    logs = [math.log(r) for r in ratios.values()]
    lines = [f"geometric mean of {len(logs)}: {math.exp(sum(logs) / len(logs)):.3f} (at most 0.7)"]
    for name in SIZES:
        part = [math.log(r) for c, r in ratios.items() if c.endswith(f"_{name}")]
        if part:
            lines.append(f"  {name} elements: {math.exp(sum(part) / len(part)):.3f} over {len(part)}")
    return "\n".join(lines)
