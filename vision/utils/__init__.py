"""Pictures for people: grids, boxes with labels, text. Nothing here needs Pillow or a font file."""

from trine.vision.utils.drawing import draw_bounding_boxes, draw_text, text_size
from trine.vision.utils.grid import make_grid, save_image

__all__ = ["draw_bounding_boxes", "draw_text", "make_grid", "save_image", "text_size"]
