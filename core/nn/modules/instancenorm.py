"""Instance normalisation."""

from __future__ import annotations

import warnings
from typing import Any

from trine import Tensor

from .. import functional as F
from .batchnorm import _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    _spatial: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        n = self._spatial
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")

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
        # Version 1 stored running statistics even where none were tracked.
        if local_metadata.get("version") is None and not self.track_running_stats:
            stored = [n for n in ("running_mean", "running_var") if prefix + n in state_dict]
            if stored:
                names = " and ".join(f'"{prefix + n}"' for n in stored)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {type(self).__name__} with "
                    "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this may be expected "
                    f"because {type(self).__name__} does not track running stats by default since 0.4.0. Please remove "
                    "these keys from state_dict. If the running stats are actually needed, instead set "
                    f"track_running_stats=True in {type(self).__name__} to enable them. See the documentation of "
                    f"{type(self).__name__} for details."
                )
                for name in stored:
                    state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def _normalise(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channel_dim = input.dim() - self._spatial - 1
        if input.size(channel_dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel_dim} to match num_features ({self.num_features}), "
                    f"but got: {input.size(channel_dim)}."
                )
            warnings.warn(
                f"input's size at dim={channel_dim} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if channel_dim == 0:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of `(N, C, L)` or `(C, L)` over L."""

    _spatial = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of `(N, C, H, W)` or `(C, H, W)` over H and W (Ulyanov et al., 2016)."""

    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of `(N, C, D, H, W)` or `(C, D, H, W)` over D, H and W."""

    _spatial = 3
