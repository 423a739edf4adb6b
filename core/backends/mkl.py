"""Intel's MKL, which Trine does not use."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether this build contains MKL: it does not."""
    return False
