"""What TensorBoard's projector reads: vectors, their labels and pictures, and a file that lists them."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig
from trine.serialization.atomic import atomic_file

from ._convert import as_array, encode_png, to_pixels

__all__ = ["add_to_config", "write_embedding"]


def _write_text(path: str, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode())


def write_embedding(log_dir: str, subfolder: str, tag: str, mat: Any, metadata: Any, label_img: Any, header: list[str] | None) -> Any:
    """Write the files of one embedding below ``log_dir``; returns its entry for the configuration."""
    vectors = as_array(mat)
    if vectors.ndim != 2:
        raise ValueError(f"tensorboard: an embedding is a matrix of vectors, got the shape {vectors.shape}")
    folder = os.path.join(log_dir, subfolder)
    os.makedirs(folder, exist_ok=True)
    _write_text(os.path.join(folder, "tensors.tsv"), "".join("\t".join(map(str, row)) + "\n" for row in vectors.tolist()))
    info = EmbeddingInfo(tensor_name=tag, tensor_path=f"{subfolder}/tensors.tsv")
    if metadata is not None:
        if len(metadata) != len(vectors):
            raise ValueError(f"tensorboard: {len(vectors)} vectors and {len(metadata)} labels")
        rows = [row if header else [row] for row in metadata]
        clean = ["\t".join(str(cell).replace("\t", " ").replace("\n", " ") for cell in row) for row in ([header] if header else []) + rows]
        _write_text(os.path.join(folder, "metadata.tsv"), "".join(line + "\n" for line in clean))
        info.metadata_path = f"{subfolder}/metadata.tsv"
    if label_img is not None:
        pictures = as_array(label_img)
        if pictures.ndim != 4 or len(pictures) != len(vectors):
            raise ValueError(f"tensorboard: the pictures of {len(vectors)} vectors are N x C x H x W, got {pictures.shape}")
        with atomic_file(os.path.join(folder, "sprite.png")) as file:
            file.write(encode_png(_sprite(pictures))[0])
        info.sprite.image_path = f"{subfolder}/sprite.png"
        info.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])
    return info


def _sprite(pictures: Any) -> Any:
    """All pictures in one square, row by row."""
    count, channels, height, width = pictures.shape
    side = math.ceil(math.sqrt(count))
    sprite = np.zeros((side * height, side * width, 3), np.uint8)
    pixels = to_pixels(pictures).transpose(0, 2, 3, 1)
    pixels = np.repeat(pixels, 3, axis=-1) if channels == 1 else pixels[..., :3]
    for i, picture in enumerate(pixels):
        row, column = divmod(i, side)
        sprite[row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return sprite


def add_to_config(log_dir: str, info: Any) -> None:
    """List an embedding in ``projector_config.pbtxt``, instead of one of the same name."""
    path, config = os.path.join(log_dir, "projector_config.pbtxt"), ProjectorConfig()
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text_format.Parse(file.read(), config)
    kept = [old for old in config.embeddings if old.tensor_path != info.tensor_path]
    _write_text(path, text_format.MessageToString(ProjectorConfig(embeddings=[*kept, info])))
