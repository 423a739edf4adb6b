"""Makes tests/vision/data/mobilenet_v2_logits.npz: what real PyTorch says about scikit-image's sample photographs.

    ORACLE/bin/python tools/make_reference_logits.py WEIGHTS

ORACLE is an environment with torch, pillow and scikit-image (tools/oracle.py makes one); WEIGHTS is
mobilenet_v2-b0353104.pth. Trine is not used: the network is spelled out here over the file's names of tensors.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import skimage
import torch
import torch.nn.functional as F
from PIL import Image

PHOTOGRAPHS = ["chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg", "camera.png", "astronaut.png"]
TARGET = Path(__file__).resolve().parent.parent / "tests" / "vision" / "data" / "mobilenet_v2_logits.npz"
# expansion, channels, repeats, first stride: table 2 of the MobileNetV2 paper
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def conv_norm(x: torch.Tensor, state: dict, conv: str, norm: str, stride: int = 1, groups: int = 1) -> torch.Tensor:
    weight = state[conv + ".weight"]
    x = F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)
    mean, var = state[norm + ".running_mean"], state[norm + ".running_var"]
    return F.batch_norm(x, mean, var, state[norm + ".weight"], state[norm + ".bias"], eps=1e-5)


def mobilenet_v2(x: torch.Tensor, state: dict) -> torch.Tensor:
    x = F.relu6(conv_norm(x, state, "features.0.0", "features.0.1", stride=2))
    index = 1
    for expansion, _, repeats, first_stride in STAGES:
        for i in range(repeats):
            name, stride, before = f"features.{index}.conv", first_stride if i == 0 else 1, x
            part = 0
            if expansion != 1:
                x = F.relu6(conv_norm(x, state, f"{name}.0.0", f"{name}.0.1"))
                part = 1
            x = F.relu6(conv_norm(x, state, f"{name}.{part}.0", f"{name}.{part}.1", stride, groups=x.shape[1]))
            x = conv_norm(x, state, f"{name}.{part + 1}", f"{name}.{part + 2}")
            if before.shape == x.shape:
                x = x + before
            index += 1
    x = F.relu6(conv_norm(x, state, f"features.{index}.0", f"features.{index}.1"))
    return F.linear(x.mean((2, 3)), state["classifier.1.weight"], state["classifier.1.bias"])


def prepared(path: Path) -> torch.Tensor:
    """The usual preparation of ImageNet pictures, by Pillow: shorter side 256, middle 224, normalised."""
    image = Image.open(path).convert("RGB")
    scale = 256 / min(image.size)
    image = image.resize((int(image.width * scale), int(image.height * scale)), Image.BILINEAR)
    left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
    pixels = np.asarray(image.crop((left, top, left + 224, top + 224)), dtype=np.float32) / 255
    pixels = (pixels - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, help="mobilenet_v2-b0353104.pth")
    options = parser.parse_args()
    state = torch.load(options.weights, weights_only=True)
    folder = Path(skimage.__file__).parent / "data"
    with torch.inference_mode():
        batch = torch.stack([prepared(folder / name) for name in PHOTOGRAPHS])
        logits = mobilenet_v2(batch.double(), {key: value.double() for key, value in state.items()})
        in_float = mobilenet_v2(batch, state)
    print(f"torch {torch.__version__}: float32 differs from float64 by {float((logits - in_float).abs().max()):.2e}")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(TARGET, **dict(zip(PHOTOGRAPHS, in_float.numpy(), strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
