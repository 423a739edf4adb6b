"""Small helpers that layers share: tuples of a fixed length, prefixes of state dicts."""

from __future__ import annotations

from typing import Any

from .._tuples import _list_with_default, _ntuple, _pair, _quadruple, _reverse_repeat_tuple, _single, _triple

__all__ = [
    "_list_with_default",
    "_ntuple",
    "_pair",
    "_quadruple",
    "_reverse_repeat_tuple",
    "_single",
    "_triple",
    "consume_prefix_in_state_dict_if_present",
]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Strip `prefix` from the keys (and metadata) of `state_dict`, in place.

    >>> from trine.nn.modules.utils import consume_prefix_in_state_dict_if_present
    >>> d = {"module.weight": 1}
    >>> consume_prefix_in_state_dict_if_present(d, "module.")
    >>> d
    {'weight': 1}
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for key in list(metadata):
            # The module itself is stored without the trailing dot.
            if key == prefix.replace(".", "") or key.startswith(prefix):
                metadata[key[len(prefix) :]] = metadata.pop(key)
