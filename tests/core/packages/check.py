"""Reads what make.py made with the library named on the command line: ``check.py torch|trine PATH``."""

import importlib
import json
import sys

library, path = sys.argv[1:]
torch, package = importlib.import_module(library), importlib.import_module(f"{library}.package")
importer = package.PackageImporter(path)
net = importer.load_pickle("model", "net.pkl")
x = torch.linspace(-1, 1, 6).reshape(2, 3)
expected = torch.tensor(json.loads(importer.load_text("model", "expected.json")))
assert torch.allclose(net(x), expected), (net(x), expected)
data = importer.load_pickle("model", "data.pkl")
assert data["words"] is data["again"] and data["words"].words == ["red", "green"]
assert data["view"].tolist() == [2, 3] and data["view"].data_ptr() == data["base"].data_ptr() + 8
assert data["dtype"] is torch.float16 and data["double"].dtype is torch.float64 and data["bf16"].dtype is torch.bfloat16
assert type(data["parameter"]) is torch.nn.Parameter and data["parameter"].requires_grad
assert data["size"] == torch.Size([1, 2]) and data["device"] == torch.device("cpu") and data["plain"] == {1: (True, None)}
assert data["function"](torch.ones(1)).item() == 2
assert importer.import_module("entry").answer() == (2.0, torch.nn.functional.relu)
assert package.is_from_package(net) and not package.is_from_package(x)
try:
    net.plot()
except NotImplementedError as error:
    assert "absent_plotting.show" in str(error)
else:
    raise AssertionError("a mocked function was called")
