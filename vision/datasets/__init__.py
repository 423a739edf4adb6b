"""Datasets of pictures."""

from trine.vision.datasets.debian import unpack_debian_package
from trine.vision.datasets.folder import DatasetFolder, ImageFolder, default_loader
from trine.vision.datasets.mnist import MNIST, FashionMNIST
from trine.vision.datasets.vision import VisionDataset

__all__ = ["MNIST", "DatasetFolder", "FashionMNIST", "ImageFolder", "VisionDataset", "default_loader", "unpack_debian_package"]
