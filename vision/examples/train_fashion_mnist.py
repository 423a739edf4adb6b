"""Train a small convolutional network on Fashion-MNIST: 60,000 pictures of clothes, 28x28, 10 classes.

This is a PyTorch program; Trine runs it unchanged:

    python -m trine.as_torch train_fashion_mnist.py        # with Trine
    python train_fashion_mnist.py                          # with PyTorch, where that is installed

One epoch takes less than two minutes on two cores and reaches more than 88 % on the test pictures. A run that was
stopped goes on from its checkpoint when it is started again.
"""

import argparse
import gzip
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

PACKAGE = "dataset-fashion-mnist"  # Debian's, with the original files
INSTALLED = Path("/usr/share/datasets/fashion-mnist")
LEARNING_RATE = 0.05
WARM_UP = 200  # steps


def find_data(folder: Path) -> Path:
    """The folder of the four files: the one given, the installed package's, or one that is downloaded now."""
    for candidate in (folder, INSTALLED):
        if (candidate / "train-images-idx3-ubyte.gz").exists():
            return candidate
    print(f"fetching the Debian package {PACKAGE}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["apt-get", "download", PACKAGE], cwd=work, check=True, stdout=subprocess.DEVNULL)
        package = next(Path(work).glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), work], check=True)
        folder.mkdir(parents=True, exist_ok=True)
        for file in (Path(work) / INSTALLED.relative_to("/")).glob("*.gz"):
            shutil.copy(file, folder)
    return folder


def read_idx(path: Path) -> torch.Tensor:
    """The bytes of an IDX file (a magic number, the sizes, the values) as a uint8 tensor."""
    data = bytearray(gzip.decompress(path.read_bytes()))
    dims = data[3]
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(dims)]
    return torch.frombuffer(data, dtype=torch.uint8, offset=4 + 4 * dims).view(shape)


def load(folder: Path, part: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (count, 1, 28, 28) with mean 0 and deviation 1, and labels (count,)."""
    pictures = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    return (pictures.unsqueeze(1).float() / 255 - 0.2860) / 0.3530, labels.long()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),  # (32, 14, 14)
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),  # (64, 7, 7)
        )
        self.classifier = nn.Sequential(nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).flatten(1))


def learning_rate(step: int, planned: int) -> float:
    """Rises linearly, so that the first steps are stable, then falls along a cosine to zero."""
    return LEARNING_RATE * min(1.0, (step + 1) / WARM_UP) * 0.5 * (1.0 + math.cos(math.pi * step / planned))


def save(path: Path, state: dict) -> None:
    """Write a checkpoint so that a kill at any moment leaves the old or the new one, never half of one."""
    unfinished = path.with_suffix(".part")
    torch.save(state, unfinished)
    os.replace(unfinished, path)


def evaluate(model: nn.Module, pictures: torch.Tensor, labels: torch.Tensor) -> float:
    """The part of the pictures that is recognised."""
    model.eval()
    right = 0
    with torch.no_grad():
        for begin in range(0, len(pictures), 500):
            guess = model(pictures[begin : begin + 500]).argmax(1)
            right += int((guess == labels[begin : begin + 500]).sum())
    model.train()
    return right / len(pictures)


def show(step: int, steps: int, loss: float, start: float) -> None:
    line = f"step {step}/{steps}  loss {loss:.4f}  {time.perf_counter() - start:.0f} s"
    end, begin = ("", "\r\033[K") if sys.stdout.isatty() else ("\n", "")
    print(f"{begin}{line}", end=end, flush=True)


def train(options: argparse.Namespace) -> float:
    torch.manual_seed(options.seed)
    folder = find_data(options.data)
    pictures, labels = load(folder, "train")
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
    per_epoch = len(pictures) // options.batch_size
    planned = options.epochs * per_epoch
    steps = options.steps or planned

    step = 0
    if options.checkpoint.exists() and not options.restart:
        state = torch.load(options.checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
        print(f"going on from {options.checkpoint} at step {step}", flush=True)

    losses = []
    start = time.perf_counter()
    order, order_epoch = None, -1
    while step < steps:
        epoch, batch = divmod(step, per_epoch)
        if epoch != order_epoch:  # the order depends on the epoch alone, so that a resumed run sees the same batches
            shuffle = torch.Generator().manual_seed(options.seed + 1 + epoch)
            order, order_epoch = torch.randperm(len(pictures), generator=shuffle), epoch
        chosen = order[batch * options.batch_size : (batch + 1) * options.batch_size]

        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, planned)
        loss = F.cross_entropy(model(pictures[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1

        losses.append(loss.item())
        if step % 50 == 0 or step == steps:
            show(step, steps, losses[-1], start)
        if step % options.save_every == 0 or step == steps:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            save(options.checkpoint, state)
    seconds = time.perf_counter() - start
    if options.losses:
        options.losses.write_text("".join(f"{loss:.7f}\n" for loss in losses))
    accuracy = evaluate(model, *load(folder, "t10k"))
    print(f"\ntest accuracy {accuracy:.2%} after {step} steps ({seconds:.0f} s in this run)", flush=True)
    return accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("fashion-mnist"), help="folder of the .gz files")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="stop after this many steps, whatever the epochs")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("fashion_mnist.pt"))
    parser.add_argument("--save-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--restart", action="store_true", help="do not go on from the checkpoint")
    parser.add_argument("--losses", type=Path, help="write the loss of each step of this run to this file")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
