"""Boxes and text on pictures."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import trine
from trine import Tensor
from trine.vision.utils._font import GLYPH_HEIGHT, GLYPH_WIDTH, glyph_runs

Color = str | tuple[int, int, int] | Sequence[int]

_NAMED_COLORS = {
    "black": (0, 0, 0),
    "blue": (0, 0, 255),
    "cyan": (0, 255, 255),
    "gray": (128, 128, 128),
    "green": (0, 128, 0),
    "lime": (0, 255, 0),
    "magenta": (255, 0, 255),
    "orange": (255, 165, 0),
    "pink": (255, 192, 203),
    "purple": (128, 0, 128),
    "red": (255, 0, 0),
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
}
_ADVANCE = GLYPH_WIDTH + 1  # glyph cells have a free column between them
_LINE = GLYPH_HEIGHT + 2


def parse_color(color: Color) -> tuple[int, int, int]:
    """(red, green, blue), 0 to 255, of a name, ``"#rrggbb"`` or three numbers.

    Raises:
        ValueError: if it is none of these.
    """
    if isinstance(color, str):
        if color.lower() in _NAMED_COLORS:
            return _NAMED_COLORS[color.lower()]
        digits = color.removeprefix("#")
        if color.startswith("#") and len(digits) == 6 and all(c in "0123456789abcdefABCDEF" for c in digits):
            return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
        raise ValueError(f"color must be #rrggbb or one of {', '.join(_NAMED_COLORS)}, got {color!r}")
    values = [int(value) for value in color]
    if len(values) != 3 or not all(0 <= value <= 255 for value in values):
        raise ValueError(f"color must be three numbers from 0 to 255, got {color!r}")
    return values[0], values[1], values[2]


def _palette(count: int) -> list[tuple[int, int, int]]:
    """Colours that differ as much as possible: steps of the golden ratio round the hues."""
    colors = [colorsys.hsv_to_rgb((0.02 + i * 0.618033988749895) % 1.0, 0.85, 0.95) for i in range(count)]
    return [(int(255 * red), int(255 * green), int(255 * blue)) for red, green, blue in colors]


def _colors(name: str, colors: Color | Sequence[Color] | None, count: int) -> list[tuple[int, int, int]]:
    if colors is None:
        return _palette(count)
    if isinstance(colors, str):
        return [parse_color(colors)] * count
    given = list(colors)
    if all(isinstance(part, int) for part in given) and given:
        return [parse_color([part for part in given if isinstance(part, int)])] * count
    if len(given) < count:
        raise ValueError(f"{name}: {count} boxes, but only {len(given)} colors")
    return [parse_color(color) for color in given[:count] if not isinstance(color, int)]


def text_size(text: str, scale: int = 1) -> tuple[int, int]:
    """(height, width) in pixels of what :func:`draw_text` draws."""
    lines = text.split("\n")
    width = max(len(line) for line in lines) * _ADVANCE - 1
    return (len(lines) * _LINE - 2) * scale, max(width, 0) * scale


class _Canvas:
    """Filled rectangles on a uint8 picture (3, height, width), cut off at its borders."""

    def __init__(self, image: Tensor) -> None:
        self.image = image
        self.height, self.width = image.shape[-2:]
        self._inks: dict[tuple[int, int, int], Tensor] = {}

    def fill(self, top: int, left: int, bottom: int, right: int, color: tuple[int, int, int]) -> None:
        top, left = max(top, 0), max(left, 0)
        bottom, right = min(bottom, self.height), min(right, self.width)
        if top < bottom and left < right:
            self.image[:, top:bottom, left:right] = self._ink(color)

    def blend(self, top: int, left: int, bottom: int, right: int, color: tuple[int, int, int], amount: float) -> None:
        top, left = max(top, 0), max(left, 0)
        bottom, right = min(bottom, self.height), min(right, self.width)
        if top < bottom and left < right:
            area = self.image[:, top:bottom, left:right].to(trine.float32)
            mixed = area * (1.0 - amount) + self._ink(color).to(trine.float32) * amount
            self.image[:, top:bottom, left:right] = mixed.round().to(trine.uint8)

    def frame(self, top: int, left: int, bottom: int, right: int, width: int, color: tuple[int, int, int]) -> None:
        self.fill(top, left, top + width, right, color)
        self.fill(bottom - width, left, bottom, right, color)
        self.fill(top, left, bottom, left + width, color)
        self.fill(top, right - width, bottom, right, color)

    def text(self, top: int, left: int, text: str, color: tuple[int, int, int], scale: int) -> None:
        for row, line in enumerate(text.split("\n")):
            for column, character in enumerate(line):
                y, x = top + row * _LINE * scale, left + column * _ADVANCE * scale
                for run_y, begin, end in glyph_runs(character):
                    at = y + run_y * scale
                    self.fill(at, x + begin * scale, at + scale, x + end * scale, color)

    def _ink(self, color: tuple[int, int, int]) -> Tensor:
        if color not in self._inks:
            self._inks[color] = trine.tensor(color, dtype=trine.uint8).view(3, 1, 1)
        return self._inks[color]


def _canvas(name: str, image: Tensor) -> _Canvas:
    if not isinstance(image, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got {type(image).__name__}")
    if image.dtype != trine.uint8 or image.dim() != 3 or image.shape[0] not in (1, 3):
        raise ValueError(f"{name}: expected uint8 of shape (1 or 3, height, width), got {image.dtype} of {tuple(image.shape)}")
    copy = image.expand(3, -1, -1) if image.shape[0] == 1 else image
    return _Canvas(copy.clone(memory_format=trine.contiguous_format))


def draw_text(
    image: Tensor,
    text: str,
    top: int,
    left: int,
    color: Color = "white",
    background: Color | None = None,
    scale: int = 1,
) -> Tensor:
    """Write on a copy of a picture, in a built-in font of 5x7 pixels.

    Args:
        image: uint8, (1 or 3, height, width).
        text: printable ASCII; other characters become boxes. A newline begins a new line.
        top: of the first line, in pixels.
        left: of each line, in pixels.
        color: of the text: a name, ``"#rrggbb"`` or (red, green, blue).
        background: fills the rectangle behind the text.
        scale: the size of the font's pixels.

    Returns:
        uint8, (3, height, width).
    """
    canvas = _canvas("draw_text", image)
    if background is not None:
        height, width = text_size(text, scale)
        canvas.fill(top - scale, left - scale, top + height + scale, left + width + scale, parse_color(background))
    canvas.text(top, left, text, parse_color(color), scale)
    return canvas.image


def draw_bounding_boxes(
    image: Tensor,
    boxes: Tensor,
    labels: Sequence[str | None] | None = None,
    colors: Color | Sequence[Color] | None = None,
    fill: bool = False,
    width: int = 1,
    font_size: int | None = None,
    label_colors: Color | Sequence[Color] | None = None,
) -> Tensor:
    """Draw boxes and their labels on a copy of a picture.

    Args:
        image: uint8, (1 or 3, height, width).
        boxes: (count, 4): left, top, right, bottom in pixels.
        labels: one a box; ``None`` for none.
        colors: one, or one a box: names, ``"#rrggbb"`` or (red, green, blue). By default all different.
        fill: tint the inside.
        width: of the lines, in pixels.
        font_size: the height of the letters in pixels, rounded down to a multiple of 7; by default it fits the
            picture.
        label_colors: of the letters; by default black or white, whichever is better to read.

    Returns:
        uint8, (3, height, width).

    Raises:
        ValueError: if a box has its right before its left or its bottom before its top, or counts differ.

    >>> import trine
    >>> from trine.vision.utils import draw_bounding_boxes
    >>> picture = trine.zeros(3, 40, 60, dtype=trine.uint8)
    >>> drawn = draw_bounding_boxes(picture, trine.tensor([[5, 12, 50, 35]]), ["cat"], colors="red")
    >>> drawn[:, 20, 5].tolist()
    [255, 0, 0]
    """
    canvas = _canvas("draw_bounding_boxes", image)
    if boxes.dim() != 2 or boxes.shape[-1] != 4:
        if boxes.numel() == 0:
            return canvas.image
        raise ValueError(f"draw_bounding_boxes: expected boxes of shape (count, 4), got {tuple(boxes.shape)}")
    rows = [[int(value) for value in box] for box in boxes.tolist()]
    if any(left > right or top > bottom for left, top, right, bottom in rows):
        raise ValueError("draw_bounding_boxes: a box must be (left, top, right, bottom), its left not after its right")
    texts = [None] * len(rows) if labels is None else list(labels)
    if len(texts) != len(rows):
        raise ValueError(f"draw_bounding_boxes: {len(rows)} boxes, but {len(texts)} labels")
    inks = _colors("draw_bounding_boxes", colors, len(rows))
    text_inks = None if label_colors is None else _colors("draw_bounding_boxes", label_colors, len(rows))
    scale = max(1, (font_size or canvas.height // 30) // GLYPH_HEIGHT)

    for i, (left, top, right, bottom) in enumerate(rows):
        if fill:
            canvas.blend(top, left, bottom + 1, right + 1, inks[i], 100 / 255)
        canvas.frame(top, left, bottom + 1, right + 1, width, inks[i])
    for i, text in enumerate(texts):
        if text:
            _label(canvas, text, rows[i][1], rows[i][0], inks[i], text_inks[i] if text_inks else None, scale)
    return canvas.image


def _label(
    canvas: _Canvas,
    text: str,
    top: int,
    left: int,
    ink: tuple[int, int, int],
    text_ink: tuple[int, int, int] | None,
    scale: int,
) -> None:
    """A plate above the box, or inside it where the picture ends."""
    height, width = text_size(text, scale)
    plate_height, plate_width = height + 4 * scale, width + 4 * scale
    y = top - plate_height if top >= plate_height else max(top, 0)
    x = max(0, min(left, canvas.width - plate_width))
    canvas.fill(y, x, y + plate_height, x + plate_width, ink)
    bright = 0.299 * ink[0] + 0.587 * ink[1] + 0.114 * ink[2] > 140
    canvas.text(y + 2 * scale, x + 2 * scale, text, text_ink or ((0, 0, 0) if bright else (255, 255, 255)), scale)
