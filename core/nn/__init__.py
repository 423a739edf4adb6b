"""Neural networks: modules, layers as functions, initial values.

>>> import trine
>>> net = trine.nn.Sequential(trine.nn.Linear(4, 8), trine.nn.ReLU(), trine.nn.Linear(8, 2))
>>> tuple(net(trine.zeros(3, 4)).shape)
(3, 2)
"""

from . import functional, init, modules, parallel, utils
from .modules import *
from .modules import __all__ as _layers
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "modules",
    "parallel",
    "utils",
    *_layers,
]
