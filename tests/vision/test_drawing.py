"""Boxes, text and grids: the pixels asked for are painted, and no others."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import trine
from trine.vision.io import read_image
from trine.vision.utils import draw_bounding_boxes, draw_text, make_grid, save_image, text_size

sys.path.insert(0, str(Path(__file__).parent))
from pictures import opened


def black(height: int = 40, width: int = 60, channels: int = 3) -> trine.Tensor:
    return trine.zeros(channels, height, width, dtype=trine.uint8)


def test_a_box_is_a_frame_of_the_given_width():
    drawn = draw_bounding_boxes(black(), trine.tensor([[10, 8, 30, 25]]), colors=(255, 0, 128), width=2)
    expected = np.zeros((40, 60, 3), np.uint8)
    expected[8:26, 10:31] = (255, 0, 128)
    expected[10:24, 12:29] = 0
    np.testing.assert_array_equal(drawn.permute(1, 2, 0).contiguous().numpy(), expected)


def test_the_picture_itself_is_not_changed():
    picture = black()
    draw_bounding_boxes(picture, trine.tensor([[1, 1, 5, 5]]))
    draw_text(picture, "x", 0, 0)
    assert picture.sum() == 0


def test_boxes_beyond_the_border_are_cut_off():
    drawn = draw_bounding_boxes(black(), trine.tensor([[-10, -10, 200, 20]]), ["far"], colors="red")
    assert drawn.shape == (3, 40, 60)
    assert drawn[0, 20].tolist() == [255] * 60


def test_fill_tints_the_inside():
    drawn = draw_bounding_boxes(black(), trine.tensor([[10, 8, 30, 25]]), colors="red", fill=True)
    assert drawn[:, 15, 20].tolist() == [100, 0, 0]
    assert drawn[:, 30, 20].tolist() == [0, 0, 0]


def test_label_is_readable_on_its_plate():
    for color, ink in (("yellow", 0), ("blue", 255)):
        drawn = draw_bounding_boxes(black(), trine.tensor([[10, 20, 50, 38]]), ["cat"], colors=color)
        plate = drawn[:, 9:20, 10:31]
        inked = (plate == ink).all(0).sum()
        assert 15 < int(inked) < 80
    assert draw_bounding_boxes(black(), trine.tensor([[5, 0, 20, 9]]), ["top"]).shape == (3, 40, 60)


def test_gray_picture_becomes_rgb_and_no_boxes_change_nothing():
    assert draw_bounding_boxes(black(channels=1), trine.tensor([[1, 1, 5, 5]])).shape == (3, 40, 60)
    assert (draw_bounding_boxes(black(), trine.zeros(0, 4)) == black()).all()


def test_wrong_arguments_are_named():
    box = trine.tensor([[1, 1, 5, 5]])
    with pytest.raises(ValueError, match=r"expected uint8 .*float32"):
        draw_bounding_boxes(trine.zeros(3, 4, 4), box)
    with pytest.raises(ValueError, match="left not after its right"):
        draw_bounding_boxes(black(), trine.tensor([[9, 1, 5, 5]]))
    with pytest.raises(ValueError, match="1 boxes, but 2 labels"):
        draw_bounding_boxes(black(), box, ["a", "b"])
    with pytest.raises(ValueError, match="color must be"):
        draw_bounding_boxes(black(), box, colors="greenish")
    with pytest.raises(TypeError, match="expected a Tensor"):
        draw_bounding_boxes([1], box)


def test_every_printable_character_has_its_own_glyph():
    glyphs = set()
    for code in range(33, 127):
        drawn = draw_text(black(7, 5), chr(code), 0, 0)
        glyphs.add(bytes(drawn[0].contiguous().numpy().tobytes()))
    assert len(glyphs) == 94
    assert draw_text(black(7, 5), " ", 0, 0).sum() == 0
    assert draw_text(black(7, 5), "ä", 0, 0).sum() > 0


def test_text_scales_and_breaks_lines():
    assert text_size("abc") == (7, 17)
    assert text_size("abc\nd", 3) == (16 * 3, 17 * 3)
    small = draw_text(black(7, 17), "abc", 0, 0)
    large = draw_text(black(21, 51), "abc", 0, 0, scale=3)
    assert (large[:, ::3, ::3] == small).all() and int(large.sum(dtype=trine.int64)) == 9 * int(small.sum(dtype=trine.int64))


def test_grid_lays_pictures_out_in_rows():
    pictures = trine.stack([trine.full((3, 2, 3), float(i)) for i in range(5)])
    grid = make_grid(pictures, nrow=2, padding=1, pad_value=9.0)
    expected = np.full((3 * 3 + 1, 2 * 4 + 1), 9.0, np.float32)
    for i in range(5):
        top, left = i // 2 * 3 + 1, i % 2 * 4 + 1
        expected[top : top + 2, left : left + 3] = i
    np.testing.assert_array_equal(grid[0].numpy(), expected)
    assert make_grid(trine.zeros(1, 1, 4, 4)).shape == (3, 4, 4)
    assert make_grid([trine.zeros(3, 4, 4)] * 3).shape == (3, 8, 20)
    scaled = make_grid(trine.tensor([[[[2.0, 4.0]]]]), normalize=True)
    assert scaled[0].tolist() == [[0.0, 1.0]]
    with pytest.raises(TypeError, match="make_grid"):
        make_grid("pictures")


def test_saved_picture_can_be_read(tmp_path):
    picture = trine.tensor([0.0, 0.5, 1.0, 2.0]).view(1, 2, 2).expand(3, 2, 2)
    save_image(picture, tmp_path / "a.png")
    assert read_image(tmp_path / "a.png")[0].tolist() == [[0, 128], [255, 255]]
    save_image(picture, tmp_path / "a.jpg")
    file = io.BytesIO()
    save_image(picture, file, format="png")
    assert opened(file.getvalue()).size == (2, 2)
    with pytest.raises(ValueError, match="png or jpeg"):
        save_image(picture, tmp_path / "a.gif")
