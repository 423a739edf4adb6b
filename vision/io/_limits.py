"""How much a picture file may ask for before it is refused.

A file of a few hundred bytes can claim 65,500 x 65,500 pixels, and a progressive JPEG thousands of scans over them.
The limits are the process's, not a thread's.
"""

from __future__ import annotations

import sys

MAX_PNG_CHUNK_BYTES = 8 << 20  # the largest known chunk that is kept, the palette, has 768 bytes; EXIF can be larger

_max_image_pixels = 178_956_970  # where Pillow, too, refuses a picture
_max_jpeg_scans = 100  # encoders use about ten


def _checked(name: str, value: int | None) -> int:
    if value is None:
        return 0
    if not 0 < value <= sys.maxsize:
        raise ValueError(f"{name}: expected a positive number or None for no limit, got {value}")
    return int(value)


def set_max_image_pixels(limit: int | None) -> None:
    """Refuse pictures of more than ``limit`` pixels (height times width) from now on; ``None`` allows any.

    Raises:
        ValueError: if ``limit`` is not positive.

    >>> from trine.vision import io
    >>> before = io.get_max_image_pixels()
    >>> io.set_max_image_pixels(1_000_000)
    >>> io.get_max_image_pixels()
    1000000
    >>> io.set_max_image_pixels(before)
    """
    global _max_image_pixels
    _max_image_pixels = _checked("set_max_image_pixels", limit)


def get_max_image_pixels() -> int | None:
    """The largest number of pixels a picture may have; ``None`` if there is no limit (default 178,956,970)."""
    return _max_image_pixels or None


def set_max_jpeg_scans(limit: int | None) -> None:
    """Refuse progressive JPEG files of more than ``limit`` scans from now on; ``None`` allows any.

    Raises:
        ValueError: if ``limit`` is not positive.
    """
    global _max_jpeg_scans
    _max_jpeg_scans = _checked("set_max_jpeg_scans", limit)


def get_max_jpeg_scans() -> int | None:
    """The largest number of scans a JPEG file may have; ``None`` if there is no limit (default 100)."""
    return _max_jpeg_scans or None
