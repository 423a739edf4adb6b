"""Checkpoints: PyTorch's files both ways, safetensors both ways, and a reader that can only build data.

Nothing in a file is ever executed. What the reader meets is checked before it is used; it raises ``UnsafeFileError`` for
what is not data, ``CorruptFileError`` for what is damaged.
"""

from .errors import CorruptFileError, UnsafeFileError
from .reader import load
from .safetensors import load_safetensors, save_safetensors
from .summary import FileSummary, TensorInfo, inspect
from .writer import save

__all__ = [
    "CorruptFileError",
    "FileSummary",
    "TensorInfo",
    "UnsafeFileError",
    "inspect",
    "load",
    "load_safetensors",
    "save",
    "save_safetensors",
]
