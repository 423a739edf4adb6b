"""Recurrent layers, cells and packed sequences: numbers of real PyTorch (tests/data/rnn.npz), derivatives, wrong arguments."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import trine
from rnn_cases import CASES, CELLS, run_cell, run_layer
from trine import nn
from trine.nn.utils import rnn

STORED = np.load(Path(__file__).resolve().parent.parent / "data" / "rnn.npz")


def compare(prefix, found):
    wanted = {key.rsplit("|", 1)[1]: STORED[key] for key in STORED.files if key.startswith(prefix)}
    assert wanted and set(wanted) == set(found)
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_layer_equals_pytorch(kind, options):
    compare(f"{kind}|{options}|", run_layer(trine, kind, options))


@pytest.mark.parametrize("kind", CELLS)
def test_cell_equals_pytorch(kind):
    compare(f"{kind}||", run_cell(trine, kind))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_derivatives_in_double(kind):
    net = getattr(nn, kind)(2, 3, dtype=trine.float64)
    x = trine.randn(3, 2, 2, dtype=trine.float64, requires_grad=True)
    assert trine.autograd.gradcheck(lambda t: net(t)[0], (x,))
    assert trine.autograd.gradgradcheck(lambda t: net(t)[0], (x,))


def test_names_shapes_and_text():
    net = nn.LSTM(4, 6, num_layers=2, bidirectional=True, proj_size=3)
    names = list(net.state_dict())
    assert names[:5] == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_hr_l0"]
    assert names[5] == "weight_ih_l0_reverse" and len(names) == 20
    assert tuple(net.weight_ih_l1.shape) == (24, 6) and len(net.all_weights) == 4 and len(net.all_weights[0]) == 5
    assert repr(net) == "LSTM(4, 6, proj_size=3, num_layers=2, bidirectional=True)"
    assert repr(nn.RNNCell(2, 3, nonlinearity="relu")) == "RNNCell(2, 3, nonlinearity=relu)"
    again = pickle.loads(pickle.dumps(nn.GRU(4, 6)))
    assert tuple(again(trine.zeros(2, 1, 4))[0].shape) == (2, 1, 6)


def test_half_precision_and_dropout():
    net = nn.GRU(4, 6, num_layers=2, dropout=0.5).to(trine.bfloat16)
    x = trine.randn(3, 2, 4).to(trine.bfloat16)
    assert net(x)[0].dtype is trine.bfloat16
    assert not trine.equal(net(x)[0], net(x)[0])
    net.eval()
    assert trine.equal(net(x)[0], net(x)[0])
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.GRU(4, 6, dropout=0.5)


def test_wrong_arguments_are_named():
    net = nn.LSTM(4, 6)
    x = trine.zeros(5, 3, 4)
    for call, error, message in [
        (lambda: net(trine.zeros(5, 3, 7)), RuntimeError, "Expected 4, got 7"),
        (lambda: net(trine.zeros(4)), ValueError, "2D or 3D"),
        (lambda: net(x.double()), ValueError, "dtype"),
        (lambda: net(x, (trine.zeros(1, 2, 6), trine.zeros(1, 3, 6))), RuntimeError, r"hidden\[0\] size: Expected \(1, 3, 6\)"),
        (lambda: net(x, (trine.zeros(3, 6), trine.zeros(3, 6))), RuntimeError, "batched 3-D"),
        (lambda: nn.GRU(4, 6)(x, trine.zeros(2, 3, 6)), RuntimeError, "Expected hidden size"),
        (lambda: nn.LSTM(4, 6, proj_size=6), ValueError, "smaller than hidden_size"),
        (lambda: nn.GRU(4, 6, proj_size=2), ValueError, "only supported for LSTM"),
        (lambda: nn.RNN(4, 6, nonlinearity="gelu"), ValueError, "gelu"),
        (lambda: nn.LSTM(4, 0), ValueError, "greater than zero"),
        (
            lambda: trine.lstm(x, [trine.zeros(1, 3, 6)], list(net.parameters()), True, 1, 0.0, False, False, False),
            RuntimeError,
            "two hidden states",
        ),
        (lambda: trine._ops._lstm_cell(trine.zeros(2, 7), trine.zeros(2, 2)), RuntimeError, "lstm_cell: expected gates"),
        (lambda: nn.LSTMCell(4, 6)(trine.zeros(1, 2, 4)), ValueError, "1D or 2D"),
    ]:
        with pytest.raises(error, match=message):
            call()


SEQUENCES = [trine.arange(1, 4), trine.arange(4, 6), trine.arange(6, 7)]


def test_packing_and_padding():
    packed = rnn.pack_sequence(SEQUENCES)
    assert packed.data.tolist() == [1, 4, 6, 2, 5, 3] and packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices is None
    shuffled = rnn.pack_sequence([SEQUENCES[i] for i in (2, 0, 1)], enforce_sorted=False)
    assert shuffled.data.tolist() == packed.data.tolist()
    assert shuffled.sorted_indices.tolist() == [1, 2, 0] and shuffled.unsorted_indices.tolist() == [2, 0, 1]
    assert [t.tolist() for t in rnn.unpack_sequence(shuffled)] == [[6], [1, 2, 3], [4, 5]]
    padded, lengths = rnn.pad_packed_sequence(shuffled, batch_first=True, padding_value=-1, total_length=4)
    assert padded.tolist() == [[6, -1, -1, -1], [1, 2, 3, -1], [4, 5, -1, -1]] and lengths.tolist() == [1, 3, 2]
    assert rnn.pad_sequence(SEQUENCES, padding_side="left", padding_value=9).t().tolist() == [[1, 2, 3], [9, 4, 5], [9, 9, 6]]
    assert [t.tolist() for t in rnn.unpad_sequence(padded, lengths, batch_first=True)] == [[6], [1, 2, 3], [4, 5]]
    assert packed.double().data.dtype is trine.float64 and packed.to(trine.int64) is packed
    assert rnn.PackedSequence(packed.data, packed.batch_sizes).data is packed.data


def test_wrong_sequences_are_named():
    x = trine.zeros(3, 2, 1)
    for call, error, message in [
        (lambda: rnn.pack_padded_sequence(x, [1, 3]), RuntimeError, "enforce_sorted"),
        (lambda: rnn.pack_padded_sequence(x, [3, 0]), RuntimeError, "greater than 0"),
        (lambda: rnn.pack_padded_sequence(x, [3]), RuntimeError, "batch_size=2"),
        (lambda: rnn.pack_padded_sequence(x, [4, 1]), RuntimeError, "at most 3"),
        (lambda: rnn.pack_padded_sequence(trine.zeros(0, 2, 1), [1, 1]), RuntimeError, "empty"),
        (lambda: rnn.pad_packed_sequence(rnn.pack_sequence(SEQUENCES), total_length=2), ValueError, "total_length=2"),
        (lambda: rnn.pad_sequence([]), RuntimeError, "empty list"),
        (lambda: rnn.pad_sequence([trine.zeros(2, 3), trine.zeros(2, 4)]), RuntimeError, "must agree"),
    ]:
        with pytest.raises(error, match=message):
            call()
