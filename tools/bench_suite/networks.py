"""Eager inference of convolutional networks, built from the same source for both libraries."""

from __future__ import annotations

from bench_suite.cases import case
from bench_suite.models import mobilenet_v2, resnet50


def inference(torch, net, batch):
    net = net.eval()
    x = torch.randn(batch, 3, 224, 224)

    def forward():
        with torch.no_grad():
            return net(x)

    return forward


@case("mobilenet_v2", torch=0.7)
def mobilenet_v2_batch_1(torch):
    return inference(torch, mobilenet_v2(torch.nn), 1)


@case("resnet50_batch_1", torch=0.9)
def resnet50_batch_1(torch):
    return inference(torch, resnet50(torch.nn), 1)


@case("resnet50_batch_8", torch=0.9)
def resnet50_batch_8(torch):
    return inference(torch, resnet50(torch.nn), 8)
