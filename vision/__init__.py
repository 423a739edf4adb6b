"""Pictures for Trine: native codecs, transforms, models with weights, datasets and drawing.

>>> import trine
>>> from trine.vision import io, models, transforms
>>> picture = io.decode_png(io.encode_png(trine.zeros(3, 4, 5, dtype=trine.uint8)))
>>> picture.shape
torch.Size([3, 4, 5])
"""

from trine.vision import datasets, io, models, ops, transforms, utils

__all__ = ["datasets", "io", "models", "ops", "transforms", "utils"]
