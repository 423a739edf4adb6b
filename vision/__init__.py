"""Pictures for Trine: native codecs, transforms, models with weights, datasets and drawing.

>>> import trine
>>> from trine.vision import io, models, transforms
>>> picture = io.decode_png(io.encode_png(trine.zeros(3, 4, 5, dtype=trine.uint8)))
>>> picture.shape
torch.Size([3, 4, 5])
"""

from trine.version import __version__, check_build
from trine.vision import _C

check_build(_C)

from trine.vision import datasets, io, models, ops, transforms, utils  # noqa: E402 (after the check, which explains what they would trip over)

__all__ = ["__version__", "datasets", "io", "models", "ops", "transforms", "utils"]
