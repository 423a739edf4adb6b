"""Optimizers and learning-rate schedules.

>>> import trine
>>> net = trine.nn.Linear(2, 1)
>>> optimizer = trine.optim.SGD(net.parameters(), lr=0.1)
>>> net(trine.ones(1, 2)).sum().backward()
>>> optimizer.step()
"""

from . import lr_scheduler
from .adam import Adam
from .adamw import AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
