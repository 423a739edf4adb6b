"""JPEG decoding of photographs to RGB, from bytes in memory."""

from __future__ import annotations

import io
from pathlib import Path

from bench_suite.cases import case

ROOT = Path(__file__).resolve().parent.parent.parent
# scikit-image is in the test environment; its photographs are real camera pictures.
NAMES = ["rocket.jpg", "hubble_deep_field.jpg", "retina.jpg"]


def encoded_pictures() -> list[bytes]:
    folders = list(ROOT.glob(".venv/lib/python3*/site-packages/skimage/data"))
    found = [folder / name for folder in folders for name in NAMES if (folder / name).exists()]
    if not found:
        raise RuntimeError("no sample photographs: scikit-image is not in .venv")
    return [path.read_bytes() for path in found]


@case("decode_jpeg", threads=(1,), simplejpeg=0.95, pillow=0.95, torchvision=0.95)
def decode_jpeg(trine):
    from trine.vision.io import ImageReadMode, decode_jpeg

    pictures = [trine.frombuffer(bytearray(data), dtype=trine.uint8) for data in encoded_pictures()]
    return lambda: [decode_jpeg(picture, mode=ImageReadMode.RGB) for picture in pictures]


@decode_jpeg.variant("simplejpeg")
def _(simplejpeg):
    pictures = encoded_pictures()
    return lambda: [simplejpeg.decode_jpeg(picture, "RGB") for picture in pictures]


@decode_jpeg.variant("pillow")
def _(image_module):
    pictures = encoded_pictures()
    return lambda: [image_module.open(io.BytesIO(picture)).convert("RGB").load() for picture in pictures]


@decode_jpeg.variant("torchvision")
def _(torchvision):
    import torch

    pictures = [torch.frombuffer(bytearray(data), dtype=torch.uint8) for data in encoded_pictures()]
    mode = torchvision.io.ImageReadMode.RGB
    return lambda: [torchvision.io.decode_jpeg(picture, mode=mode) for picture in pictures]
