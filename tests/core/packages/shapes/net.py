import collections

import absent_plotting
import torch.nn.functional as F
from torch import nn

from . import parts


def scale(x):
    return x * parts.FACTOR


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.seen = collections.Counter(["a"])

    def forward(self, x):
        return scale(self.second(self.norm(F.gelu(self.first(x)))))

    def plot(self):
        return absent_plotting.show(self)


class Lookup:
    def __init__(self, words):
        self.words = words

    def __reduce_package__(self, exporter):
        name = f"words{exporter.get_unique_id()}.txt"
        exporter.save_text("extra", name, " ".join(self.words))
        return load_lookup, (name,)


def load_lookup(importer, name):
    return Lookup(importer.load_text("extra", name).split())
