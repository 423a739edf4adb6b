"""MNIST (LeCun et al., 1998) and Fashion-MNIST (Xiao et al., 2017): 60,000 + 10,000 gray pictures of 28x28."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trine
from trine import Tensor, hub
from trine.vision._buffers import buffer_of
from trine.vision.datasets._idx import read_idx
from trine.vision.datasets.debian import unpack_debian_package
from trine.vision.datasets.vision import VisionDataset

_MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_FILES = {
    True: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    False: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


class MNIST(VisionDataset):
    """Handwritten digits: (picture, class).

    A picture is a PIL image of mode L where Pillow is installed, else a uint8 tensor (1, 28, 28).

    Args:
        root: files are at ``root/MNIST/raw`` or in ``root`` itself, gzipped or not.
        train: the 60,000 pictures to train on, else the 10,000 to test with.
        transform: takes a picture.
        target_transform: takes a class.
        download: fetch what is missing.

    Attributes: ``data`` (uint8, (count, 28, 28)), ``targets`` (int64, (count,)), ``classes``, ``class_to_idx``.

    Raises:
        RuntimeError: if files are missing and ``download`` is not set, or cannot be fetched.
        ValueError: if a file is damaged.
    """

    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        missing = [name for name in _FILES[train] if self._find(name) is None]
        if download and missing:
            self._download(missing)
        pictures, labels = (self._find(name) for name in _FILES[train])
        if pictures is None or labels is None:
            raise RuntimeError(
                f"{type(self).__name__}: {' and '.join(_FILES[train])} not found in {self.raw_folder} or {self.root} "
                "(download=True fetches them)"
            )
        self.data = read_idx(pictures)
        self.targets = read_idx(labels).to(trine.int64)
        if self.data.dim() != 3 or self.targets.shape != self.data.shape[:1]:
            raise ValueError(
                f"{type(self).__name__}: pictures of shape {tuple(self.data.shape)} do not go with labels of shape "
                f"{tuple(self.targets.shape)}"
            )

    @property
    def raw_folder(self) -> Path:
        """Where the files are kept: ``root/<name of the class>/raw``."""
        return self.root / type(self).__name__ / "raw"

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class's name."""
        return {name: i for i, name in enumerate(self.classes)}

    def _find(self, name: str) -> Path | None:
        for folder in (self.raw_folder, self.root):
            for path in (folder / name, folder / f"{name}.gz"):
                if path.is_file():
                    return path
        return None

    def _download(self, names: list[str]) -> None:
        self.raw_folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            hub.download_url_to_file(f"{_MNIST_URL}{name}.gz", self.raw_folder / f"{name}.gz")

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._transformed(_picture(self.data[index]), int(self.targets[index]))

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


def _picture(pixels: Tensor) -> Any:
    try:
        from PIL import Image
    except ImportError:
        return pixels.unsqueeze(0)
    height, width = pixels.shape
    return Image.frombytes("L", (width, height), bytes(buffer_of(pixels)))


class FashionMNIST(MNIST):
    """Pictures of clothes, in MNIST's format; ``download=True`` takes them from the Debian package.

    >>> from trine.vision.datasets import FashionMNIST
    >>> FashionMNIST.classes[9]
    'Ankle boot'
    """

    system_folder = Path("/usr/share/datasets/fashion-mnist")
    debian_package = "dataset-fashion-mnist"
    classes = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]

    def _download(self, names: list[str]) -> None:
        self.raw_folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as unpacked:
            source = self.system_folder
            if not all((source / f"{name}.gz").is_file() for name in names):
                unpack_debian_package(self.debian_package, Path(unpacked))
                source = Path(unpacked) / self.system_folder.relative_to("/")
            for name in names:
                shutil.copyfile(source / f"{name}.gz", self.raw_folder / f"{name}.gz")
