"""Reading and writing pictures. Tensors are (channels, height, width), uint8 unless a file has 16-bit samples."""

from trine.vision.io._limits import (
    get_max_image_pixels,
    get_max_jpeg_scans,
    set_max_image_pixels,
    set_max_jpeg_scans,
)
from trine.vision.io.image import (
    ImageReadMode,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)

__all__ = [
    "ImageReadMode",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "get_max_image_pixels",
    "get_max_jpeg_scans",
    "read_file",
    "read_image",
    "set_max_image_pixels",
    "set_max_jpeg_scans",
    "write_file",
    "write_jpeg",
    "write_png",
]
