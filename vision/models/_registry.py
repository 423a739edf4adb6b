"""Models and weights by name."""

from __future__ import annotations

import fnmatch
import inspect
import typing
from collections.abc import Callable, Iterable

from trine import nn
from trine.vision.models._weights import WeightsEnum

_BUILDERS: dict[str, Callable[..., nn.Module]] = {}


def register_model(builder: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
    """Make a function that builds a model known under its name."""
    _BUILDERS[builder.__name__] = builder
    return builder


def list_models(include: Iterable[str] | str | None = None, exclude: Iterable[str] | str | None = None) -> list[str]:
    """The names of the models, sorted; ``include`` and ``exclude`` are patterns such as ``"resnet*"``."""

    def matches(name: str, patterns: Iterable[str] | str) -> bool:
        return any(fnmatch.fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))

    names = [name for name in _BUILDERS if include is None or matches(name, include)]
    return sorted(name for name in names if exclude is None or not matches(name, exclude))


def get_model_builder(name: str) -> Callable[..., nn.Module]:
    """The function that builds a model.

    Raises:
        ValueError: if there is no model of that name.
    """
    try:
        return _BUILDERS[name.lower()]
    except KeyError:
        raise ValueError(f"get_model_builder: unknown model {name!r}; known are {', '.join(list_models())}") from None


def get_model(name: str, **config: typing.Any) -> nn.Module:
    """Build the model ``name`` with the keyword arguments of its function.

    >>> from trine.vision.models import get_model
    >>> type(get_model("mobilenet_v2", num_classes=10)).__name__
    'MobileNetV2'
    """
    return get_model_builder(name)(**config)


def get_model_weights(name: Callable[..., nn.Module] | str) -> type[WeightsEnum]:
    """The enum of weights that a model has."""
    builder = get_model_builder(name) if isinstance(name, str) else name
    annotation = typing.get_type_hints(inspect.unwrap(builder))["weights"]
    return next(kind for kind in typing.get_args(annotation) if inspect.isclass(kind) and issubclass(kind, WeightsEnum))


def get_weight(name: str) -> WeightsEnum:
    """The weights of a full name such as ``"MobileNet_V2_Weights.IMAGENET1K_V1"``.

    Raises:
        ValueError: if there are none of that name.
    """
    enum_name, _, member = name.partition(".")
    for builder in _BUILDERS.values():
        weights = get_model_weights(builder)
        if weights.__name__ == enum_name:
            return weights.verify(member)
    raise ValueError(f"get_weight: no weights are called {name!r}")
