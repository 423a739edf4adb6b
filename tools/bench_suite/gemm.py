"""Matrix products."""

from __future__ import annotations

from bench_suite.cases import case


def declare(name, size, dtype):
    @case(name, torch=1.0)
    def prepare(torch):
        a = torch.randn(size, size).to(getattr(torch, dtype))
        b = torch.randn(size, size).to(getattr(torch, dtype))
        return lambda: torch.mm(a, b)


for size in (256, 1024, 2048):
    declare(f"sgemm_{size}", size, "float32")
declare("bf16_gemm_1024", 1024, "bfloat16")
