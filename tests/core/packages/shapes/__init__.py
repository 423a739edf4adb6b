from .net import Net, scale

__all__ = ["Net", "scale"]
