"""Recurrent networks that run in Trine and in real PyTorch alike: `library` is either. Every number they give, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

COMMON: list[dict[str, Any]] = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"batch_first": True, "bias": False, "num_layers": 2},
    {"bidirectional": True},
]
CASES = [(kind, options) for kind in ("LSTM", "GRU", "RNN") for options in COMMON]
CASES += [("LSTM", {"proj_size": 3, "num_layers": 2, "bidirectional": True}), ("RNN", {"nonlinearity": "relu"})]
CELLS = ["LSTMCell", "GRUCell", "RNNCell"]


def numbers(t: Any) -> np.ndarray:
    return np.asarray(t.detach().numpy())


def listed(states: Any) -> tuple:
    return states if isinstance(states, tuple) else (states,)


def run_layer(library: Any, kind: str, options: dict[str, Any]) -> dict[str, np.ndarray]:
    """Padded, packed and single sequences with their gradients, and second derivatives, of a network of seed 5."""
    out: dict[str, np.ndarray] = {}
    library.manual_seed(5)
    net = getattr(library.nn, kind)(4, 6, **options)
    x = library.randn(5, 3, 4, requires_grad=True)

    def keep(name: str, tensors: Any) -> None:
        out.update({f"{name}{i}": numbers(t) for i, t in enumerate(tensors)})

    def loss() -> Any:
        output, states = net(x)
        return (output * output).sum() + sum(s.sin().sum() for s in listed(states))

    output, states = net(x)
    keep("output", [output, *listed(states)])
    gradients = library.autograd.grad(loss(), [x, *net.parameters()], create_graph=True)
    keep("gradient", gradients)
    keep("second", library.autograd.grad(sum((g * g).sum() for g in gradients), [x, *net.parameters()])[:2])
    loss().backward()
    keep("backward", [x.grad])
    if not options.get("batch_first"):
        rnn = library.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x.detach(), [2, 5, 3], enforce_sorted=False)
        result, states = net(packed)
        padded, lengths = rnn.pad_packed_sequence(result, total_length=6)
        keep("packed", [packed.data, packed.batch_sizes, padded, lengths, *listed(states)])
        net.zero_grad()
        padded.sin().sum().backward()
        keep("packed_gradient", [p.grad for p in net.parameters()][:2])
        keep("single", [net(x.detach()[:, 0])[0]])
    return out


def run_cell(library: Any, kind: str) -> dict[str, np.ndarray]:
    """A step of a cell of seed 6."""
    library.manual_seed(6)
    cell = getattr(library.nn, kind)(4, 6)
    return {f"state{i}": numbers(s) for i, s in enumerate(listed(cell(library.randn(3, 4))))}


def everything(library: Any) -> dict[str, np.ndarray]:
    """The numbers of all cases."""
    found = {f"{kind}|{options}|{name}": value for kind, options in CASES for name, value in run_layer(library, kind, options).items()}
    return found | {f"{kind}||{name}": value for kind in CELLS for name, value in run_cell(library, kind).items()}
