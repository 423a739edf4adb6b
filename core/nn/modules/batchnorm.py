"""Batch normalisation."""

from __future__ import annotations

from typing import Any

import trine
from trine import Tensor, _ops

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module, weight_and_bias

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]


class _NormBase(Module):
    """Weight, bias and running statistics, shared by batch and instance normalisation."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(trine.empty(num_features, **options))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(trine.empty(num_features, **options))
        else:
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", trine.zeros(num_features, **options))
            self.register_buffer("running_var", trine.ones(num_features, **options))
            self.register_buffer("num_batches_tracked", trine.tensor(0, dtype=trine.long, device=device))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget all batches: mean 0, variance 1, count 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the statistics; weight 1, bias 0."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version")
        # num_batches_tracked came with version 2: older checkpoints keep the count of this module.
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                count = self.num_batches_tracked
                known = count is not None and not count.is_meta
                state_dict[key] = count if known else trine.tensor(0, dtype=trine.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        own = self.__dict__
        try:
            buffers = own["_buffers"]
            mean, var = buffers["running_mean"], buffers["running_var"]
        except KeyError:
            mean, var = self.running_mean, self.running_var
        weight, bias = weight_and_bias(self)
        if not own["training"] and (mean is not None or var is not None):
            return _ops.batch_norm(input, weight, bias, mean, var, False, 0.0, own["eps"])
        factor = own["momentum"]
        if own["training"] and own["track_running_stats"]:
            count = self.num_batches_tracked
            if count is not None:
                count.add_(1)
                if factor is None:
                    # Without a momentum the statistics are the plain average over all batches.
                    factor = 1.0 / float(count)
        elif own["training"]:
            mean = var = None
        return F.batch_norm(input, mean, var, weight, bias, True, 0.0 if factor is None else factor, own["eps"])


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of `(N, C)` or `(N, C, L)` over N and L."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of `(N, C, H, W)` over N, H and W (Ioffe and Szegedy, 2015).

    In training the statistics of the batch are used and the running ones move by `momentum` (None: plain average
    over all batches); in evaluation the running ones are used.

    >>> import trine
    >>> trine.nn.BatchNorm2d(8)
    BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of `(N, C, D, H, W)` over N, D, H and W."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of `(N, C, *)` over the batches of all processes; in a single process the same as `BatchNorm*d`."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with every `BatchNorm*d` in it replaced, weights and statistics kept.

        >>> import trine
        >>> trine.nn.SyncBatchNorm.convert_sync_batchnorm(trine.nn.BatchNorm2d(3))
        SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group)
            for table in ("_parameters", "_buffers"):
                result.__dict__[table].update(module.__dict__[table])
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
