"""Building blocks that several models share."""

from trine.vision.ops.misc import Conv2dNormActivation, ConvNormActivation

__all__ = ["Conv2dNormActivation", "ConvNormActivation"]
