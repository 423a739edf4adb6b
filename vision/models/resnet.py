"""ResNet (He et al., "Deep Residual Learning for Image Recognition", CVPR 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import trine
from trine import Tensor, nn
from trine.nn.modules import conv_norm_activation
from trine.vision.models._registry import register_model
from trine.vision.models._weights import Weights, WeightsEnum, handle_pretrained, imagenet_meta
from trine.vision.transforms._presets import ImageClassification


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """A 3x3 convolution that keeps the size at stride 1."""
    return nn.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation=dilation, groups=groups, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """A 1x1 convolution."""
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        if groups != 1 or base_width != 64 or dilation != 1:
            raise ValueError(f"BasicBlock: needs groups=1, base_width=64 and dilation=1, got {groups}, {base_width} and {dilation}")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = conv_norm_activation(self.conv1, self.bn1, self.relu, x)
        return conv_norm_activation(self.conv2, self.bn2, self.relu, out, residual=identity)


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions and a shortcut. The stride is the 3x3's ("ResNet V1.5"), not the paper's 1x1's."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = conv_norm_activation(self.conv1, self.bn1, self.relu, x)
        out = conv_norm_activation(self.conv2, self.bn2, self.relu, out)
        return conv_norm_activation(self.conv3, self.bn3, self.relu, out, residual=identity)


class ResNet(nn.Module):
    """ResNet.

    Args:
        block: :class:`BasicBlock` or :class:`Bottleneck`.
        layers: blocks of each of the four stages.
        num_classes: outputs of the classifier.
        zero_init_residual: start every block as the identity.
        groups: of the 3x3 convolutions of a bottleneck.
        width_per_group: their channels per 64 planes.
        replace_stride_with_dilation: for stages 2 to 4, dilate instead of striding.
        norm_layer: makes a normalisation; BatchNorm2d by default.

    Input: float (batch, 3, height, width). Output: logits (batch, num_classes).
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes = 64
        self.dilation = 1
        self.groups = groups
        self.base_width = width_per_group
        dilate = (False, False, False) if replace_stride_with_dilation is None else replace_stride_with_dilation
        if len(dilate) != 3:
            raise ValueError(f"ResNet: replace_stride_with_dilation must have three entries, got {dilate}")
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._stage(block, 64, layers[0])
        self.layer2 = self._stage(block, 128, layers[1], stride=2, dilate=dilate[0])
        self.layer3 = self._stage(block, 256, layers[2], stride=2, dilate=dilate[1])
        self.layer4 = self._stage(block, 512, layers[3], stride=2, dilate=dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        self._initialise(zero_init_residual)

    def _stage(
        self, block: type[BasicBlock] | type[Bottleneck], planes: int, count: int, stride: int = 1, dilate: bool = False
    ) -> nn.Sequential:
        first_dilation = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        width = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != width:
            downsample = nn.Sequential(conv1x1(self.inplanes, width, stride), self._norm_layer(width))
        make = partial(block, groups=self.groups, base_width=self.base_width, norm_layer=self._norm_layer)
        blocks = [make(self.inplanes, planes, stride, downsample, dilation=first_dilation)]
        self.inplanes = width
        blocks += [make(width, planes, dilation=self.dilation) for _ in range(1, count)]
        return nn.Sequential(*blocks)

    def _initialise(self, zero_init_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, (BasicBlock, Bottleneck)):
                    nn.init.constant_(module.bn3.weight if isinstance(module, Bottleneck) else module.bn2.weight, 0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(conv_norm_activation(self.conv1, self.bn1, self.relu, x))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(trine.flatten(self.avgpool(x), 1))


def _weights(file: str, acc1: float, acc5: float, num_params: int, resize_size: int = 256) -> Weights:
    return Weights(
        url=f"https://download.pytorch.org/models/{file}",
        transforms=partial(ImageClassification, crop_size=224, resize_size=resize_size),
        meta=imagenet_meta(num_params=num_params, acc1=acc1, acc5=acc5),
    )


class ResNet18_Weights(WeightsEnum):
    """Published weights of :func:`resnet18`."""

    IMAGENET1K_V1 = _weights("resnet18-f37072fd.pth", 69.758, 89.078, 11_689_512)
    DEFAULT = IMAGENET1K_V1


class ResNet34_Weights(WeightsEnum):
    """Published weights of :func:`resnet34`."""

    IMAGENET1K_V1 = _weights("resnet34-b627a593.pth", 73.314, 91.420, 21_797_672)
    DEFAULT = IMAGENET1K_V1


class ResNet50_Weights(WeightsEnum):
    """Published weights of :func:`resnet50`."""

    IMAGENET1K_V1 = _weights("resnet50-0676ba61.pth", 76.130, 92.862, 25_557_032)
    IMAGENET1K_V2 = _weights("resnet50-11ad3fa6.pth", 80.858, 95.434, 25_557_032, resize_size=232)
    DEFAULT = IMAGENET1K_V2


class ResNet101_Weights(WeightsEnum):
    """Published weights of :func:`resnet101`."""

    IMAGENET1K_V1 = _weights("resnet101-63fe2227.pth", 77.374, 93.546, 44_549_160)
    IMAGENET1K_V2 = _weights("resnet101-cd907fc2.pth", 81.886, 95.780, 44_549_160, resize_size=232)
    DEFAULT = IMAGENET1K_V2


class ResNet152_Weights(WeightsEnum):
    """Published weights of :func:`resnet152`."""

    IMAGENET1K_V1 = _weights("resnet152-394f9c45.pth", 78.312, 94.046, 60_192_808)
    IMAGENET1K_V2 = _weights("resnet152-f82ba261.pth", 82.284, 96.002, 60_192_808, resize_size=232)
    DEFAULT = IMAGENET1K_V2


def _build(
    default: WeightsEnum, weights: WeightsEnum | str | None, block: type, layers: Sequence[int], progress: bool,
    kwargs: dict[str, Any],
) -> ResNet:  # fmt: skip
    chosen = handle_pretrained(default, weights, kwargs)
    if chosen is None:
        return ResNet(block, layers, **kwargs)
    model = ResNet(block, layers, **{"num_classes": len(chosen.meta["categories"]), **kwargs})
    model.load_state_dict(chosen.get_state_dict(progress=progress))
    return model


@register_model
def resnet18(*, weights: ResNet18_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet of 18 layers; see :class:`ResNet`."""
    return _build(ResNet18_Weights.IMAGENET1K_V1, weights, BasicBlock, (2, 2, 2, 2), progress, kwargs)


@register_model
def resnet34(*, weights: ResNet34_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet of 34 layers; see :class:`ResNet`."""
    return _build(ResNet34_Weights.IMAGENET1K_V1, weights, BasicBlock, (3, 4, 6, 3), progress, kwargs)


@register_model
def resnet50(*, weights: ResNet50_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers; see :class:`ResNet`."""
    return _build(ResNet50_Weights.IMAGENET1K_V1, weights, Bottleneck, (3, 4, 6, 3), progress, kwargs)


@register_model
def resnet101(*, weights: ResNet101_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers; see :class:`ResNet`."""
    return _build(ResNet101_Weights.IMAGENET1K_V1, weights, Bottleneck, (3, 4, 23, 3), progress, kwargs)


@register_model
def resnet152(*, weights: ResNet152_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet of 152 layers; see :class:`ResNet`."""
    return _build(ResNet152_Weights.IMAGENET1K_V1, weights, Bottleneck, (3, 8, 36, 3), progress, kwargs)
