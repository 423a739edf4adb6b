"""Makes a package with the library named on the command line: ``make.py torch|trine PATH``. torch_made.pt is PyTorch 2.13's."""

import importlib
import json
import sys
from pathlib import Path

library, path = sys.argv[1:]
sys.path.insert(0, str(Path(__file__).parent))
if library == "trine":
    import trine.as_torch

    trine.as_torch.install()
import shapes.net  # noqa: E402
import torch  # noqa: E402

package = importlib.import_module(f"{library}.package")
torch.manual_seed(0)
net = shapes.Net().eval()
base = torch.arange(6.0)
words = shapes.net.Lookup(["red", "green"])
x = torch.linspace(-1, 1, 6).reshape(2, 3)
data = {
    "base": base, "view": base[2:4], "double": torch.ones(2, dtype=torch.float64), "bf16": torch.ones(2, dtype=torch.bfloat16),
    "words": words, "again": words, "function": shapes.scale, "dtype": torch.float16, "size": torch.Size([1, 2]),
    "device": torch.device("cpu"), "parameter": torch.nn.Parameter(torch.ones(2)), "plain": {1: (True, None)},
}  # fmt: skip
with package.PackageExporter(path) as exporter:
    exporter.intern("shapes.**")
    exporter.mock("absent_plotting")
    exporter.save_pickle("model", "net.pkl", net)
    exporter.save_pickle("model", "data.pkl", data)
    exporter.save_text("model", "expected.json", json.dumps(net(x).tolist()))
    entry = "import shapes.parts as parts\nimport torch.nn.functional as F\nimport shapes.net\n\ndef answer():\n    return parts.FACTOR, F.relu\n"
    exporter.save_source_string("entry", entry)
