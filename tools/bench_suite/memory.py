"""The most memory that a forward and a backward pass of a deep network take: what a new process grows by, as the system counts it."""

from __future__ import annotations

import subprocess
import sys

from bench_suite.cases import case

PROGRAM = """
import importlib, sys
torch = importlib.import_module(sys.argv[1])
nn = torch.nn
torch.set_num_threads(1)

def bytes_of(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) * 1024

model, x = {model}
model(x[:1]).sum().backward()  # the code, the threads and the gradients of the parameters are there before
before = bytes_of("VmRSS")
model(x).sum().backward()
print(bytes_of("VmHWM") - before)
"""

MODELS = {
    "linear": "nn.Sequential(*(m for _ in range(50) for m in (nn.Linear(256, 256), nn.ReLU()))), torch.randn(16384, 256)",
    "convolutions": (
        "nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *(m for _ in range(49) for m in (nn.Conv2d(32, 32, 3, padding=1),"
        " nn.BatchNorm2d(32), nn.ReLU()))), torch.randn(8, 3, 96, 96)"
    ),
}


def declare(name: str) -> None:
    @case(f"memory_of_50_{name}", threads=(1,), unit="B", torch=1.05)
    def peak(library):
        command = [sys.executable, "-c", PROGRAM.replace("{model}", MODELS[name]), library.__name__]
        return lambda: int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


for name in MODELS:
    declare(name)
