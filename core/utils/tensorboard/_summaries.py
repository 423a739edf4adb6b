"""TensorBoard's messages: one function makes one ``Summary``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_scalar
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
from tensorboard.plugins.hparams import metadata as hparams
from tensorboard.plugins.mesh import metadata as mesh
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve import metadata as pr_curve
from tensorboard.plugins.text import metadata as text

from ._convert import as_array, encode_gif, encode_png, encode_wav, to_hwc, to_pixels

_TENSOR_TYPES = {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE", "bool": "DT_BOOL", "uint8": "DT_UINT8", "int8": "DT_INT8",
                 "int16": "DT_INT16", "int32": "DT_INT32", "int64": "DT_INT64", "complex64": "DT_COMPLEX64", "complex128": "DT_COMPLEX128"}  # fmt: skip


def tensor_message(array: Any) -> Any:
    """An array of numbers."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in array.shape])
    return TensorProto(dtype=_TENSOR_TYPES[array.dtype.name], tensor_shape=shape, tensor_content=np.ascontiguousarray(array).tobytes())


def strings_message(values: list[bytes]) -> Any:
    """An array of strings."""
    return TensorProto(dtype="DT_STRING", string_val=values, tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=len(values))]))


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    array = as_array(value).reshape(-1)
    if array.size != 1:
        raise ValueError(f"tensorboard: the scalar {tag!r} has {array.size} elements")
    if new_style or double_precision:
        metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
        one = array[0].astype(np.float64 if double_precision else np.float32)
        return Summary(value=[Summary.Value(tag=tag, tensor=tensor_message(one), metadata=metadata)])
    return Summary(value=[Summary.Value(tag=tag, simple_value=float(array[0]))])


def tensor(tag: str, value: Any) -> Any:
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="tensor"))
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor_message(as_array(value)), metadata=metadata)])


def default_edges() -> Any:
    """TensorFlow's bins: 1e-12, and each 1.1 times the one before, on both sides of zero."""
    positive = 1e-12 * 1.1 ** np.arange(774)
    return np.concatenate([-positive[::-1], [0.0], positive])


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    array = as_array(values).reshape(-1).astype(np.float64)
    if array.size == 0:
        raise ValueError(f"tensorboard: the histogram {tag!r} is of no values")
    finite = array[np.isfinite(array)]
    counts, edges = np.histogram(finite, bins=default_edges() if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = -(-len(counts) // max_bins)
        starts = np.arange(0, len(counts), step)
        counts, edges = np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
    filled = np.flatnonzero(counts)
    first, last = (filled[0], filled[-1]) if filled.size else (0, -1)
    # A bucket reaches from the limit before it to its own: an empty one at the front says where the first begins.
    limits, buckets = edges[first : last + 2], [0, *counts[first : last + 1]]
    message = HistogramProto(min=array.min(), max=array.max(), num=array.size, sum=array.sum(), sum_squares=array @ array,
                             bucket_limit=limits.tolist(), bucket=buckets)  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, histo=message)])


def histogram_raw(tag: str, statistics: dict[str, float], limits: list[float], counts: list[float]) -> Any:
    return Summary(value=[Summary.Value(tag=tag, histo=HistogramProto(**statistics, bucket_limit=limits, bucket=counts))])


def _image(tag: str, data: bytes, height: int, width: int, channels: int) -> Any:
    return Summary(
        value=[Summary.Value(tag=tag, image=Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=data))]
    )


def image(tag: str, value: Any, dataformats: str, rescale: float = 1.0) -> Any:
    pixels = to_pixels(to_hwc(as_array(value), dataformats))
    return _image(tag, *encode_png(pixels, rescale), pixels.shape[-1])


def image_boxes(tag: str, value: Any, boxes: Any, rescale: float, dataformats: str, labels: list[str] | None) -> Any:
    from PIL import Image, ImageDraw

    picture = Image.fromarray(to_pixels(to_hwc(as_array(value), dataformats)))
    draw = ImageDraw.Draw(picture)
    for i, box in enumerate(as_array(boxes).reshape(-1, 4).tolist()):
        draw.rectangle(box, outline="red", width=2)
        if labels is not None:
            draw.text((box[0] + 3, box[1] + 2), labels[i], fill="red")
    pixels = np.array(picture)
    return _image(tag, *encode_png(pixels, rescale), pixels.shape[-1])


def video(tag: str, value: Any, fps: float) -> Any:
    array = as_array(value)
    if array.ndim != 5 or array.shape[2] not in (1, 3):
        raise ValueError(f"tensorboard: a video is N x T x C x H x W with 1 or 3 channels, got {array.shape}")
    frames = np.stack([to_pixels(to_hwc(array[:, t], "NCHW")) for t in range(array.shape[1])])
    return _image(tag, encode_gif(frames, fps), *frames.shape[1:])


def audio(tag: str, value: Any, rate: int) -> Any:
    samples = as_array(value).squeeze()
    if samples.ndim != 1:
        raise ValueError(f"tensorboard: the sound {tag!r} has the shape {samples.shape}, expected one channel")
    data = encode_wav(samples, rate)
    message = Summary.Audio(
        sample_rate=rate, num_channels=1, length_frames=len(samples), encoded_audio_string=data, content_type="audio/wav"
    )
    return Summary(value=[Summary.Value(tag=tag, audio=message)])


def words(tag: str, value: str) -> Any:
    metadata = text.create_summary_metadata(display_name="", description="")
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=strings_message([value.encode()]))])


def precision_recall(tag: str, labels: Any, predictions: Any, thresholds: int, weights: Any) -> Any:
    """Counts at ``thresholds`` evenly spaced thresholds in [0, 1]; rows as in TensorBoard's pr_curve plugin."""
    truth, score = as_array(labels).reshape(-1), as_array(predictions).reshape(-1).astype(np.float64)
    if truth.shape != score.shape:
        raise ValueError(f"tensorboard: {truth.size} labels and {score.size} predictions")
    weight = np.ones(truth.shape) if weights is None else as_array(weights).reshape(-1).astype(np.float64)
    thresholds = min(thresholds, 127)
    bucket = np.clip(np.floor(score * (thresholds - 1)), 0, thresholds - 1).astype(np.int64)
    is_true = truth.astype(bool)
    true_in, false_in = (np.bincount(bucket, weight * mask, thresholds) for mask in (is_true, ~is_true))
    true_positive, false_positive = (np.cumsum(x[::-1])[::-1] for x in (true_in, false_in))
    true_negative, false_negative = false_positive[0] - false_positive, true_positive[0] - true_positive
    precision = true_positive / np.maximum(1e-7, true_positive + false_positive)
    recall = true_positive / np.maximum(1e-7, true_positive + false_negative)
    return curve_data(tag, np.stack([true_positive, false_positive, true_negative, false_negative, precision, recall]))


def curve_data(tag: str, rows: Any) -> Any:
    metadata = pr_curve.create_summary_metadata(display_name=tag, description="", num_thresholds=rows.shape[1])
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=tensor_message(rows.astype(np.float32)))])


def custom_scalars(layout: dict[str, dict[str, list]]) -> Any:
    categories = []
    for title, charts in layout.items():
        made = []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise ValueError(f"tensorboard: the margin chart {name!r} needs the tags of value, lower and upper, got {tags}")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(title=name, margin=layout_pb2.MarginChartContent(series=[series])))
            elif kind == "Multiline":
                made.append(layout_pb2.Chart(title=name, multiline=layout_pb2.MultilineChartContent(tag=tags)))
            else:
                raise ValueError(f"tensorboard: the chart {name!r} must be 'Multiline' or 'Margin', got {kind!r}")
        categories.append(layout_pb2.Category(title=title, chart=made))
    message = strings_message([layout_pb2.Layout(category=categories).SerializeToString()])
    return Summary(
        value=[Summary.Value(tag=custom_scalar.CONFIG_SUMMARY_TAG, metadata=custom_scalar.create_summary_metadata(), tensor=message)]
    )


def mesh_parts(tag: str, vertices: Any, colors: Any, faces: Any, config: dict | None) -> Any:
    parts = [(kind, as_array(x), dtype) for kind, x, dtype in (
        (MeshPluginData.VERTEX, vertices, np.float32), (MeshPluginData.FACE, faces, np.int32), (MeshPluginData.COLOR, colors, np.uint8),
    ) if x is not None]  # fmt: skip
    for _, array, _ in parts:
        if array.ndim != 3 or array.shape[-1] != 3:
            raise ValueError(f"tensorboard: vertices, colors and faces of a mesh are N x points x 3, got {array.shape}")
    components = mesh.get_components_bitmask([kind for kind, _, _ in parts])
    values = []
    for kind, array, dtype in parts:
        metadata = mesh.create_summary_metadata(
            tag, tag, kind, components, list(array.shape), json_config=json.dumps(config or {}, sort_keys=True)
        )
        values.append(Summary.Value(tag=mesh.get_instance_name(tag, kind), metadata=metadata, tensor=tensor_message(array.astype(dtype))))
    return Summary(value=values)


def _hparam_info(name: str, value: Any, domain: list | None) -> tuple[Any, Any]:
    kinds = ((bool, api_pb2.DATA_TYPE_BOOL), (str, api_pb2.DATA_TYPE_STRING), ((int, float), api_pb2.DATA_TYPE_FLOAT64))
    found = next(((types, kind) for types, kind in kinds if isinstance(value, types)), None)
    if found is None:
        raise ValueError(
            f"tensorboard: the hyperparameter {name!r} must be a bool, str, int, float or tensor of one number, got {type(value).__name__}"
        )
    types, kind = found
    info = api_pb2.HParamInfo(name=name, type=kind)
    if domain is not None:
        if not all(isinstance(v, types) for v in domain):
            raise TypeError(f"tensorboard: the domain of {name!r} must hold values of its own type, got {domain}")
        info.domain_discrete.CopyFrom(struct_pb2.ListValue(values=[_struct_value(v) for v in domain]))
    return info, _struct_value(value)


def _struct_value(value: Any) -> Any:
    field = "bool_value" if isinstance(value, bool) else "string_value" if isinstance(value, str) else "number_value"
    return struct_pb2.Value(**{field: value})


def hyperparameters(values: dict[str, Any], metrics: dict[str, Any], domains: dict[str, list]) -> tuple[Any, Any, Any]:
    """(experiment, start, end) of a run with these hyperparameters."""
    infos, start = [], plugin_data_pb2.SessionStartInfo()
    for name, value in values.items():
        if value is None:
            continue
        if not isinstance(value, (bool, str, int, float)) and getattr(value, "size", None) is not None:
            value = as_array(value).reshape(-1).tolist()
            value = value[0] if len(value) == 1 else value
        info, held = _hparam_info(name, value, domains.get(name))
        start.hparams[name].CopyFrom(held)
        infos.append(info)
    metric_infos = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    data = plugin_data_pb2.HParamsPluginData
    contents = (
        (hparams.EXPERIMENT_TAG, data(experiment=api_pb2.Experiment(hparam_infos=infos, metric_infos=metric_infos))),
        (hparams.SESSION_START_INFO_TAG, data(session_start_info=start)),
        (hparams.SESSION_END_INFO_TAG, data(session_end_info=plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS))),
    )
    first, second, third = (
        Summary(value=[Summary.Value(tag=tag, metadata=hparams.create_summary_metadata(content), tensor=hparams.NULL_TENSOR)])
        for tag, content in contents
    )
    return first, second, third
