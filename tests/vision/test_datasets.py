"""Datasets: files as they are published are read, and damaged ones refused."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import trine
from PIL import Image
from trine.vision.datasets import MNIST, FashionMNIST, ImageFolder
from trine.vision.transforms import ToTensor

sys.path.insert(0, str(Path(__file__).parent))
from pictures import noise


def idx(values: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + b"".join(size.to_bytes(4, "big") for size in values.shape)
    return header + values.astype(np.uint8).tobytes()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    pictures, labels = rng.integers(0, 256, (6, 28, 28)), np.arange(6)
    (raw / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(pictures)))
    (raw / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    return tmp_path, pictures


def test_gzipped_and_plain_files_are_read(folder):
    root, pictures = folder
    data = MNIST(root, train=True)
    assert len(data) == 6 and data.targets.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(data.data.numpy(), pictures)
    image, label = data[3]
    assert label == 3 and isinstance(label, int)
    np.testing.assert_array_equal(np.asarray(image), pictures[3])
    transformed = MNIST(root, transform=ToTensor(), target_transform=lambda label: -label)[2]
    assert transformed[0].shape == (1, 28, 28) and transformed[1] == -2
    assert "Number of datapoints: 6" in repr(data) and "Split: Train" in repr(data)


def test_missing_files_are_named(folder):
    with pytest.raises(RuntimeError, match=r"t10k-images-idx3-ubyte .*not found.*download=True"):
        MNIST(folder[0], train=False)


@pytest.mark.parametrize("damage", [b"", b"\0\0\x0d\x01", b"\0\0\x08\x01\0\0", b"\0\0\x08\x01\0\0\0\x09abc"])
def test_damaged_file_is_refused(folder, damage):
    (folder[0] / "MNIST" / "raw" / "train-labels-idx1-ubyte").write_bytes(damage)
    with pytest.raises(ValueError, match="read_idx: train-labels"):
        MNIST(folder[0])


def test_labels_must_go_with_the_pictures(folder):
    (folder[0] / "MNIST" / "raw" / "train-labels-idx1-ubyte").write_bytes(idx(np.arange(5)))
    with pytest.raises(ValueError, match="do not go with"):
        MNIST(folder[0])


@pytest.mark.skipif(not FashionMNIST.system_folder.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist_of_the_debian_package(tmp_path):
    data = FashionMNIST(tmp_path, train=False, download=True)
    assert len(data) == 10_000
    assert trine.bincount(data.targets).tolist() == [1000] * 10
    assert data.classes[int(data.targets[0])] == "Ankle boot"


def test_folder_of_classes(tmp_path):
    for name in ("dog", "cat"):
        (tmp_path / name).mkdir()
        for i in range(2):
            Image.fromarray(noise(8, 9)).save(tmp_path / name / f"{i}.png")
    (tmp_path / "cat" / "notes.txt").write_text("not a picture")
    data = ImageFolder(tmp_path, transform=ToTensor())
    assert data.classes == ["cat", "dog"] and data.targets == [0, 0, 1, 1]
    picture, target = data[3]
    assert picture.shape == (3, 8, 9) and target == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="'empty'"):
        ImageFolder(tmp_path)
