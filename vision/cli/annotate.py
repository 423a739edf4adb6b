"""The picture with what the network says written on it."""

from __future__ import annotations

import trine
from trine import Tensor
from trine.vision.cli.results import Result
from trine.vision.utils import draw_bounding_boxes, draw_text, text_size


def annotated(result: Result, lines: int = 3) -> Tensor:
    """uint8 (3, height, width): a frame round what the network looked at, and the most probable labels."""
    height, width = result.picture.shape[-2:]
    texts = [f"{probability:4.0%} {name}" for name, probability in result.labels[:lines]]
    scale = max(1, min(height // 150, width // (7 * max(len(text) for text in texts))))
    frame = trine.tensor([list(result.seen)])
    drawn = draw_bounding_boxes(result.picture, frame, colors="orange", width=max(1, scale))
    text = "\n".join(texts)
    text_height, _ = text_size(text, scale)
    return draw_text(drawn, text, height - text_height - 4 * scale, 4 * scale, color="white", background="black", scale=scale)
