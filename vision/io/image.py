"""JPEG and PNG files to tensors and back. The codecs are native (libjpeg-turbo, libpng) and run without the
interpreter lock; decoded samples equal Pillow's."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, overload

import trine
from trine import Tensor
from trine.vision import _C
from trine.vision._buffers import buffer_of, new_image, tensor_of
from trine.vision.io import _limits

_JPEG_START = b"\xff\xd8\xff"
_PNG_START = b"\x89PNG\r\n\x1a\n"


class ImageReadMode(Enum):
    """What a decoded picture shall have: the file's own channels, or a conversion.

    A palette PNG read UNCHANGED gives the indices, and a CMYK JPEG its four stored inks, as in torchvision; any other
    mode converts. JPEG knows UNCHANGED, GRAY and RGB only.
    """

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


def read_file(path: str | os.PathLike[str]) -> Tensor:
    """The bytes of a file as a 1-D uint8 tensor.

    Raises:
        OSError: if the file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        data = trine.empty(size, dtype=trine.uint8)
        filled = 0
        while filled < size:
            count = file.readinto(buffer_of(data)[filled:])
            if not count:
                break
            filled += count
        rest = file.read()  # a pipe has no size, and a log file may have grown
    if filled < size:
        data = data[:filled]
    return trine.cat([data, tensor_of(rest)]) if rest else data


def write_file(filename: str | os.PathLike[str], data: Tensor) -> None:
    """Write a 1-D uint8 tensor to a file. A file that was there is replaced only once the new one is complete.

    Raises:
        RuntimeError: if ``data`` is not 1-D uint8.
        OSError: if the file cannot be written.
    """
    _expect_bytes("write_file", data)
    _replace(Path(filename), buffer_of(data.contiguous()) if data.numel() else b"")


def _replace(path: Path, content: memoryview | bytes) -> None:
    if path.exists() and not path.is_file():  # a pipe or device keeps its identity
        path.write_bytes(content)
        return
    path = path.resolve()  # a link stays a link
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(unfinished, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _expect_bytes(name: str, data: Any) -> None:
    if not isinstance(data, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got {type(data).__name__}")
    if data.dtype != trine.uint8 or data.dim() != 1:
        raise RuntimeError(f"{name}: expected a 1-D uint8 tensor, got {data.dtype} of shape {tuple(data.shape)}")


def _mode_number(name: str, mode: ImageReadMode | str) -> int:
    if isinstance(mode, str):
        try:
            mode = ImageReadMode[mode.upper()]
        except KeyError:
            names = ", ".join(ImageReadMode.__members__)
            raise ValueError(f"{name}: mode must be one of {names}, got {mode!r}") from None
    return mode.value


def _decode(run: Callable, data: Tensor, mode: int, orientation: bool, limit: int) -> Tensor:
    images: list[Tensor] = []

    def allocate(height: int, width: int, channels: int, bits: int) -> memoryview:
        images.append(new_image(height, width, channels, bits))
        return buffer_of(images[0])

    source = buffer_of(data.contiguous()) if data.numel() else b""
    run(source, mode, orientation, _limits.get_max_image_pixels() or 0, limit, allocate)
    return images[0].permute(2, 0, 1)


@overload
def decode_jpeg(input: Tensor, mode: ImageReadMode | str = ..., device: str = ..., apply_exif_orientation: bool = ...) -> Tensor: ...
@overload
def decode_jpeg(
    input: list[Tensor], mode: ImageReadMode | str = ..., device: str = ..., apply_exif_orientation: bool = ...
) -> list[Tensor]: ...
def decode_jpeg(
    input: Tensor | list[Tensor],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    device: str = "cpu",
    apply_exif_orientation: bool = False,
) -> Tensor | list[Tensor]:
    """Decode a JPEG file (ITU-T T.81).

    Args:
        input: the file's bytes, 1-D uint8; or a list of files.
        mode: UNCHANGED, GRAY or RGB.
        device: where the result shall be.
        apply_exif_orientation: turn the picture upright as its EXIF metadata say.

    Returns:
        uint8, (channels, height, width), in channels_last memory order; a list if a list was given.

    Raises:
        RuntimeError: if the file is damaged, truncated, or larger than :func:`set_max_image_pixels` allows.

    >>> import trine
    >>> from trine.vision.io import decode_jpeg, encode_jpeg
    >>> decode_jpeg(encode_jpeg(trine.zeros(1, 8, 9, dtype=trine.uint8)), mode="RGB").shape
    torch.Size([3, 8, 9])
    """
    if isinstance(input, (list, tuple)):
        return [decode_jpeg(item, mode, device, apply_exif_orientation) for item in input]
    _expect_bytes("decode_jpeg", input)
    scans = _limits.get_max_jpeg_scans() or 0
    image = _decode(_C.decode_jpeg, input, _mode_number("decode_jpeg", mode), apply_exif_orientation, scans)
    return image.to(device)


def decode_png(
    input: Tensor,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Decode a PNG file (ISO/IEC 15948).

    Args:
        input: the file's bytes, 1-D uint8.
        mode: the channels wanted; transparency that is kept beside the pixels (tRNS) becomes alpha in the modes
            that have one.
        apply_exif_orientation: turn the picture upright as its EXIF metadata say.

    Returns:
        (channels, height, width) in channels_last memory order: uint8, or int32 from 0 to 65535 if the file has
        16-bit samples.

    Raises:
        RuntimeError: if the file is damaged, truncated, or larger than :func:`set_max_image_pixels` allows.
    """
    _expect_bytes("decode_png", input)
    number = _mode_number("decode_png", mode)
    return _decode(_C.decode_png, input, number, apply_exif_orientation, _limits.MAX_PNG_CHUNK_BYTES)


def decode_image(
    input: Tensor | str | os.PathLike[str],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Decode a JPEG or PNG file, told apart by its first bytes; see :func:`decode_jpeg` and :func:`decode_png`.

    Args:
        input: the file's bytes, 1-D uint8, or its path.
        mode: the channels wanted.
        apply_exif_orientation: turn the picture upright as its EXIF metadata say.

    Raises:
        RuntimeError: if the bytes are neither JPEG nor PNG, or the file is damaged.
        OSError: if a path cannot be read.
    """
    data = read_file(input) if isinstance(input, (str, os.PathLike)) else input
    _expect_bytes("decode_image", data)
    start = bytes(data[:8].tolist())
    if start.startswith(_JPEG_START):
        return decode_jpeg(data, mode, apply_exif_orientation=apply_exif_orientation)
    if start == _PNG_START:
        return decode_png(data, mode, apply_exif_orientation)
    raise RuntimeError(f"decode_image: neither a JPEG nor a PNG file ({data.numel()} bytes that begin {start!r})")


def read_image(
    path: str | os.PathLike[str],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Read a JPEG or PNG file: :func:`decode_image` of :func:`read_file`."""
    return decode_image(read_file(path), mode, apply_exif_orientation)


def _interleaved(name: str, input: Tensor, allowed: tuple[int, ...]) -> Tensor:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got {type(input).__name__}")
    if input.dtype != trine.uint8 or input.dim() != 3 or input.shape[0] not in allowed or input.numel() == 0:
        channels = " or ".join(str(count) for count in allowed)
        raise RuntimeError(
            f"{name}: expected uint8 of shape (channels, height, width) with {channels} channels, "
            f"got {input.dtype} of shape {tuple(input.shape)}"
        )
    return input.permute(1, 2, 0).contiguous()


@overload
def encode_jpeg(input: Tensor, quality: int = ...) -> Tensor: ...
@overload
def encode_jpeg(input: list[Tensor], quality: int = ...) -> list[Tensor]: ...
def encode_jpeg(input: Tensor | list[Tensor], quality: int = 75) -> Tensor | list[Tensor]:
    """Encode a picture as a baseline JPEG file with 4:2:0 chroma.

    Args:
        input: uint8, (1 or 3, height, width); or a list of such.
        quality: 1 to 100.

    Returns:
        The file's bytes, 1-D uint8; a list if a list was given.

    Raises:
        ValueError: if ``quality`` is out of range.
        RuntimeError: if ``input`` is not a picture.
    """
    if not 1 <= quality <= 100:
        raise ValueError(f"encode_jpeg: quality must be 1 to 100, got {quality}")
    if isinstance(input, (list, tuple)):
        return [encode_jpeg(item, quality) for item in input]
    pixels = _interleaved("encode_jpeg", input, (1, 3))
    height, width, channels = pixels.shape
    return tensor_of(_C.encode_jpeg(buffer_of(pixels), height, width, channels, quality))


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """Encode a picture as a PNG file.

    Args:
        input: uint8, (channels, height, width) with gray, gray and alpha, RGB, or RGB and alpha channels.
        compression_level: 0 (none) to 9 (smallest).

    Returns:
        The file's bytes, 1-D uint8.

    Raises:
        ValueError: if ``compression_level`` is out of range.
        RuntimeError: if ``input`` is not a picture.
    """
    if not 0 <= compression_level <= 9:
        raise ValueError(f"encode_png: compression_level must be 0 to 9, got {compression_level}")
    pixels = _interleaved("encode_png", input, (1, 2, 3, 4))
    height, width, channels = pixels.shape
    return tensor_of(_C.encode_png(buffer_of(pixels), height, width, channels, compression_level))


def write_jpeg(input: Tensor, filename: str | os.PathLike[str], quality: int = 75) -> None:
    """Write a picture to a JPEG file; see :func:`encode_jpeg`."""
    write_file(filename, encode_jpeg(input, quality))


def write_png(input: Tensor, filename: str | os.PathLike[str], compression_level: int = 6) -> None:
    """Write a picture to a PNG file; see :func:`encode_png`."""
    write_file(filename, encode_png(input, compression_level))
