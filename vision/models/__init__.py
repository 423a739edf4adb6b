"""Networks for pictures, with torchvision's names of layers, so that its weights load.

>>> from trine.vision import models
>>> models.list_models()
['mobilenet_v2', 'resnet101', 'resnet152', 'resnet18', 'resnet34', 'resnet50']
"""

from trine.vision.models._registry import get_model, get_model_builder, get_model_weights, get_weight, list_models
from trine.vision.models._weights import Weights, WeightsEnum
from trine.vision.models.mobilenetv2 import MobileNet_V2_Weights, MobileNetV2, mobilenet_v2
from trine.vision.models.resnet import (
    ResNet,
    ResNet18_Weights,
    ResNet34_Weights,
    ResNet50_Weights,
    ResNet101_Weights,
    ResNet152_Weights,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
)

__all__ = [
    "MobileNetV2",
    "MobileNet_V2_Weights",
    "ResNet",
    "ResNet18_Weights",
    "ResNet34_Weights",
    "ResNet50_Weights",
    "ResNet101_Weights",
    "ResNet152_Weights",
    "Weights",
    "WeightsEnum",
    "get_model",
    "get_model_builder",
    "get_model_weights",
    "get_weight",
    "list_models",
    "mobilenet_v2",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
]
