"""Training neither grows nor keeps more than the graph needs."""

from __future__ import annotations

import gc
import weakref

import trine
from trine import nn


def test_a_deep_network_keeps_one_activation_a_layer():
    # PyTorch keeps for each Linear its input (the ReLU before it gives that very tensor): 50 x 2 MiB here, and one gradient of a
    # layer's size beside it. 1.05 of that sum is allowed.
    layers, batch, width = 50, 2048, 256
    model = nn.Sequential(*(m for _ in range(layers) for m in (nn.Linear(width, width), nn.ReLU())))
    x = trine.randn(batch, width)
    model(x).sum().backward()  # makes the .grad of parameters
    activation = batch * width * 4
    trine.reset_peak_memory_stats()
    before = trine.memory_stats()["allocated_bytes"]
    model(x).sum().backward()
    peak = trine.memory_stats()["peak_bytes"] - before
    assert peak <= 1.05 * (layers + 2) * activation, peak / activation


def test_ten_thousand_steps_do_not_grow():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = trine.optim.Adam(model.parameters(), lr=1e-3)
    x = trine.randn(3, 4)

    def steps(n):
        for _ in range(n):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        gc.collect()
        return trine.memory_stats()["allocated_bytes"], len(gc.get_objects())

    steps(100)
    bytes_before, objects_before = steps(100)
    bytes_after, objects_after = steps(10_000)
    assert bytes_after == bytes_before and objects_after - objects_before < 50


def test_a_cycle_through_a_hook_is_collected():
    x = trine.ones(3, requires_grad=True)
    x.register_hook(lambda g: g * x.detach())  # noqa: F821 (deleted below)
    (x * 2).sum().backward()
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_a_cycle_through_a_modules_hook_is_collected():
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda m, i, o: (module, o)[1])  # noqa: F821 (deleted below)
    module(trine.ones(1, 2)).sum().backward()
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None
