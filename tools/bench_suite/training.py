"""Training steps: forward, backward and the optimizer."""

from __future__ import annotations

from bench_suite.cases import case
from bench_suite.models import resnet18, transformer_encoder


def training_step(torch, net, x, target):
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss_of(net(x), target).backward()
        optimizer.step()

    return step


@case("resnet18_training_step", torch=1.0)
def resnet18_training_step(torch):
    net = resnet18(torch.nn, classes=10).train()
    return training_step(torch, net, torch.randn(32, 3, 64, 64), torch.arange(32) % 10)


@case("transformer_training_step", torch=1.0)
def transformer_training_step(torch):
    net = transformer_encoder(torch, width=128, heads=4, layers=2, classes=10).train()
    return training_step(torch, net, torch.randn(16, 64, 128), torch.arange(16) % 10)
