"""Attention and transformers against NumPy."""

import copy
import math

import numpy as np
import pytest
import trine
from trine import nn


def array(t):
    return t.detach().numpy()


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensor(a):
    return trine.from_numpy(np.ascontiguousarray(a))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(layer, query, key, value, mask=0.0):
    """(N, L, E), (N, S, E) -> output and weights per head (N, heads, L, S); `mask` is added to the scores."""
    w, b = array(layer.in_proj_weight), array(layer.in_proj_bias)
    e, heads = layer.embed_dim, layer.num_heads
    parts = [x @ w[i * e : (i + 1) * e].T + b[i * e : (i + 1) * e] for i, x in enumerate((query, key, value))]
    q, k, v = (p.reshape(p.shape[0], p.shape[1], heads, e // heads).transpose(0, 2, 1, 3) for p in parts)
    weights = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(e // heads) + mask)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(query.shape)
    return mixed @ array(layer.out_proj.weight).T + array(layer.out_proj.bias), weights


def make(**options):
    layer = nn.MultiheadAttention(8, 2, batch_first=True, **options)
    with trine.no_grad():
        layer.in_proj_bias.copy_(tensor(numbers(24, seed=9)))
        layer.out_proj.bias.copy_(tensor(numbers(8, seed=8)))
    return layer


def test_attention_output_and_mean_weights():
    layer, q, k = make(), numbers(3, 4, 8), numbers(3, 5, 8, seed=1)
    output, weights = layer(tensor(q), tensor(k), tensor(k))
    expected, each = attend(layer, q, k, k)
    np.testing.assert_allclose(array(output), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(weights), each.mean(1), rtol=1e-4, atol=1e-6)
    _, per_head = layer(tensor(q), tensor(k), tensor(k), average_attn_weights=False)
    np.testing.assert_allclose(array(per_head), each, rtol=1e-4, atol=1e-6)


def test_attention_without_weights_gives_the_same_output():
    layer, x = make(), tensor(numbers(3, 4, 8))
    with_weights, _ = layer(x, x, x)
    without, nothing = layer(x, x, x, need_weights=False)
    assert nothing is None
    np.testing.assert_allclose(array(without), array(with_weights), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("need_weights", [False, True])
def test_attention_masks_hide_keys(need_weights):
    layer, x = make(), numbers(2, 4, 8)
    causal = np.triu(np.full((4, 4), -np.inf, dtype=np.float32), 1)
    padding = np.array([[False, False, False, True], [False, False, True, True]])
    hidden = np.where(padding, -np.inf, 0.0)[:, None, None, :]
    t = tensor(x)
    output, _ = layer(t, t, t, attn_mask=tensor(causal), key_padding_mask=tensor(padding).float() * -1e30, need_weights=need_weights)
    np.testing.assert_allclose(array(output), attend(layer, x, x, x, causal + hidden)[0], rtol=1e-4, atol=1e-5)
    boolean, _ = layer(t, t, t, attn_mask=tensor(np.isinf(causal)), key_padding_mask=tensor(padding), need_weights=need_weights)
    np.testing.assert_allclose(array(boolean), array(output), rtol=1e-4, atol=1e-5)


def test_causal_hint_equals_the_causal_mask():
    layer, x = make(), tensor(numbers(2, 4, 8))
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert mask.tolist()[0] == [0, -math.inf, -math.inf, -math.inf]
    a, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
    b, _ = layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)
    np.testing.assert_allclose(array(b), array(a), rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        layer(x, x, x, is_causal=True)


def test_unbatched_and_sequence_first_inputs():
    layer, x = make(), numbers(1, 4, 8)
    batched, weights = layer(*[tensor(x)] * 3)
    single, single_weights = layer(*[tensor(x[0])] * 3)
    np.testing.assert_allclose(array(single), array(batched)[0], rtol=1e-5, atol=1e-6)
    assert tuple(single_weights.shape) == tuple(weights.shape[1:])
    layer.batch_first = False
    swapped, _ = layer(*[tensor(x.transpose(1, 0, 2))] * 3)
    np.testing.assert_allclose(array(swapped).transpose(1, 0, 2), array(batched), rtol=1e-5, atol=1e-6)


def test_key_and_value_of_other_widths_have_their_own_projections():
    layer = nn.MultiheadAttention(8, 2, kdim=6, vdim=5, batch_first=True)
    assert list(layer.state_dict())[:3] == ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    output, weights = layer(tensor(numbers(2, 3, 8)), tensor(numbers(2, 4, 6)), tensor(numbers(2, 4, 5)))
    assert tuple(output.shape) == (2, 3, 8) and tuple(weights.shape) == (2, 3, 4)


def test_added_bias_and_zero_keys_lengthen_the_sequence():
    layer = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    x = tensor(numbers(2, 4, 8))
    _, weights = layer(x, x, x)
    assert tuple(weights.shape) == (2, 4, 6)
    np.testing.assert_allclose(array(weights).sum(-1), 1, rtol=1e-5)


def test_attention_refuses_shapes_that_do_not_fit():
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(7, 2)
    layer, x = make(), trine.zeros(2, 4, 8)
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 8, but got 6"):
        layer(*[trine.zeros(2, 4, 6)] * 3)
    with pytest.raises(RuntimeError, match="The shape of the 2D attn_mask is"):
        layer(x, x, x, attn_mask=trine.zeros(3, 4))


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_is_attention_and_feed_forward_with_residuals(norm_first):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=norm_first).eval()
    x = numbers(2, 4, 8)

    def feed_forward(y):
        hidden = np.maximum(y @ array(layer.linear1.weight).T + array(layer.linear1.bias), 0)
        return hidden @ array(layer.linear2.weight).T + array(layer.linear2.bias)

    if norm_first:
        n = layer_norm(x)
        y = x + attend(layer.self_attn, n, n, n)[0]
        expected = y + feed_forward(layer_norm(y))
    else:
        y = layer_norm(x + attend(layer.self_attn, x, x, x)[0])
        expected = layer_norm(y + feed_forward(y))
    np.testing.assert_allclose(array(layer(tensor(x))), expected, rtol=1e-4, atol=1e-5)


def test_encoder_copies_its_layer_and_a_causal_mask_hides_the_future():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
    assert encoder.layers[0].linear1.weight is not layer.linear1.weight
    x = numbers(1, 5, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    y = array(encoder(tensor(x), mask))
    changed = copy.deepcopy(x)
    changed[:, 3:] += 1
    z = array(encoder(tensor(changed), mask))
    np.testing.assert_allclose(z[:, :3], y[:, :3], rtol=1e-4, atol=1e-5)
    assert np.abs(z[:, 3:] - y[:, 3:]).max() > 1e-3


def test_transformer_runs_and_trains_every_parameter():
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, activation="gelu", batch_first=True)
    output = model(tensor(numbers(2, 5, 8)), tensor(numbers(2, 3, 8)))
    assert tuple(output.shape) == (2, 3, 8)
    (output * tensor(numbers(2, 3, 8, seed=2))).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    with pytest.raises(RuntimeError, match="the feature number of src and tgt must be equal to d_model"):
        model(trine.zeros(2, 5, 7), trine.zeros(2, 3, 7))
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(8, 2, activation="tanh")
