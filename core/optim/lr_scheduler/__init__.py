"""Learning-rate schedules: call `scheduler.step()` after `optimizer.step()`, once an epoch or once a batch."""

from ._base import LRScheduler, _LRScheduler
from ._combined import ChainedScheduler, SequentialLR
from ._cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._cyclic import CyclicLR
from ._factor import ConstantLR, ExponentialLR, LinearLR, MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR
from ._lambda import LambdaLR
from ._one_cycle import OneCycleLR
from ._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
