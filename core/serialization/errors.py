"""The two errors that reading a file may raise, besides ``OSError`` from the system."""

from _pickle import UnpicklingError

__all__ = ["CorruptFileError", "UnsafeFileError"]


class UnsafeFileError(UnpicklingError):
    """The file asks for something that is not plain data.

    Raised when the pickle in a checkpoint names a class or function outside the allow-list, or goes over one of the
    limits that keep a hostile file from exhausting memory. Nothing of what the file named has been imported or run.
    """


class CorruptFileError(UnpicklingError, RuntimeError):
    """The bytes do not follow the format: truncated, inconsistent, or not a checkpoint at all.

    It is a ``RuntimeError`` too because that is what PyTorch raises for a damaged archive.
    """
