"""Pictures for the tests, made without Trine."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import trine
from PIL import Image
from trine import Tensor


def noise(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Smooth colours with some noise: compresses like a photograph, and every sample is different."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (7 + 3 * c)) + np.cos(y / (11 - 2 * c)) for c in range(channels)]
    picture = 127 + 55 * np.stack(waves, -1) + rng.normal(0, 6, (height, width, channels))
    return np.clip(picture, 0, 255).astype(np.uint8)


def encoded(image: Image.Image | np.ndarray, format: str, **options: object) -> bytes:
    """The bytes of a file that Pillow writes."""
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    """What Pillow reads."""
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def as_bytes(data: bytes) -> Tensor:
    """A file's bytes as the decoders take them."""
    return trine.frombuffer(bytearray(data), dtype=trine.uint8) if data else trine.empty(0, dtype=trine.uint8)


def interleaved(image: Tensor) -> np.ndarray:
    """(channels, height, width) as NumPy's (height, width, channels)."""
    return image.permute(1, 2, 0).contiguous().numpy()


def skimage_photograph(name: str) -> Path:
    """A sample photograph of scikit-image."""
    import skimage

    return Path(skimage.__file__).parent / "data" / name
