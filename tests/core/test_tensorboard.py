"""TensorBoard's own reader sees what was written."""

from __future__ import annotations

import io
import subprocess
import sys
import wave

import pytest
import trine

np = pytest.importorskip("numpy")
pytest.importorskip("tensorboard")
from PIL import Image  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402
from tensorboard.util import tensor_util  # noqa: E402
from trine.utils.tensorboard import SummaryWriter  # noqa: E402


@pytest.fixture
def written(tmp_path):
    """``written(fill)``: what TensorBoard reads after ``fill(writer)``."""

    def read(fill, folder="run", **options) -> EventAccumulator:
        with SummaryWriter(tmp_path / "run", **options) as writer:
            fill(writer)
        events = EventAccumulator(
            str(tmp_path / folder), size_guidance=dict.fromkeys(("tensors", "images", "audio", "histograms", "scalars"), 0)
        )
        return events.Reload()

    return read


def array_of(event) -> np.ndarray:
    return tensor_util.make_ndarray(event.tensor_proto)


def test_scalars(written):
    def fill(writer):
        for step in range(3):
            writer.add_scalar("loss/train", trine.tensor(1.0 / (step + 1)), step, walltime=100.0 + step)
        writer.add_scalar("plain", 3, 7)
        writer.add_scalar("bf16", trine.tensor([2.5], dtype=trine.bfloat16, requires_grad=True))
        writer.add_scalar("new", 0.5, 1, new_style=True)
        writer.add_scalar("double", 1 / 3, 1, double_precision=True)

    events = written(fill)
    assert [(e.step, e.value, e.wall_time) for e in events.Scalars("loss/train")] == [
        (0, 1.0, 100.0), (1, 0.5, 101.0), (2, pytest.approx(1 / 3), 102.0),
    ]  # fmt: skip
    assert events.Scalars("plain")[0].step == 7 and events.Scalars("bf16")[0].value == 2.5
    assert array_of(events.Tensors("new")[0]) == 0.5 and array_of(events.Tensors("double")[0]) == 1 / 3


def test_several_scalars_are_runs_of_their_own(written):
    events = written(lambda w: w.add_scalars("acc/all", {"train": 0.5, "test": 0.25}, 1), "run/acc_all_test")
    assert events.Scalars("acc/all")[0].value == 0.25


def test_a_run_that_goes_on_forgets_what_came_after(written, tmp_path):
    written(lambda w: [w.add_scalar("x", s, s) for s in range(5)])
    events = written(lambda w: w.add_scalar("x", 20, 2), purge_step=2, filename_suffix=".again")
    assert [(e.step, e.value) for e in events.Scalars("x")] == [(0, 0), (1, 1), (2, 20)]
    assert any(p.name.endswith(".again") for p in (tmp_path / "run").iterdir())


def test_a_closed_writer_goes_on_in_a_new_file(written):
    def fill(writer):
        writer.add_scalar("a", 1, 0)
        writer.close()
        writer.add_scalar("a", 2, 1)
        writer.flush()

    assert [e.value for e in written(fill).Scalars("a")] == [1, 2]


@pytest.mark.parametrize("options", [{}, {"bins": "auto"}, {"bins": 10}, {"bins": [-4.0, 0.0, 4.0]}, {"max_bins": 5}])
def test_a_histogram_counts_every_value(written, options):
    values = trine.randn(1000).clamp(-3.9, 3.9)
    histogram = written(lambda w: w.add_histogram("h", values, 0, **options)).Histograms("h")[0].histogram_value
    assert sum(histogram.bucket) == histogram.num == 1000 and len(histogram.bucket) == len(histogram.bucket_limit)
    assert histogram.min == pytest.approx(values.min().item()) and histogram.sum == pytest.approx(values.double().sum().item())
    below_zero = sum(n for n, limit in zip(histogram.bucket, histogram.bucket_limit, strict=True) if limit <= 0)
    if not options or options.get("bins") == [-4.0, 0.0, 4.0]:
        assert below_zero == (values < 0).sum().item()
    assert len(histogram.bucket) <= options.get("max_bins", 10_000) + 1


def test_a_histogram_counted_elsewhere(written):
    events = written(lambda w: w.add_histogram_raw("h", 0, 3, 4, 5, 9, [1.0, 3.0], [3, 1]))
    assert events.Histograms("h")[0].histogram_value.bucket == [3, 1]


def picture(event) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(event.encoded_image_string)))


def test_pictures_in_every_layout(written):
    image = trine.arange(2 * 3 * 3).reshape(3, 2, 3).to(trine.uint8) * 10

    def fill(writer):
        writer.add_image("chw", image)
        writer.add_image("hwc", image.permute(1, 2, 0), dataformats="HWC")
        writer.add_image("hw", image[0].float() / 255, dataformats="HW")
        writer.add_images("grid", image.expand(10, 3, 2, 3))
        writer.add_image_with_boxes("boxes", trine.zeros(3, 20, 20), trine.tensor([[2.0, 3.0, 15.0, 16.0]]), labels="cat", rescale=2)

    events = written(fill)
    wanted = image.permute(1, 2, 0).numpy()
    assert np.array_equal(picture(events.Images("chw")[0]), wanted) and np.array_equal(picture(events.Images("hwc")[0]), wanted)
    assert np.abs(picture(events.Images("hw")[0])[..., 0].astype(int) - image[0].numpy()).max() <= 1
    assert picture(events.Images("grid")[0]).shape == (4, 24, 3) and events.Images("grid")[0].width == 24
    boxes = picture(events.Images("boxes")[0])
    assert boxes.shape == (40, 40, 3) and boxes[..., 0].max() == 255 and boxes[..., 1].max() == 0


@pytest.mark.parametrize(("shape", "letters"), [((3, 4), "CHW"), ((2, 4, 4), "CHW"), ((3, 4, 4), "CHH"), ((3, 4, 4), "XYZ")])
def test_what_is_no_picture(tmp_path, shape, letters):
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match="tensorboard"):
        writer.add_image("x", trine.zeros(shape), dataformats=letters)


def test_a_video_is_an_animation(written):
    video = (trine.arange(5).reshape(1, 5, 1, 1, 1) * 50).expand(2, 5, 3, 4, 6).to(trine.uint8)
    event = written(lambda w: w.add_video("v", video, fps=10)).Images("v")[0]
    image = Image.open(io.BytesIO(event.encoded_image_string))
    assert (image.format, image.n_frames, image.size, image.info["duration"]) == ("GIF", 5, (12, 4), 100)


def test_a_sound(written):
    samples = trine.linspace(-2, 2, 100)
    event = written(lambda w: w.add_audio("s", samples[None], sample_rate=8000)).Audio("s")[0]
    assert event.sample_rate == 8000 and event.length_frames == 100
    with wave.open(io.BytesIO(event.encoded_audio_string)) as file:
        read = np.frombuffer(file.readframes(100), "<i2") / 32767
    assert np.abs(read - samples.clamp(-1, 1).numpy()).max() < 1e-4


def test_a_figure(written):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(2, 1), dpi=50)
    event = written(lambda w: w.add_figure("f", figure)).Images("f")[0]
    assert (event.width, event.height) == (100, 50) and not pyplot.fignum_exists(figure.number)


def test_a_text(written):
    (event,) = written(lambda w: w.add_text("note", "**größe**", 3)).Tensors("note/text_summary")
    assert array_of(event).tolist() == ["**größe**".encode()] and event.step == 3


def test_a_tensor(written):
    events = written(lambda w: w.add_tensor("t", trine.arange(6).reshape(2, 3)))
    assert array_of(events.Tensors("t")[0]).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_precision_recall_curve_is_scikit_learns(written):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores, weights = (trine.rand(500) > 0.6), trine.rand(500), trine.rand(500) + 0.5
    rows = array_of(written(lambda w: w.add_pr_curve("pr", labels, scores, 0, 11, weights=weights)).Tensors("pr")[0])
    assert rows.shape == (6, 11)
    for i, threshold in enumerate(np.arange(11) / 10):
        guess = np.floor(scores.numpy().astype(np.float64) * 10) / 10 >= threshold - 1e-9
        options = {"sample_weight": weights.numpy(), "zero_division": 0}
        assert rows[4, i] == pytest.approx(metrics.precision_score(labels.numpy(), guess, **options), abs=1e-4)
        assert rows[5, i] == pytest.approx(metrics.recall_score(labels.numpy(), guess, **options), abs=1e-4)
    assert np.allclose(rows[:4].sum(0), weights.sum().item(), rtol=1e-4)
    raw = written(lambda w: w.add_pr_curve_raw("raw", *rows)).Tensors("raw")[0]
    assert np.array_equal(array_of(raw), rows)


def test_a_mesh(written):
    from tensorboard.plugins.mesh import metadata

    points, faces = trine.rand(1, 4, 3), trine.tensor([[[0, 1, 2], [1, 2, 3]]])
    colors = trine.full((1, 4, 3), 9)
    events = written(lambda w: w.add_mesh("m", points, colors=colors, faces=faces, config_dict={"camera": {"fov": 75}}))
    assert np.allclose(array_of(events.Tensors("m_VERTEX")[0]), points.numpy())
    assert array_of(events.Tensors("m_FACE")[0]).tolist() == faces.tolist() and array_of(events.Tensors("m_COLOR")[0]).max() == 9
    content = events.SummaryMetadata("m_VERTEX").plugin_data.content
    parsed = metadata.parse_plugin_metadata(content)
    assert parsed.name == "m" and '"fov": 75' in parsed.json_config and list(parsed.shape) == [1, 4, 3]
    with pytest.raises(ValueError, match="points x 3"):
        written(lambda w: w.add_mesh("m", trine.rand(4, 3)))


def test_custom_charts(written):
    from tensorboard.plugins.custom_scalar import layout_pb2

    layout = {"Taiwan": {"twse": ["Multiline", ["a", "b"]]}, "USA": {"dow": ["Margin", ["d", "low", "high"]]}}
    (event,) = written(lambda w: w.add_custom_scalars(layout)).Tensors("custom_scalars__config__")
    read = layout_pb2.Layout.FromString(array_of(event).tolist()[0])
    assert [c.title for c in read.category] == ["Taiwan", "USA"]
    assert list(read.category[0].chart[0].multiline.tag) == ["a", "b"] and read.category[1].chart[0].margin.series[0].upper == "high"
    written(lambda w: w.add_custom_scalars_multilinechart(["a"], "c", "t"))
    with pytest.raises(ValueError, match="margin"):
        written(lambda w: w.add_custom_scalars_marginchart(["a"]))


def test_hyperparameters(written):
    from tensorboard.plugins.hparams import metadata

    def fill(writer):
        values = {"lr": 0.1, "layers": trine.tensor(3), "name": "adam", "fast": True, "none": None}
        writer.add_hparams(values, {"hparam/accuracy": trine.tensor(0.9)}, {"name": ["adam", "sgd"]}, run_name="one", global_step=4)

    events = written(fill, "run/one")
    assert events.Scalars("hparam/accuracy")[0].value == pytest.approx(0.9) and events.Scalars("hparam/accuracy")[0].step == 4
    start = metadata.parse_session_start_info_plugin_data(events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content)
    assert start.hparams["lr"].number_value == 0.1 and start.hparams["layers"].number_value == 3
    assert start.hparams["name"].string_value == "adam" and start.hparams["fast"].bool_value is True and "none" not in start.hparams
    experiment = metadata.parse_experiment_plugin_data(events.SummaryMetadata(metadata.EXPERIMENT_TAG).plugin_data.content)
    domain = next(info for info in experiment.hparam_infos if info.name == "name").domain_discrete
    assert [v.string_value for v in domain.values] == ["adam", "sgd"] and experiment.metric_infos[0].name.tag == "hparam/accuracy"
    with pytest.raises(ValueError, match="hyperparameter"):
        written(lambda w: w.add_hparams({"x": [1, 2]}, {}))
    with pytest.raises(TypeError, match="dicts"):
        written(lambda w: w.add_hparams([], {}))


class Residual(trine.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = trine.nn.Sequential(trine.nn.Linear(3, 3), trine.nn.ReLU())
        self.head = trine.nn.Linear(3, 1)

    def forward(self, x, scale=None):
        return self.head(x + self.body(x))


def test_a_graph_shows_the_modules_and_how_they_are_joined(written, capsys):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    model = Residual().train()
    events = written(lambda w: w.add_graph(model, trine.ones(2, 3), verbose=True))
    nodes = {node.name: node for node in GraphDef.FromString(events.Graph().SerializeToString()).node}
    assert list(nodes["Residual/body/1"].input) == ["Residual/body/0"] and list(nodes["Residual/body/0"].input) == ["input/0"]
    assert nodes["Residual/body/0"].op == "Linear" and list(nodes["output/0"].input) == ["Residual/head"]
    assert [d.size for d in nodes["Residual/head"].attr["_output_shapes"].list.shape[0].dim] == [2, 1]
    assert model.training and not model.body[0]._forward_hooks and "Residual/head" in capsys.readouterr().out


def test_an_embedding(tmp_path):
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    vectors = trine.rand(5, 3)
    with SummaryWriter(tmp_path) as writer:
        for step in (1, 1, 2):
            writer.add_embedding(
                vectors, metadata=["a\tb", "c", "d", "e", "f"], label_img=trine.rand(5, 3, 4, 6), global_step=step, tag="words"
            )
        writer.add_embedding(vectors, metadata=[["a", 1]] * 5, metadata_header=["letter", "number"], tag="../up")
        with pytest.raises(ValueError, match="5 vectors and 1 labels"):
            writer.add_embedding(vectors, metadata=["a"])
        with pytest.raises(ValueError, match="matrix"):
            writer.add_embedding(vectors[0])
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert [e.tensor_path for e in config.embeddings] == ["00001/words/tensors.tsv", "00002/words/tensors.tsv", "00000/..-up/tensors.tsv"]
    assert np.allclose(np.loadtxt(tmp_path / "00001/words/tensors.tsv"), vectors.numpy(), atol=1e-6)
    assert (tmp_path / "00001/words/metadata.tsv").read_text().split("\n")[:2] == ["a b", "c"]
    assert (tmp_path / "00000/..-up/metadata.tsv").read_text().startswith("letter\tnumber\na\t1\n")
    assert Image.open(tmp_path / "00001/words/sprite.png").size == (18, 12) and list(config.embeddings[0].sprite.single_image_dim) == [6, 4]


def test_the_default_folder_tells_the_run_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="-lr1") as writer:
        folder = writer.get_logdir()
    assert folder.startswith("runs/") and folder.endswith("-lr1") and len(list((tmp_path / folder).iterdir())) == 1


def test_what_is_not_a_number_is_refused(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match="2 elements"):
            writer.add_scalar("x", trine.ones(2))
        with pytest.raises(NotImplementedError, match="str"):
            writer.add_scalar("x", "one")
        with pytest.raises(ValueError, match="no values"):
            writer.add_histogram("x", trine.ones(0))


def test_without_the_package_the_error_names_the_extra():
    program = "import sys; sys.modules['tensorboard'] = None\nimport trine.utils\ntry:\n    trine.utils.tensorboard\nexcept ImportError as e:\n    print(e)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install trine[tensorboard]" in done.stdout
