"""Anomaly mode: a backward pass that fails, or gives NaN, says which line of the forward pass is to blame."""

from __future__ import annotations

import warnings

from trine import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Switches anomaly mode to ``mode``: at once, and back at the end when used in a ``with`` statement.

    While it is on, every recorded operation remembers where it was called; with ``check_nan`` a backward pass stops
    at the first NaN with a RuntimeError. It makes programs slow and is meant for the hunt only.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._saved = _C._anomaly_mode()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _C._set_anomaly(*self._saved)


class detect_anomaly:
    """Anomaly mode for the time of a ``with`` block (see :class:`set_detect_anomaly`).

    >>> import trine
    >>> x = trine.tensor(-1.0, requires_grad=True)
    >>> with trine.autograd.detect_anomaly():
    ...     x.sqrt().sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._mode = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *exc: object) -> None:
        self._mode.__exit__(*exc)
