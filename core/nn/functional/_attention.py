"""Multi-head attention over scaled_dot_product_attention."""

from __future__ import annotations

import math
import warnings

import trine
from trine import Tensor, _ops

scaled_dot_product_attention = _ops.scaled_dot_product_attention


def _is_float(mask: Tensor) -> bool:
    return mask.dtype.is_floating_point


def _canonical_mask(mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: trine.dtype) -> Tensor | None:
    """A mask to be added to the scores: boolean True becomes -inf."""
    if mask is None:
        return None
    if mask.dtype != trine.bool and not _is_float(mask):
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype != other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if _is_float(mask):
        return mask
    return trine.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(mask, float("-inf"))


def _check_shapes(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Whether the query is batched; AssertionError when the shapes do not go together."""
    dim = query.dim()
    if dim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dim}-D query tensor")
    batched = dim == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.dim() != dim or value.dim() != dim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dim}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dim - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != expected:
                raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {tuple(attn_mask.shape)}")
    return batched


def _project(query: Tensor, key: Tensor, value: Tensor, weights: tuple, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Input projections; one product where inputs are the same object."""
    embed = query.shape[-1]
    if len(weights) == 1:
        weight = weights[0]
        if key is value:
            if query is key:
                return _ops.linear(query, weight, bias).chunk(3, -1)
            w_q, w_kv = weight.split([embed, embed * 2])
            b_q, b_kv = (None, None) if bias is None else bias.split([embed, embed * 2])
            k, v = _ops.linear(key, w_kv, b_kv).chunk(2, -1)
            return _ops.linear(query, w_q, b_q), k, v
        weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(_ops.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=False))


def _append_position(mask: Tensor | None) -> Tensor | None:
    """A mask for one more key, which every query may see."""
    return None if mask is None else _ops.constant_pad_nd(mask, (0, 1), 0)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of `query` `(L, N, E)` over `key`, `value` `(S, N, E)` -> `(L, N, E)` and weights `(N, L, S)`.

    Without a batch dimension: `(L, E)`, `(S, E)` -> `(L, E)`, `(L, S)`. `key_padding_mask` `(N, S)` marks keys to
    ignore; `attn_mask` is `(L, S)` or `(N * num_heads, L, S)`; boolean True means "do not attend", a float mask is
    added. `is_causal` is a hint that `attn_mask`, which has to be given, is the causal one.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_qk, same_kv = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same_qk else key.unsqueeze(1)
        value = key if same_kv else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)

    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    # The hint only helps when nothing else is masked and no weights have to be returned.
    causal_only = is_causal and key_padding_mask is None and not need_weights
    if causal_only:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype)

    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        if None in [None if w is None else 1 for w in weights]:
            raise AssertionError("use_separate_proj_weight is True but a projection weight is None")
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        weights = (in_proj_weight,)
    q, k, v = _project(query, key, value, weights, in_proj_bias)

    if attn_mask is not None:
        if attn_mask.dim() == 2:
            if tuple(attn_mask.shape) != (tgt_len, src_len):
                raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(tgt_len, src_len)}.")
            attn_mask = attn_mask.unsqueeze(0)
        elif tuple(attn_mask.shape) != (bsz * num_heads, tgt_len, src_len):
            raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be {(bsz * num_heads, tgt_len, src_len)}.")

    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v have to be given together")
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = trine.cat([k, bias_k.repeat(1, bsz, 1)])
        v = trine.cat([v, bias_v.repeat(1, bsz, 1)])
        attn_mask, key_padding_mask = _append_position(attn_mask), _append_position(key_padding_mask)

    q = _split_heads(q, bsz, num_heads, head_dim)
    k = _split_heads(k, bsz, num_heads, head_dim) if static_k is None else static_k
    v = _split_heads(v, bsz, num_heads, head_dim) if static_v is None else static_v
    if add_zero_attn:
        zeros = trine.zeros((bsz * num_heads, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = trine.cat([k, zeros], dim=1), trine.cat([v, zeros], dim=1)
        attn_mask, key_padding_mask = _append_position(attn_mask), _append_position(key_padding_mask)
    src_len = k.shape[1]

    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (bsz, src_len):
            raise AssertionError(f"expecting key_padding_mask shape of {(bsz, src_len)}, but got {key_padding_mask.shape}")
        spread = key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1)
        spread = spread.reshape(bsz * num_heads, 1, src_len)
        attn_mask = spread if attn_mask is None else attn_mask + spread

    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = (q * math.sqrt(1.0 / head_dim)) @ k.transpose(-2, -1)
        if attn_mask is not None:
            scores = scores + attn_mask
        attention = _ops.softmax(scores, -1)
        if dropout_p > 0.0:
            attention = _ops.dropout(attention, dropout_p, True)
        mixed = attention @ v  # (N * heads, L, head_dim)
        mixed = mixed.transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
    else:
        if attn_mask is not None:
            attn_mask = (
                attn_mask.unsqueeze(0) if attn_mask.shape[0] == 1 and attn_mask.dim() == 3 else attn_mask.view(bsz, num_heads, -1, src_len)
            )
        q, k, v = (x.view(bsz, num_heads, -1, head_dim) for x in (q, k, v))
        mixed = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, causal_only)
        mixed = mixed.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim)
        attention = None

    output = _ops.linear(mixed, out_proj_weight, out_proj_bias).view(tgt_len, bsz, -1)
    if attention is not None:
        attention = attention.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            attention = attention.mean(1)
    if not batched:
        output = output.squeeze(1)
        attention = None if attention is None else attention.squeeze(0)
    return output, attention


def _split_heads(x: Tensor, bsz: int, num_heads: int, head_dim: int) -> Tensor:
    """(S, N, E) -> (N * heads, S, head_dim)."""
    return x.reshape(x.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
