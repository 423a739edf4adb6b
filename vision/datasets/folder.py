"""Pictures sorted into one folder a class."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trine import Tensor
from trine.vision.datasets.vision import VisionDataset
from trine.vision.io import read_image

IMAGE_EXTENSIONS = (".jpg", ".jpeg", ".png")


def default_loader(path: str | os.PathLike[str]) -> Tensor | Any:
    """The picture in RGB: a PIL image where Pillow is installed, else a uint8 tensor (3, height, width)."""
    try:
        from PIL import Image
    except ImportError:
        return read_image(path, "RGB")
    with Image.open(path) as image:
        return image.convert("RGB")


class DatasetFolder(VisionDataset):
    """Files at ``root/CLASS/.../FILE``: (loaded file, index of the class).

    Args:
        root: the folder of the classes' folders.
        loader: reads a file.
        extensions: the endings of the files that count.
        transform: takes a loaded file.
        target_transform: takes an index.
        is_valid_file: decides which files count, instead of ``extensions``.

    Attributes: ``classes`` (sorted names), ``class_to_idx``, ``samples`` (path, index), ``targets``.

    Raises:
        FileNotFoundError: if there is no folder, or a class without a file.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        loader: Callable[[str], Any],
        extensions: Sequence[str] | None = None,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(f"{type(self).__name__}: give either extensions or is_valid_file")
        endings = tuple(ending.lower() for ending in extensions or ())
        counts = is_valid_file or (lambda path: path.lower().endswith(endings))
        self.loader = loader
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples: list[tuple[str, int]] = []
        for name in self.classes:
            files = [
                os.path.join(folder, file)
                for folder, _, files in sorted(os.walk(self.root / name, followlinks=True))
                for file in sorted(files)
            ]
            found = [(path, self.class_to_idx[name]) for path in files if counts(path)]
            if not found:
                raise FileNotFoundError(f"{type(self).__name__}: no file for the class {name!r} in {self.root}")
            self.samples += found
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory: str | os.PathLike[str]) -> tuple[list[str], dict[str, int]]:
        """The names of the folders in ``directory``, sorted, and their indices."""
        names = sorted(entry.name for entry in Path(directory).iterdir() if entry.is_dir())
        if not names:
            raise FileNotFoundError(f"{type(self).__name__}: no folder of a class in {directory}")
        return names, {name: i for i, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)


class ImageFolder(DatasetFolder):
    """JPEG and PNG files at ``root/CLASS/.../FILE``; see :class:`DatasetFolder`."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        extensions = IMAGE_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file)
        self.imgs = self.samples
