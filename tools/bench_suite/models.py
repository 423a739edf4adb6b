"""Networks written once against ``nn``, so that Trine and PyTorch build the very same thing."""

from __future__ import annotations

MOBILENET_V2 = [  # expansion, channels, repeats, stride of the first: table 2 of arXiv:1801.04381
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def conv_bn(nn, inputs, outputs, kernel, stride=1, groups=1, activation=None):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    if activation is not None:
        layers.append(activation(inplace=True))
    return layers


def mobilenet_v2(nn, classes=1000):
    """MobileNetV2 at width 1."""

    class InvertedResidual(nn.Module):
        def __init__(self, inputs, outputs, stride, expansion):
            super().__init__()
            hidden = inputs * expansion
            self.use_residual = stride == 1 and inputs == outputs
            layers = conv_bn(nn, inputs, hidden, 1, activation=nn.ReLU6) if expansion != 1 else []
            layers += conv_bn(nn, hidden, hidden, 3, stride, groups=hidden, activation=nn.ReLU6)
            layers += conv_bn(nn, hidden, outputs, 1)
            self.conv = nn.Sequential(*layers)

        def forward(self, x):
            return x + self.conv(x) if self.use_residual else self.conv(x)

    layers, channels = conv_bn(nn, 3, 32, 3, 2, activation=nn.ReLU6), 32
    for expansion, outputs, repeats, stride in MOBILENET_V2:
        for index in range(repeats):
            layers.append(InvertedResidual(channels, outputs, stride if index == 0 else 1, expansion))
            channels = outputs
    layers += conv_bn(nn, channels, 1280, 1, activation=nn.ReLU6)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, classes))


def resnet(nn, bottleneck, repeats, classes):
    """A residual network of arXiv:1512.03385, with the stride on the 3x3 convolution."""

    class Block(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            outputs = width * (4 if bottleneck else 1)
            if bottleneck:
                layers = conv_bn(nn, inputs, width, 1, activation=nn.ReLU)
                layers += conv_bn(nn, width, width, 3, stride, activation=nn.ReLU)
                layers += conv_bn(nn, width, outputs, 1)
            else:
                layers = conv_bn(nn, inputs, width, 3, stride, activation=nn.ReLU)
                layers += conv_bn(nn, width, outputs, 3)
            self.body = nn.Sequential(*layers)
            self.shortcut = None
            if stride != 1 or inputs != outputs:
                self.shortcut = nn.Sequential(*conv_bn(nn, inputs, outputs, 1, stride))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            y = self.body(x)
            y += x if self.shortcut is None else self.shortcut(x)
            return self.relu(y)

    layers = [*conv_bn(nn, 3, 64, 7, 2, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, count in enumerate(repeats):
        width = 64 * 2**stage
        for index in range(count):
            layers.append(Block(channels, width, 2 if stage > 0 and index == 0 else 1))
            channels = width * (4 if bottleneck else 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def resnet18(nn, classes=1000):
    return resnet(nn, False, [2, 2, 2, 2], classes)


def resnet50(nn, classes=1000):
    return resnet(nn, True, [3, 4, 6, 3], classes)


def transformer_encoder(torch, width, heads, layers, classes):
    """A pre-norm encoder over (batch, length, width) with a mean-pooled classifier."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.expand, self.contract = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):  # (batch, length, width)
            batch, length, _ = x.shape
            qkv = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)  # each (batch, heads, length, width / heads)
            attended = functional.scaled_dot_product_attention(q, k, v)
            x = x + self.proj(attended.transpose(1, 2).reshape(batch, length, width))
            return x + self.contract(functional.gelu(self.expand(self.norm2(x))))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(*(Layer() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

        def forward(self, x):
            return self.head(self.norm(self.layers(x)).mean(1))

    return Encoder()
