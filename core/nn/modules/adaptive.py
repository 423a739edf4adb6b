"""Softmax over very many classes, the frequent ones cheaper than the rare ones."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor

from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of targets among ``n_classes`` that are sorted by falling frequency (Grave et al., 2017), and their mean loss.

    The ``cutoffs`` ascend: classes below the first have a weight of their own in the head; each further interval is a cluster whose
    classes are told apart in a space ``div_value`` times smaller than that of the cluster before. ``head_bias`` adds a bias to the head.
    Input ``(n, in_features)`` or ``(in_features,)``, target ``(n,)`` or ``()``; gives ``(output (n,) or (), loss ())``. ValueError for cutoffs
    that are not ascending positive ints below ``n_classes``, RuntimeError for shapes that do not fit.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = {"device": device, "dtype": dtype}
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, width, bias=False, **options), Linear(width, size, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for down, up in self.tail:  # type: ignore[misc]
            down.reset_parameters()
            up.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if target_.dim() == 1:
            if input_.shape[0] != target_.shape[0]:
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input_.size()}")
        elif target_.dim() == 0:
            if input_.dim() != 1:
                raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        single = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if target.numel() and not (int(target.min()) >= 0 and int(target.max()) < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{int(target.min())}, {int(target.max())}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        # The class of the head that stands for each target: its own, or that of its cluster.
        column = target.clone()
        output = input.new_zeros(target.shape[0])
        for i in range(self.n_clusters):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            log_probs = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            within = log_probs.gather(1, (target.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
            output = output.index_add(0, rows, within.to(output.dtype))
            column = column.index_fill(0, rows, self.cutoffs[0] + i)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _all_log_probs(self, input: Tensor, head: Tensor) -> Tensor:
        log_head = F.log_softmax(head, dim=1)
        parts = [log_head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            parts.append(F.log_softmax(self.tail[i](input), dim=1) + log_head[:, self.shortlist_size + i].unsqueeze(1))
        return trine.cat(parts, dim=1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities of all classes: ``(n, in_features)`` -> ``(n, n_classes)``."""
        return self._all_log_probs(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each sample, ``(n, in_features)`` -> ``(n,)``; clusters are looked into only where they win."""
        head = self.head(input)
        best = head.argmax(dim=1)
        rare = best >= self.shortlist_size
        if not bool(rare.any()):
            return best
        if bool(rare.all()):
            return self._all_log_probs(input, head).argmax(dim=1)
        best[rare] = self._all_log_probs(input[rare], head[rare]).argmax(dim=1)
        return best
