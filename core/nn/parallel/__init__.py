"""A module on several devices at once. Without such devices there is nothing to spread, and the module runs where it is."""

from .data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
