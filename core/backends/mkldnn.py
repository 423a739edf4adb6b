"""oneDNN, which some matrix products and convolutions run on."""

from trine import _C

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether this build contains oneDNN.

    >>> import trine
    >>> isinstance(trine.backends.mkldnn.is_available(), bool)
    True
    """
    return bool(_C._has_onednn)
