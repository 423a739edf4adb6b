"""Statements in C++: compiled into a library of their own and timed inside it."""

from __future__ import annotations

import ctypes
import os
import tempfile

__all__ = ["NativeTimer"]

_TEMPLATE = """
#include <chrono>
#include <cstdint>
{global_setup}
extern "C" double trine_timed_block(int64_t trine_timed_number) {{
  {setup}
  auto trine_timed_start = std::chrono::steady_clock::now();
  for (int64_t trine_timed_index = 0; trine_timed_index < trine_timed_number; ++trine_timed_index) {{
    {stmt}
  }}
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - trine_timed_start).count();
}}
"""


class NativeTimer:
    """``timeit(number)`` of a C++ statement: seconds of that many executions, after the setup.

    Raises ``RuntimeError`` when there is no compiler or it refuses the code; the message has the compiler's words.
    """

    def __init__(self, stmt: str, setup: str, global_setup: str) -> None:
        from trine.utils import cpp_extension

        source = _TEMPLATE.format(stmt=stmt, setup=setup, global_setup=global_setup)
        with tempfile.TemporaryDirectory(prefix="trine-timer-") as folder:
            library = os.path.join(folder, "timed.so")
            cpp_extension.compile_library("Timer", source, library)
            # A loaded library needs its file no more.
            self._block = ctypes.CDLL(library).trine_timed_block
        self._block.restype, self._block.argtypes = ctypes.c_double, [ctypes.c_int64]

    def timeit(self, number: int) -> float:
        """Seconds that ``number`` executions take."""
        return self._block(number)
