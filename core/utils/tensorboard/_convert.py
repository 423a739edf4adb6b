"""Tensors, arrays and numbers as what TensorBoard's messages hold: NumPy arrays, PNG, GIF and WAV."""

from __future__ import annotations

import io
import math
import wave
from typing import Any

import numpy as np
import trine

__all__ = ["as_array", "encode_gif", "encode_png", "encode_wav", "figure_image", "to_hwc", "to_pixels"]


def as_array(x: Any) -> Any:
    """A tensor, number or sequence as a NumPy array; bfloat16 and float16 as float32."""
    if isinstance(x, trine.Tensor):
        x = x.detach().cpu()
        return (x.float() if x.dtype in (trine.bfloat16, trine.float16) else x).numpy(force=True)
    if isinstance(x, (list, tuple)) and any(isinstance(v, trine.Tensor) for v in x):
        return np.stack([as_array(v) for v in x])
    if not isinstance(x, (np.ndarray, np.generic, bool, int, float, list, tuple)):
        raise NotImplementedError(f"tensorboard: expected a tensor, an array or numbers, got {type(x).__name__}")
    return np.asarray(x)


def to_pixels(array: Any) -> Any:
    """uint8 as it is; anything else from [0, 1], what lies outside clipped."""
    return array if array.dtype == np.uint8 else (np.clip(array.astype(np.float64), 0, 1) * 255).astype(np.uint8)


def to_hwc(array: Any, dataformats: str) -> Any:
    """Array whose dimensions are named by ``dataformats`` (letters of NHWC) as H x W x 3 or 4; a batch becomes one grid."""
    letters = dataformats.upper()
    if len(set(letters)) != len(letters) or not set(letters) <= set("NCHW") or len(letters) != array.ndim or not {"H", "W"} <= set(letters):
        raise ValueError(f"tensorboard: an array of shape {array.shape} does not have the dimensions {dataformats!r}")
    order = [letters.index(letter) for letter in "NHWC" if letter in letters]
    array = array.transpose(order)
    if "C" not in letters:
        array = array[..., None]
    if array.shape[-1] not in (1, 3, 4):
        raise ValueError(
            f"tensorboard: an image has 1, 3 or 4 channels, the array of shape {array.shape} ({dataformats!r} reordered) does not"
        )
    if array.shape[-1] == 1:
        array = np.repeat(array, 3, axis=-1)
    if "N" in letters:
        array = _grid(array)
    return array


def _grid(images: Any) -> Any:
    """N x H x W x C as one picture, at most 8 in a row."""
    count, height, width, channels = images.shape
    columns = min(count, 8)
    rows = math.ceil(count / columns) if count else 0
    grid = np.zeros((rows * height, columns * width, channels), images.dtype)
    for i, image in enumerate(images):
        row, column = divmod(i, columns)
        grid[row * height : (row + 1) * height, column * width : (column + 1) * width] = image
    return grid


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "tensorboard: pictures need Pillow; install it with: pip install trine[tensorboard]", name="PIL"
        ) from None
    return Image


def encode_png(pixels: Any, rescale: float = 1.0) -> tuple[bytes, int, int]:
    """(PNG, height, width) of H x W x C uint8."""
    image = _pillow().fromarray(pixels)
    if rescale != 1:
        image = image.resize((max(1, int(image.width * rescale)), max(1, int(image.height * rescale))))
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue(), image.height, image.width


def encode_gif(frames: Any, fps: float) -> bytes:
    """GIF of T x H x W x C uint8."""
    images = [_pillow().fromarray(frame) for frame in frames]
    buffer = io.BytesIO()
    images[0].save(buffer, format="GIF", save_all=True, append_images=images[1:], duration=1000 / fps, loop=0)
    return buffer.getvalue()


def encode_wav(samples: Any, rate: int) -> bytes:
    """16-bit mono WAV of samples in [-1, 1]."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return buffer.getvalue()


def figure_image(figure: Any, close: bool) -> Any:
    """A matplotlib figure as H x W x 4 uint8."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())
    if close:
        from matplotlib import pyplot

        pyplot.close(figure)
    return pixels
