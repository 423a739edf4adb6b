"""Recurrent layers and cells."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import trine
from trine import Tensor, _ops

from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_OPERATORS = {"LSTM": _ops.lstm, "GRU": _ops.gru, "RNN_TANH": _ops.rnn_tanh, "RNN_RELU": _ops.rnn_relu}


class RNNBase(Module):
    """What recurrent layers share: weights by layer and direction, states, packed and padded input.

    Weights of layer k are `weight_ih_l{k}`, `weight_hh_l{k}`, with `bias` also `bias_ih_l{k}` and `bias_hh_l{k}`, with `proj_size` also
    `weight_hr_l{k}`; those of the opposite direction end in `_reverse`. All begin uniform in +-1/sqrt(hidden_size).
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                f"but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        options = {"device": device, "dtype": dtype}
        rows, out = _GATES[mode] * hidden_size, proj_size or hidden_size
        directions = 2 if bidirectional else 1
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                width = input_size if layer == 0 else out * directions
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(trine.empty(shape, **options)))
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of every layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for names in self._all_weights for name in names]

    def flatten_parameters(self) -> None:
        """Nothing: weights need not lie together here."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != usual:
                text += f", {name}={value}"
        return text

    def get_expected_hidden_size(self, batch: int) -> tuple[int, int, int]:
        """Shape of the hidden states of a batch."""
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def get_expected_cell_size(self, batch: int) -> tuple[int, int, int]:
        """Shape of the cells of a batch."""
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States with their sequences in another order."""
        if permutation is None:
            return hx
        return tuple(h.index_select(1, permutation) for h in hx) if isinstance(hx, tuple) else hx.index_select(1, permutation)

    def _check_input(self, input: Tensor, packed: bool) -> None:
        expected = 2 if packed else 3
        if not input.is_floating_point() or input.dtype is not self.weight_ih_l0.dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({self.weight_ih_l0.dtype}).")
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}")

    def _check_state(self, state: Tensor, expected: tuple[int, int, int], message: str) -> None:
        if tuple(state.shape) != expected:
            raise RuntimeError(f"{message}: Expected {expected}, got {list(state.shape)}")

    def _states(self, hx: Any, input: Tensor, batch: int, order: Tensor | None, batched: bool) -> Any:
        """The initial states, sorted as the input; zeros where none are given."""
        if hx is None:
            return trine.zeros(self.get_expected_hidden_size(batch), dtype=input.dtype, device=input.device)
        if batched:
            if hx.dim() != 3:
                raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
        elif hx.dim() != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
        else:
            hx = hx.unsqueeze(1)
        self._check_state(hx, self.get_expected_hidden_size(batch), "Expected hidden size")
        return self.permute_hidden(hx, order)

    def _run(self, input: Tensor, batch_sizes: Tensor | None, states: Any) -> tuple:
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        operator = _OPERATORS[self.mode]
        if batch_sizes is None:
            return operator(input, states, *options, self.batch_first)
        return operator(input, batch_sizes, states, *options)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of every step and the last states, in the form of the input: padded, packed or a single sequence."""
        if isinstance(input, PackedSequence):
            data, sizes, order, back = input
            self._check_input(data, True)
            output, states = self._finish(self._run(data, sizes, self._states(hx, data, int(sizes[0]), order, True)))
            return PackedSequence(output, sizes, order, back), self.permute_hidden(states, back)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D tensor instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        self._check_input(input, False)
        states = self._states(hx, input, input.shape[0 if self.batch_first else 1], None, batched)
        output, states = self._finish(self._run(input, None, states))
        if batched:
            return output, states
        output = output.squeeze(0 if self.batch_first else 1)
        return output, tuple(s.squeeze(1) for s in states) if isinstance(states, tuple) else states.squeeze(1)

    def _finish(self, results: tuple) -> tuple:
        return results


class RNN(RNNBase):
    """`h' = tanh(W_ih x + b_ih + W_hh h + b_hh)` at every step, or `relu` with `nonlinearity="relu"`.

    Input (steps, batch, input_size), with `batch_first` (batch, steps, input_size), or (steps, input_size), or a `PackedSequence`; states
    (layers x directions, batch, hidden_size). Gives the outputs of every step, of directions x hidden_size, and the last states.

    >>> import trine
    >>> output, h = trine.nn.RNN(3, 4, num_layers=2)(trine.zeros(5, 1, 3))
    >>> tuple(output.shape), tuple(h.shape)
    ((5, 1, 4), (2, 1, 4))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if len(args) > 3 and isinstance(args[3], str):
            nonlinearity, args = args[3], args[:3] + args[4:]
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014), with the reset gate on the product as in cuDNN; shapes as in `RNN`.

    >>> import trine
    >>> output, h = trine.nn.GRU(3, 4, bidirectional=True)(trine.zeros(5, 1, 3))
    >>> tuple(output.shape), tuple(h.shape)
    ((5, 1, 8), (2, 1, 4))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); shapes as in `RNN`, states a pair of hidden states and cells.

    With `proj_size` the hidden state is a projection of that size (Sak et al., 2014).

    >>> import trine
    >>> output, (h, c) = trine.nn.LSTM(3, 4)(trine.zeros(5, 1, 3))
    >>> tuple(output.shape), tuple(h.shape), tuple(c.shape)
    ((5, 1, 4), (1, 1, 4), (1, 1, 4))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _states(self, hx: Any, input: Tensor, batch: int, order: Tensor | None, batched: bool) -> Any:
        if hx is None:
            cells = trine.zeros(self.get_expected_cell_size(batch), dtype=input.dtype, device=input.device)
            return [super()._states(None, input, batch, order, batched), cells]
        h, c = hx
        wanted = 3 if batched else 2
        if h.dim() != wanted or c.dim() != wanted:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx and cx should also be {wanted}-D but got ({h.dim()}-D, {c.dim()}-D) tensors")
        if not batched:
            h, c = h.unsqueeze(1), c.unsqueeze(1)
        self._check_state(h, self.get_expected_hidden_size(batch), "Expected hidden[0] size")
        self._check_state(c, self.get_expected_cell_size(batch), "Expected hidden[1] size")
        return list(self.permute_hidden((h, c), order))

    def _finish(self, results: tuple) -> tuple:
        output, h, c = results
        return output, (h, c)


class RNNCellBase(Module):
    """What recurrent cells share: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh` (None without `bias`)."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        options = {"device": device, "dtype": dtype}
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(trine.empty((rows, input_size), **options))
        self.weight_hh = Parameter(trine.empty((rows, hidden_size), **options))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(trine.empty(rows, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform in +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _rows(self, t: Tensor, what: str) -> Tensor:
        if t.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {t.dim()}D instead")
        return t if t.dim() == 2 else t.unsqueeze(0)

    def _zeros(self, rows: Tensor) -> Tensor:
        return trine.zeros(rows.shape[0], self.hidden_size, dtype=rows.dtype, device=rows.device)

    @property
    def _weights(self) -> tuple:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """One step of `RNN`: input (batch, input_size) or (input_size,), state and result (batch, hidden_size) or (hidden_size,).

    >>> import trine
    >>> tuple(trine.nn.RNNCell(3, 4)(trine.zeros(2, 3)).shape)
    (2, 4)
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        rows = self._rows(input, "input")
        state = self._zeros(rows) if hx is None else self._rows(hx, "hidden")
        cell = _ops.rnn_tanh_cell if self.nonlinearity == "tanh" else _ops.rnn_relu_cell
        result = cell(rows, state, *self._weights)
        return result if input.dim() == 2 else result.squeeze(0)


class GRUCell(RNNCellBase):
    """One step of `GRU`; shapes as in `RNNCell`.

    >>> import trine
    >>> tuple(trine.nn.GRUCell(3, 4)(trine.zeros(3)).shape)
    (4,)
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        rows = self._rows(input, "input")
        state = self._zeros(rows) if hx is None else self._rows(hx, "hidden")
        result = _ops.gru_cell(rows, state, *self._weights)
        return result if input.dim() == 2 else result.squeeze(0)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: state and result are a pair of hidden state and cell; shapes as in `RNNCell`.

    >>> import trine
    >>> h, c = trine.nn.LSTMCell(3, 4)(trine.zeros(2, 3))
    >>> tuple(h.shape), tuple(c.shape)
    ((2, 4), (2, 4))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        rows = self._rows(input, "input")
        if hx is None:
            states = [self._zeros(rows), self._zeros(rows)]
        else:
            states = [self._rows(t, name) for t, name in zip(hx, ("hx[0]", "hx[1]"), strict=True)]
        h, c = _ops.lstm_cell(rows, states, *self._weights)
        return (h, c) if input.dim() == 2 else (h.squeeze(0), c.squeeze(0))
