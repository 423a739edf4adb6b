"""Benchmarks that Trine and PyTorch run from the same source, in alternation.

Each module holds cases of one subject. A case is a function that takes the library (``trine`` or ``torch``: the same
API) and returns the closure to time.
"""
