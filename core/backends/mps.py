"""Apple's Metal devices, which this build does not know."""

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Whether tensors can be put on a Metal device."""
    return False


def is_built() -> bool:
    """Whether this build has code for Metal devices."""
    return False
