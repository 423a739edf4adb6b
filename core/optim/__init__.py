"""Optimizers and learning-rate schedules.

>>> import trine
>>> net = trine.nn.Linear(2, 1)
>>> optimizer = trine.optim.SGD(net.parameters(), lr=0.1)
>>> net(trine.ones(1, 2)).sum().backward()
>>> optimizer.step()
"""

from . import lr_scheduler, swa_utils
from ._adaptive import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop
from .adam import Adam
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam",
    "lr_scheduler", "swa_utils",
]  # fmt: skip
