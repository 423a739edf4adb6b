"""``SummaryWriter``: event files that TensorBoard shows."""

from __future__ import annotations

import os
import re
import socket
import time
from datetime import datetime
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import _summaries as summaries
from ._convert import figure_image

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Writes events into a file in ``log_dir``, from a thread of its own.

    Args:
        log_dir: folder, made when it does not exist.
        max_queue: how many events may wait before ``add_event`` does.
        flush_secs: how often the file is flushed, in seconds.
        filename_suffix: end of the file's name.
    """

    def __init__(self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        self._log_dir = os.fspath(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._writer: Any = EventFileWriter(self._log_dir, *self._options)

    def get_logdir(self) -> str:
        """The folder."""
        return self._log_dir

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event; the time is now unless ``walltime`` (seconds since 1970) says another."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        if self._writer is None:  # closed before: go on in a new file
            self._writer = EventFileWriter(self._log_dir, *self._options)
        self._writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a ``Summary``."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Write a ``GraphDef``."""
        self.add_event(Event(graph_def=graph.SerializeToString()), None, walltime)

    def flush(self) -> None:
        """Write what waits to the disk."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Write what waits and close the file; a later event opens another."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class SummaryWriter:
    """Writes numbers, histograms, pictures, sounds, texts, graphs and embeddings for TensorBoard.

    Every ``add_`` method takes ``tag`` (its name in TensorBoard; slashes make groups), ``global_step`` and ``walltime`` (seconds since 1970;
    None is now). Values are tensors, NumPy arrays or numbers. It is a context manager that closes itself.

    Args:
        log_dir: folder of this run. None is ``runs/`` and the time, the host and ``comment``.
        comment: end of the default folder's name.
        purge_step: the run was interrupted and goes on from this step: TensorBoard forgets what was written for it and later ones.
        max_queue: how many events may wait in memory.
        flush_secs: how often the file is flushed, in seconds.
        filename_suffix: end of the file's name.

    >>> from trine.utils.tensorboard import SummaryWriter
    >>> with SummaryWriter("logs") as writer:
    ...     writer.add_scalar("loss", 0.5, global_step=1)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.max_queue, self.flush_secs, self.filename_suffix = purge_step, max_queue, flush_secs, filename_suffix
        self.file_writer = self._open(self.log_dir)
        self.all_writers: dict[str, FileWriter] = {self.log_dir: self.file_writer}
        if purge_step is not None:
            self.file_writer.add_event(Event(session_log=SessionLog(status=SessionLog.START)), purge_step)

    def _open(self, log_dir: str) -> FileWriter:
        return FileWriter(log_dir, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, summary: Any, global_step: int | None, walltime: float | None) -> None:
        self.file_writer.add_summary(summary, global_step, walltime)

    def get_logdir(self) -> str:
        """The folder of this run."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number of a curve.

        ``new_style`` writes it as a tensor, which newer versions of TensorBoard load faster; ``double_precision`` as float64.
        """
        self._add(summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Numbers of several curves in one chart; each curve is a run of its own, in a folder below."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            writer = self.all_writers.get(folder)
            if writer is None:
                writer = self.all_writers[folder] = self._open(folder)
            writer.add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """A tensor as it is."""
        self._add(summaries.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """The distribution of a tensor's elements.

        Args:
            values: any shape. NaN and infinite ones are counted, and in no bin.
            bins: ``"tensorflow"`` (a tenth wider from one to the next), or what ``numpy.histogram`` takes.
            max_bins: neighbouring bins are joined until there are no more.
        """
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A histogram that was counted elsewhere: ``bucket_limits`` are the upper ends of the buckets."""
        limits, counts = list(bucket_limits), list(bucket_counts)
        if len(limits) != len(counts):
            raise ValueError(f"tensorboard: {len(limits)} bucket_limits and {len(counts)} bucket_counts")
        statistics = {"min": min, "max": max, "num": num, "sum": sum, "sum_squares": sum_squares}
        self._add(summaries.histogram_raw(tag, statistics, limits, counts), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """A picture of 1, 3 or 4 channels: uint8, or floats in [0, 1].

        ``dataformats`` names the dimensions in their order: ``CHW``, ``HWC``, ``HW``.
        """
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "NCHW"
    ) -> None:
        """Pictures in one grid, eight in a row; see ``add_image``."""
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | list[str] | None = None,
    ) -> None:
        """A picture with boxes drawn into it: ``box_tensor`` is N x 4, the columns (left, top, right, bottom) in pixels."""
        names = [labels] if isinstance(labels, str) else labels
        if names is not None and len(names) != len(box_tensor):
            names = None
        self._add(summaries.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, names), global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None) -> None:
        """A figure of matplotlib, or several, as a picture. ``close`` closes it."""
        figures = figure if isinstance(figure, list) else [figure]
        pictures = np.stack([figure_image(f, close) for f in figures])
        self._add(summaries.image(tag, pictures, "NHWC"), global_step, walltime)

    def add_video(self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: float = 4, walltime: float | None = None) -> None:
        """Videos side by side, as one GIF: N x T x C x H x W, uint8 or floats in [0, 1], ``fps`` frames a second."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100, walltime: float | None = None
    ) -> None:
        """A sound of one channel: samples in [-1, 1], ``sample_rate`` of them a second. Those outside are clipped."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None) -> None:
        """A text in Markdown."""
        self._add(summaries.words(tag, text_string), global_step, walltime)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """The modules of ``model`` and how tensors go from one to the next.

        The model runs once on ``input_to_model`` (a tuple: its arguments), in evaluation mode. The nodes are modules, not operators.
        ``verbose`` prints the graph; ``use_strict_trace`` is accepted.
        """
        from ._graph import model_graph

        self.file_writer.add_graph(model_graph(model, input_to_model, verbose))

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: list[str] | None = None,
    ) -> None:
        """Vectors for TensorBoard's projector.

        Args:
            mat: N x D.
            metadata: N labels, or N rows of labels with ``metadata_header``, the names of the columns.
            label_img: a picture for each vector, N x C x H x W in [0, 1].
        """
        from ._embedding import add_to_config, write_embedding

        safe = re.sub(r"[^\w.-]", "-", tag)
        subfolder = f"{0 if global_step is None else int(global_step):05d}/{safe}"
        add_to_config(
            self.log_dir, write_embedding(self.log_dir, subfolder, f"{tag}:{subfolder[:5]}", mat, metadata, label_img, metadata_header)
        )

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A precision-recall curve.

        Args:
            labels: the truth: 0 or 1, or bools.
            predictions: probabilities in [0, 1].
            num_thresholds: points of the curve, at most 127.
            weights: what each prediction counts; None is 1.
        """
        self._add(summaries.precision_recall(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A precision-recall curve that was counted elsewhere, one entry a threshold."""
        rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)
        self._add(summaries.curve_data(tag, np.stack([summaries.as_array(row) for row in rows])), global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, dict[str, list]]) -> None:
        """Charts of scalars that are (or will be) written: ``{category: {chart: ["Multiline" or "Margin", [tags]]}}``.

        A margin chart has the tags of its value, lower and upper bound.
        """
        self._add(summaries.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default", title: str = "untitled") -> None:
        """One chart of several scalars."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default", title: str = "untitled") -> None:
        """One chart of a scalar between two others."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Point clouds or meshes.

        Args:
            vertices: N x points x 3.
            colors: N x points x 3, 0 to 255.
            faces: N x faces x 3, numbers of vertices.
            config_dict: settings of the viewer (Three.js).
        """
        self._add(summaries.mesh_parts(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """The hyperparameters of a run and what it reached, for TensorBoard's table of runs.

        Args:
            hparam_dict: bools, strings and numbers.
            metric_dict: numbers; their names should not be those of other scalars.
            hparam_domain_discrete: all values that a hyperparameter may have.
            run_name: name of the folder below; None is the time.
        """
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("add_hparams: hparam_dict and metric_dict must be dicts")
        messages = summaries.hyperparameters(hparam_dict, metric_dict, hparam_domain_discrete or {})
        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as writer:
            for message in messages:
                writer.file_writer.add_summary(message, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def flush(self) -> None:
        """Write what waits to the disk."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits and close the files. A later ``add_`` opens new ones."""
        for writer in self.all_writers.values():
            writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
