"""Neural networks: modules, layers as functions, initial values.

>>> import trine
>>> net = trine.nn.Sequential(trine.nn.Linear(4, 8), trine.nn.ReLU(), trine.nn.Linear(8, 2))
>>> tuple(net(trine.zeros(3, 4)).shape)
(3, 2)
"""

from . import functional, init, modules, utils
from .modules import *
from .modules import __all__ as _layers
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "modules", "utils", *_layers]
