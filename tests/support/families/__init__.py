"""Samples of the operators whose schema does not tell what arguments make sense: a module for each family.

``SAMPLES`` of a module is keyed by the operator's name, with its overload where overloads need different samples
(``max_dim``); ``PATHS``, where a module has it, says how Python calls an operator whose own name is not the public
one, or means something else in the main namespace.
"""

from __future__ import annotations

import importlib
import pkgutil

SAMPLES: dict[str, list[str]] = {}
PATHS: dict[str, str] = {}
for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    _family = importlib.import_module(f"{__name__}.{_module}")
    if _doubled := SAMPLES.keys() & _family.SAMPLES.keys():
        raise ValueError(f"families/{_module}.py: samples given twice: {', '.join(sorted(_doubled))}")
    SAMPLES |= _family.SAMPLES
    PATHS |= getattr(_family, "PATHS", {})
