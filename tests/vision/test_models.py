"""Models: published weights fit by name, and say the same about real photographs as under PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import trine
from trine import hub
from trine.vision import models
from trine.vision.io import read_image
from trine.vision.models import MobileNet_V2_Weights

sys.path.insert(0, str(Path(__file__).parent))
from pictures import skimage_photograph

LOGITS = Path(__file__).parent / "data" / "mobilenet_v2_logits.npz"  # tools/make_reference_logits.py makes it
WEIGHTS = MobileNet_V2_Weights.IMAGENET1K_V1

SCIKIT_IMAGE = {
    "chelsea.png": "Egyptian cat",
    "coffee.png": "espresso",
    "motorcycle_left.png": "moped",
    "rocket.jpg": "space shuttle",
    "camera.png": "tripod",
}
OPENCV = {
    "baboon.jpg": "baboon",
    "butterfly.jpg": "admiral",
    "fruits.jpg": "lemon",
    "messi5.jpg": "soccer ball",
    "orange.jpg": "orange",
    "squirrel_cls.jpg": "fox squirrel",
}


@pytest.fixture(scope="module")
def network():
    try:
        return models.mobilenet_v2(weights=WEIGHTS, progress=False).eval()
    except hub.DownloadError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")


def five_best(network, path: Path) -> list[str]:
    with trine.inference_mode():
        logits = network(WEIGHTS.transforms()(read_image(path, "RGB")).unsqueeze(0))
    return [WEIGHTS.meta["categories"][i] for i in logits[0].topk(5).indices.tolist()]


@pytest.mark.parametrize("name", SCIKIT_IMAGE)
def test_scikit_images_photographs_are_recognised(network, name):
    assert SCIKIT_IMAGE[name] in five_best(network, skimage_photograph(name))


@pytest.mark.parametrize("name", OPENCV)
def test_opencvs_photographs_are_recognised(network, name):
    folders = [Path("/usr/share/doc/opencv-doc/examples/data"), Path(hub.get_dir()) / "samples"]
    found = [folder / name for folder in folders if (folder / name).is_file()]
    if not found:
        pytest.skip("Debian's opencv-doc is neither installed nor fetched (tools/demo without pictures fetches it)")
    assert OPENCV[name] in five_best(network, found[0])


@pytest.mark.parametrize("name", np.load(LOGITS).files)
def test_logits_equal_real_pytorchs(network, name):
    picture = read_image(skimage_photograph(name), "RGB")
    with trine.inference_mode():
        logits = network(WEIGHTS.transforms()(picture).unsqueeze(0))[0]
    np.testing.assert_allclose(logits.numpy(), np.load(LOGITS)[name], rtol=0, atol=1e-3)


def test_preparation_gives_the_network_one_size():
    prepare = WEIGHTS.transforms()
    for shape in ((3, 300, 400), (3, 224, 224), (3, 900, 301)):
        assert prepare(trine.zeros(shape, dtype=trine.uint8)).shape == (3, 224, 224)


def test_mobilenet_v2_has_the_published_names_and_sizes():
    network = models.mobilenet_v2()
    state = network.state_dict()
    assert len(state) == 314
    assert sum(value.numel() for value in network.parameters()) == 3_504_872
    expected = {
        "features.0.0.weight": (32, 3, 3, 3),
        "features.0.1.running_mean": (32,),
        "features.1.conv.0.0.weight": (32, 1, 3, 3),
        "features.1.conv.1.weight": (16, 32, 1, 1),
        "features.2.conv.0.0.weight": (96, 16, 1, 1),
        "features.2.conv.1.0.weight": (96, 1, 3, 3),
        "features.17.conv.3.num_batches_tracked": (),
        "features.18.0.weight": (1280, 320, 1, 1),
        "classifier.1.weight": (1000, 1280),
    }
    assert {name: tuple(state[name].shape) for name in expected} == expected


@pytest.mark.parametrize(("name", "parameters", "entries"), [("resnet18", 11_689_512, 122), ("resnet50", 25_557_032, 320)])
def test_resnets_have_the_published_names_and_sizes(name, parameters, entries):
    network = models.get_model(name)
    state = network.state_dict()
    assert sum(value.numel() for value in network.parameters()) == parameters
    assert len(state) == entries
    assert state["layer2.0.downsample.1.running_var"].shape == state["layer2.0.downsample.0.weight"].shape[:1]
    assert tuple(state["conv1.weight"].shape) == (64, 3, 7, 7)
    assert {"bn1.weight", "layer4.1.conv2.weight", "fc.bias"} <= set(state)


@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet18", "resnet50"])
def test_models_train(name):
    network = models.get_model(name, num_classes=7)
    loss = trine.nn.functional.cross_entropy(network(trine.rand(2, 3, 64, 64)), trine.tensor([1, 3]))
    loss.backward()
    assert all(value.grad is not None and bool(value.grad.isfinite().all()) for value in network.parameters())


def test_wrong_widths_and_strides_are_named():
    with pytest.raises(ValueError, match="InvertedResidual: stride"):
        models.mobilenetv2.InvertedResidual(8, 8, 3, 6)
    with pytest.raises(ValueError, match="MobileNetV2: expected rows of four"):
        models.MobileNetV2(inverted_residual_setting=[[1, 2, 3]])
    assert models.MobileNetV2(width_mult=0.5).last_channel == 1280
    assert models.MobileNetV2(width_mult=1.4).last_channel == 1792


def test_weights_are_found_by_name():
    assert models.get_weight("MobileNet_V2_Weights.IMAGENET1K_V1") is WEIGHTS
    assert models.get_model_weights("mobilenet_v2") is MobileNet_V2_Weights
    assert MobileNet_V2_Weights.verify("DEFAULT") is WEIGHTS
    assert len(WEIGHTS.meta["categories"]) == len(set(WEIGHTS.meta["categories"])) == 1000
    assert WEIGHTS.meta["categories"][285] == "Egyptian cat"
    with pytest.raises(ValueError, match="no weights 'V9'; there are IMAGENET1K_V1"):
        MobileNet_V2_Weights.verify("V9")
    with pytest.raises(TypeError, match="MobileNet_V2_Weights: expected one of its members"):
        MobileNet_V2_Weights.verify(models.ResNet18_Weights.DEFAULT)
    with pytest.raises(ValueError, match="unknown model 'mobilenet_v9'; known are"):
        models.get_model("mobilenet_v9")


def test_old_argument_pretrained_still_works(network):
    with pytest.warns(UserWarning, match="'pretrained' is deprecated"):
        again = models.mobilenet_v2(pretrained=True, progress=False)
    assert (again.classifier[1].bias == network.classifier[1].bias).all()
