"""A font of 5x7 pixels for labels, drawn for this project.

A glyph is seven bytes, a byte a row, the lowest bit its rightmost pixel. To see one:
``python -m trine.vision.utils._font Ag``.
"""

from __future__ import annotations

import sys
from functools import lru_cache

GLYPH_WIDTH = 5
GLYPH_HEIGHT = 7

_FIRST = 33  # "!"; the space has no pixels
_MISSING = bytes.fromhex("1f11111111111f")

# "!" to "~" in the order of ASCII
_GLYPHS = [
    bytes.fromhex(rows)
    for rows in """
        04040404040004 0a0a0a00000000 0a0a1f0a1f0a0a 040f140e051e04 19190204081313 0c12140815120d
        04040400000000 02040808080402 08040202020408 0004150e150400 0004041f040400 000000000c0408
        0000001f000000 00000000000c0c 01010204081010 0e11131519110e 040c040404040e 0e11010608101f
        1f02040201110e 02060a121f0202 1f101e0101110e 0608101e11110e 1f010204080808 0e11110e11110e
        0e11110f01020c 000c0c000c0c00 000c0c000c0408 02040810080402 00001f001f0000 08040201020408
        0e110102040004 0e11171517100f 0e11111f111111 1e11111e11111e 0e11101010110e 1c12111111121c
        1f10101e10101f 1f10101e101010 0e11101711110f 1111111f111111 0e04040404040e 0702020202120c
        11121418141211 1010101010101f 111b1515111111 11111915131111 0e11111111110e 1e11111e101010
        0e11111115120d 1e11111e141211 0f10100e01011e 1f040404040404 1111111111110e 11111111110a04
        11111115151b11 11110a040a1111 11110a04040404 1f01020408101f 0e08080808080e 10100804020101
        0e02020202020e 040a1100000000 0000000000001f 08040000000000 00000e010f110f 10101e1111111e
        00000f1010100f 01010f1111110f 00000e111f100e 06081e08080808 000f11110f010e 10101619111111
        04000c0404040e 0200060202120c 10101214181412 0c04040404040e 00001a15151515 00001e11111111
        00000e1111110e 001e11111e1010 000f11110f0101 00001619101010 00000f100e011e 08081e08080806
        0000111111110f 00001111110a04 0000111115150a 0000110a040a11 001111110f010e 00001f0204081f
        06040408040406 04040404040404 0c04040204040c 00000815020000
    """.split()  # noqa: SIM905
]


def glyph(character: str) -> bytes:
    """The seven rows of a character; a box for what the font lacks."""
    if character.isspace():
        return bytes(GLYPH_HEIGHT)
    index = ord(character) - _FIRST
    return _GLYPHS[index] if 0 <= index < len(_GLYPHS) else _MISSING


@lru_cache(maxsize=256)
def glyph_runs(character: str) -> tuple[tuple[int, int, int], ...]:
    """The inked pixels of a character as runs (row, first column, column after the last)."""
    runs = []
    for row, bits in enumerate(glyph(character)):
        pixels = f"{bits:0{GLYPH_WIDTH}b}0"
        begin = None
        for column, pixel in enumerate(pixels):
            if pixel == "1" and begin is None:
                begin = column
            elif pixel == "0" and begin is not None:
                runs.append((row, begin, column))
                begin = None
    return tuple(runs)


if __name__ == "__main__":
    for row in range(GLYPH_HEIGHT):
        cells = (f"{glyph(character)[row]:0{GLYPH_WIDTH}b}" for character in " ".join(sys.argv[1:]))
        print("  ".join(cells).replace("0", " ").replace("1", "\u2588"))
