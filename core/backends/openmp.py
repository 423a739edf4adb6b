"""OpenMP, whose threads the kernels run on."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether kernels run on several threads."""
    return True
