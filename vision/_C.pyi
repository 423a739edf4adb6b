"""Native codecs and resampling on objects with the buffer protocol."""

from collections.abc import Callable
from typing import Any

Allocate = Callable[[int, int, int, int], Any]

def decode_jpeg(data: Any, mode: int, apply_exif_orientation: bool, max_pixels: int, max_scans: int, allocate: Allocate, /) -> Any: ...
def decode_png(data: Any, mode: int, apply_exif_orientation: bool, max_pixels: int, max_chunk_bytes: int, allocate: Allocate, /) -> Any: ...
def encode_jpeg(pixels: Any, height: int, width: int, channels: int, quality: int, /) -> bytes: ...
def encode_png(pixels: Any, height: int, width: int, channels: int, compression_level: int, /) -> bytes: ...
def resize(
    source: Any,
    height: int,
    width: int,
    channels: int,
    target: Any,
    out_height: int,
    out_width: int,
    box: tuple[float, float, float, float],
    filter: int,
    /,
) -> None: ...
