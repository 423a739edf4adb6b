"""Checkpoints by URL, under the name that older PyTorch programs use; ``trine.hub`` is where it lives."""

from trine.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
