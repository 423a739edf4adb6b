"""DLPack, under the name that PyTorch programs import it by."""

from trine._dlpack import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
