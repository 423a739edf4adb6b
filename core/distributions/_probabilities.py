"""Distributions given by probabilities or by their logits."""

from __future__ import annotations

from typing import Any

from trine import Size, Tensor

from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class WithProbabilities(Distribution):
    """Has ``probs`` and ``logits``, of which one is given and the other is computed when it is first asked for."""

    _binary = True  # else probabilities of categories in the last dimension

    def _take_probabilities(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keeps the one that is given, broadcast with other parameters, which it returns."""
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: either `probs` or `logits` must be specified, but not both")
        given, *others = broadcast_all(logits if probs is None else probs, *others)  # type: ignore[assignment]
        self.__dict__["logits" if probs is None else "probs"] = given
        return tuple(others)

    @property
    def _param(self) -> Tensor:
        """The one that is there."""
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of probabilities up to a constant."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs`` and ``logits``."""
        return self._param.size()
