"""Curves, pictures and graphs for TensorBoard; needs the package ``tensorboard`` (``pip install trine[tensorboard]``)."""

try:
    import tensorboard as _tensorboard
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        "trine.utils.tensorboard needs the package tensorboard; install it with: pip install trine[tensorboard]", name=_error.name
    ) from None

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
