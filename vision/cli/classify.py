"""``classify``: say what is in pictures, with MobileNetV2 and its ImageNet weights."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trine
from trine import Tensor, nn
from trine.vision.cli.annotate import annotated
from trine.vision.cli.progress import Progress
from trine.vision.cli.report import write_report
from trine.vision.cli.results import Result, Unreadable, table
from trine.vision.cli.samples import sample_photographs
from trine.vision.io import read_image, write_jpeg
from trine.vision.models import MobileNet_V2_Weights, mobilenet_v2

_ENDINGS = {".jpg", ".jpeg", ".png"}


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m trine.vision", description="Pictures with Trine.")
    commands = parser.add_subparsers(dest="command", required=True)
    classify = commands.add_parser(
        "classify",
        help="say what is in pictures",
        description="Say what is in pictures: a table, annotated pictures and report.html. Exit status: 0 if all "
        "pictures could be read, 1 if some could not, 2 if none.",
    )
    classify.add_argument("pictures", nargs="*", type=Path, help="JPEG or PNG files, or folders of them; "
                          "without any, sample photographs are fetched")  # fmt: skip
    classify.add_argument("--output", type=Path, default=Path("demo_output"), help="folder of the results")
    classify.add_argument("--top", type=int, default=5, choices=range(1, 21), metavar="1-20", help="labels a picture")
    return parser.parse_args(arguments)


def expand(paths: list[Path]) -> list[Path]:
    """Folders replaced by the pictures in them."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(entry for entry in path.iterdir() if entry.suffix.lower() in _ENDINGS)
        else:
            files.append(path)
    return files


@contextmanager
def _timed(milliseconds: dict[str, float], part: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    milliseconds[part] = 1000 * (time.perf_counter() - start)


def _seen(height: int, width: int, resize_size: int, crop_size: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the crop, in pixels of the whole picture."""
    side = min(height, width) * crop_size / resize_size
    left, top = (width - side) / 2, (height - side) / 2
    return int(left), int(top), max(int(left + side), 1) - 1, max(int(top + side), 1) - 1


def classify_picture(path: Path, model: nn.Module, weights: MobileNet_V2_Weights, top: int) -> Result | Unreadable:
    """Read one picture and name what is in it."""
    milliseconds: dict[str, float] = {}
    try:
        with _timed(milliseconds, "decode"):
            picture = read_image(path, "RGB", apply_exif_orientation=True)
    except (OSError, RuntimeError, MemoryError) as error:
        return Unreadable(path, str(error))
    if picture.dtype != trine.uint8:  # 16-bit samples
        picture = (picture // 257).to(trine.uint8)
    prepare = weights.transforms()
    with trine.inference_mode():
        with _timed(milliseconds, "prepare"):
            batch = prepare(picture).unsqueeze(0)  # (1, 3, 224, 224)
        with _timed(milliseconds, "network"):
            probabilities = model(batch).softmax(dim=1)[0]
        values, indices = probabilities.topk(top)
    categories = weights.meta["categories"]
    labels = [(categories[i], p) for i, p in zip(indices.tolist(), values.tolist(), strict=True)]
    height, width = picture.shape[-2:]
    return Result(path, picture, labels, _seen(height, width, prepare.resize_size[0], prepare.crop_size[0]), milliseconds)


def classify(pictures: list[Path], output: Path, top: int) -> int:
    """Run the command; returns the exit status."""
    files = expand(pictures or sample_photographs())
    if not files:
        print("classify: no pictures in the folders given", file=sys.stderr)
        return 2
    weights = MobileNet_V2_Weights.IMAGENET1K_V1
    model = mobilenet_v2(weights=weights).eval()
    with trine.inference_mode():
        model(trine.zeros(1, 3, 224, 224))  # prepares the kernels, so that the first picture's time is like the others'

    output.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    skipped: list[Unreadable] = []
    drawn: list[Tensor] = []
    names: set[str] = set()
    with Progress(len(files), "pictures") as progress:
        for path in files:
            progress.step(path.name)
            result = classify_picture(path, model, weights, top)
            if isinstance(result, Unreadable):
                skipped.append(result)
                progress.note(f"skipped {path}: {result.reason}")
                continue
            results.append(result)
            drawn.append(annotated(result))
            write_jpeg(drawn[-1], output / _free_name(path, names), quality=90)
    if results:
        print(table(results))
    report = output / "report.html"
    write_report(report, "MobileNetV2 with ImageNet weights, on Trine", results, drawn, skipped)
    print(f"\n{len(results)} of {len(files)} pictures; report: {report}, annotated pictures beside it")
    if not results:
        return 2
    return 1 if skipped else 0


def _free_name(path: Path, taken: set[str]) -> str:
    """A name for the annotated picture that no other picture of this run has."""
    name, number = f"{path.stem}.jpg", 1
    while name in taken:
        number += 1
        name = f"{path.stem}-{number}.jpg"
    taken.add(name)
    return name


def main(arguments: list[str] | None = None) -> int:
    """Entry point of ``python -m trine.vision``."""
    options = parse_arguments(arguments)
    return classify(options.pictures, options.output, options.top)
