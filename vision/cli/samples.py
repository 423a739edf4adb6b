"""Photographs to try things on: scikit-image's and OpenCV's samples, fetched once and kept in the cache."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from trine import hub
from trine.vision.datasets import unpack_debian_package

_SCIKIT_IMAGE = {
    "chelsea.png": "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    "coffee.png": "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
    "motorcycle_left.png": "db18e9c4157617403c3537a6ba355dfeafe9a7eabb6b9b94cb33f6525dd49179",
    "rocket.jpg": "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
}
_OPENCV = ("baboon.jpg", "butterfly.jpg", "fruits.jpg", "messi5.jpg", "orange.jpg", "squirrel_cls.jpg")
_OPENCV_FOLDER = Path("/usr/share/doc/opencv-doc/examples/data")


def sample_photographs() -> list[Path]:
    """The paths of the photographs; those that cannot be fetched are left out with a note on standard error."""
    folder = Path(hub.get_dir()) / "samples"
    photographs = []
    for source in (_scikit_image, _opencv):
        try:
            photographs += source(folder)
        except (OSError, RuntimeError) as error:
            print(f"samples: {error}", file=sys.stderr)
    return photographs


def _scikit_image(folder: Path) -> list[Path]:
    installed = importlib.util.find_spec("skimage")
    data = Path(installed.origin).parent / "data" if installed and installed.origin else None
    paths = []
    for name, sha256 in _SCIKIT_IMAGE.items():
        if data is not None and (data / name).is_file():
            paths.append(data / name)
        else:
            source = hub.PackageFile("scikit-image", "0.26.0", f"skimage/data/{name}")
            paths.append(Path(hub.fetch(source, sha256, dst=folder / name)))
    return paths


def _opencv(folder: Path) -> list[Path]:
    if all((_OPENCV_FOLDER / name).is_file() for name in _OPENCV):
        return [_OPENCV_FOLDER / name for name in _OPENCV]
    paths = [folder / name for name in _OPENCV]
    if not all(path.is_file() for path in paths):
        print("samples: fetching the Debian package opencv-doc (96 MB) for its photographs", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as unpacked:
            unpack_debian_package("opencv-doc", Path(unpacked))
            for path in paths:
                shutil.copyfile(Path(unpacked) / _OPENCV_FOLDER.relative_to("/") / path.name, path)
    return paths
