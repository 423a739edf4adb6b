"""The processor's instruction set."""

from trine import _C

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The instruction set that kernels were chosen for: "DEFAULT", "AVX2" or "AVX512".

    >>> import trine
    >>> trine.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    True
    """
    return ("DEFAULT", "AVX2", "AVX512")[_C._isa_level()]
