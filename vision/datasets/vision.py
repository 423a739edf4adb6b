"""What all datasets of pictures have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trine.utils.data import Dataset


class VisionDataset(Dataset):
    """A dataset of (picture, target) with a transform for each.

    Args:
        root: the folder of the files.
        transforms: takes picture and target and returns both; excludes the other two.
        transform: takes a picture.
        target_transform: takes a target.

    Raises:
        ValueError: if ``transforms`` is given together with one of the others.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transforms: Callable | None = None,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
    ) -> None:
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError(f"{type(self).__name__}: give transforms, or transform and target_transform, not both")
        self.root = Path(root).expanduser()
        self.transforms = transforms
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def _transformed(self, picture: Any, target: Any) -> tuple[Any, Any]:
        if self.transforms is not None:
            return self.transforms(picture, target)
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return picture, target

    def __repr__(self) -> str:
        lines = [f"Dataset {type(self).__name__}", f"    Number of datapoints: {len(self)}"]
        lines.append(f"    Root location: {self.root}")
        lines += [f"    {line}" for line in self.extra_repr().splitlines()]
        return "\n".join(lines)

    def extra_repr(self) -> str:
        """More lines for ``repr``."""
        return ""
