"""Writes the checkpoints in this folder with real PyTorch: ``python make.py`` in an environment that has it."""

from __future__ import annotations

import argparse
import collections
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent


def everything() -> dict:
    """One value of every kind that a checkpoint may hold; the tests know what each is."""
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    for at, parameter in enumerate(model.parameters()):
        torch.nn.init.constant_(parameter, at + 0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.25)
    model(torch.ones(2, 2)).sum().backward()
    optimizer.step()
    marked = torch.ones(2)
    marked.label = "a tensor with an attribute"
    dtypes = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
    return {
        "base": base,
        "row": base[1],
        "transposed": base.t(),
        "strided": base[::2, 1::2],
        "expanded": torch.full((1,), 7.0).expand(5),
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
        "dtypes": {name: torch.tensor([0, 1, 2]).to(getattr(torch, name)) for name in dtypes.split()},
        "parameter": torch.nn.Parameter(torch.full((2,), 3.0)),
        "frozen": torch.nn.Parameter(torch.full((2,), 4.0), requires_grad=False),
        "leaf": torch.ones(2, requires_grad=True),
        "marked": marked,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "meta": torch.empty(2, 3, device="meta"),
        "device": torch.device("cpu"),
        "cuda": torch.device("cuda", 1),
        "dtype": torch.bfloat16,
        "size": torch.Size([2, 3]),
        "ordered": collections.OrderedDict(z=1, a=2),
        "default": collections.defaultdict(list, {"k": [1]}),
        "counter": collections.Counter("aab"),
        "set": {1, 2, 3},
        "tuple": (1, (2, ("three", None))),
        "numbers": [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -(2**31), 2**63, -(2**70), 0.1, float("inf"), 1 + 2j, True, False],
        "text": "naïve \N{SNOWMAN} \U0001f40d",
        "bytes": b"\x00\xff\n",
        "bytearray": bytearray(b"\x00\xff"),
        "numpy": {"array": np.arange(6, dtype=np.int16).reshape(2, 3), "scalar": np.float64(0.5)},
    }


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    torch.manual_seed(0)
    for protocol in (2, 3, 4, 5):
        torch.save(everything(), HERE / f"zip_protocol{protocol}.pt", pickle_protocol=protocol)
    torch.save(everything(), HERE / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(2, 2), HERE / "whole_module.pt")


if __name__ == "__main__":
    main()
