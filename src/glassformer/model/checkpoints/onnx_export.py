"""Exporting an encoder as an ONNX graph for any batch size and length, checked against the model."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import not_written, path_text
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.checkpoints.folders import sync
from glassformer.model.core import NEVER, Padded, PaddedCore, Rule
from glassformer.model.encoder import Inputs, Output

NEEDS = ("onnx", "onnxscript", "onnxruntime")
BOUND = 1e-4  # largest difference between graph and model, relative to the largest number where that is above one
ONE_FILE_BYTES = 1_800_000_000  # a graph in one file is limited to 2 GB; the weights of a larger one are stored beside it
SIZES = ((1, 3), (2, 8), (3, 21))  # batch and length at which the graph is checked


class Checked(NamedTuple):
    """An exported graph, and its differences from the model at each size that was checked."""

    path: Path
    inputs: list[str]
    outputs: list[str]
    differences: dict[str, float]  # size -> largest difference

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(self.differences.values())


class SeenByItself(Padded):
    """A mask under which every token attends to itself, padding too.

    In a local layer, a padded token may have only padding around it. Our kernels give zeros for such a row, a graph 0/0, which
    the next layer would spread; real tokens attend to themselves anyway.
    """

    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> PaddedCore:
        if self.attend_BS is None or rule.window is None:
            return super().core(rule, bias_HTS, t=t, dtype=dtype, device=device)
        visible = rule.visible(t, t, device)
        assert visible is not None
        visible = (visible & self.attend_BS[:, None, None, :]) | torch.eye(t, dtype=torch.bool, device=device)
        return PaddedCore(visible if bias_HTS is None else torch.where(visible, bias_HTS, NEVER))


class Graph(nn.Module):
    """The exported function: ids and mask in, under the names that other tools use; states, pooled vector and logits out."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    @property
    def inputs(self) -> list[str]:
        spec = self.encoder.spec
        if spec.one_length:
            return ["pixel_values"] if spec.reads == "image" else ["input_features"]
        if spec.reads == "vectors":
            return ["inputs_embeds", "attention_mask"]
        return ["input_ids", "attention_mask", *(["token_type_ids"] if spec.segments is not None else [])]

    def forward(self, inputs: Tensor, mask: Tensor | None = None, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        attend = None if mask is None else mask != 0
        output = self.encoder.run(Inputs(inputs, attend, segments), SeenByItself(attend))
        return tuple(part for part in _parts(output).values() if part is not None)

    def model(self, given: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """The model's own outputs for the same inputs, by name."""
        attend, segments = (given[1:2] or (None,))[0], (given[2:3] or (None,))[0]
        output = self.encoder(given[0], attend, segments)
        return {name: part for name, part in _parts(output).items() if part is not None}

    def example(self, batch: int, length: int, seed: int = 0) -> tuple[Tensor, ...]:
        """Inputs of a size; the last of several rows is padded."""
        spec, like = self.encoder.spec, self.encoder.here
        draw = torch.Generator().manual_seed(seed)
        if spec.reads == "image":
            return (torch.randn(batch, *spec.picture_shape, generator=draw).to(like),)
        if spec.reads == "frames":
            return (torch.randn(batch, spec.mels or 0, spec.frames, generator=draw).to(like),)
        mask = torch.ones(batch, length, dtype=torch.int64)
        if batch > 1:
            mask[-1, length // 2 + 1 :] = 0
        if spec.reads == "vectors":
            return torch.randn(batch, length, spec.d_model, generator=draw).to(like), mask
        ids = torch.randint(0, spec.vocab or 1, (batch, length), generator=draw)
        segments = (torch.randint(0, spec.segments, (batch, length), generator=draw),) if spec.segments is not None else ()
        return ids, mask, *segments


def _parts(output: Output) -> dict[str, Tensor | None]:
    names = ("last_hidden_state", "pooler_output", "logits", "next_logits")
    return dict(zip(names, (output.states, output.pooled, output.logits, output.next_logits), strict=True))


@torch.inference_mode()
def export_onnx(encoder: Encoder, path: str | Path) -> Checked:
    """Write the graph of an encoder (on the CPU, in float32 or float64) and check it; a wrong one is removed."""
    target = Path(path)
    _check_target(target)
    if encoder.spec.padding_reader:
        raise GlassformerError(f"{encoder.spec.padding_reader} is not implemented in ONNX graphs: its texts cannot be padded.")
    packages = {name: _package(name) for name in NEEDS}
    graph = Graph(encoder.cpu().eval())
    with tempfile.TemporaryDirectory(prefix=".onnx-", dir=target.absolute().parent) as folder:
        unfinished = Path(folder) / target.name
        with _quiet():
            _write(graph, unfinished)
        checked = _check(packages["onnxruntime"], graph, unfinished)
        if not checked.worst <= BOUND:
            size = max(checked.differences, key=checked.differences.__getitem__)
            raise GlassformerError(
                f"the ONNX graph differs from the model by {checked.worst:.1e} at {size}, more than {BOUND:.0e}: "
                "it was not saved."
            )
        for made in sorted(Path(folder).iterdir(), reverse=True):  # the weights first, if they have a separate file
            sync(made)
            shutil.move(made, target.absolute().parent / made.name)
    return checked._replace(path=target)


def _check_target(target: Path) -> None:
    if target.suffix != ".onnx":
        raise GlassformerError(f"{path_text(target)}: the name of an ONNX graph ends in .onnx.")
    folder = target.absolute().parent
    if not folder.is_dir():
        raise GlassformerError(f"there is no folder {path_text(folder)}: create it first.")
    if not os.access(folder, os.W_OK):  # checked before the graph is made, which takes a while
        raise not_written(target, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise GlassformerError(f"ONNX needs the {name} package: pip install 'glassformer[export]'.") from None


def _write(graph: Graph, path: Path) -> None:
    spec, dim = graph.encoder.spec, torch.export.Dim
    batch, most = dim("batch", min=1), spec.longest
    axes: dict[int, Any] = {0: batch}
    if not spec.one_length:
        axes[1] = dim("length", min=1, max=most) if most is not None else dim("length", min=1)
    given = graph.example(*SIZES[1]) if most is None or most >= SIZES[1][1] else graph.example(2, most)
    size = sum(parameter.numel() * parameter.element_size() for parameter in graph.parameters())
    try:
        torch.onnx.export(
            graph,
            given,
            path,
            dynamo=True,
            input_names=graph.inputs,
            output_names=list(graph.model(given)),
            dynamic_shapes=tuple(axes for _ in given),
            external_data=size > ONE_FILE_BYTES,
            verbose=False,
        )
    except Exception as error:
        said = shown(" ".join(str(error).split()) or type(error).__name__, limit=160)
        raise GlassformerError(f"torch cannot write this encoder as ONNX: {said}.") from None


def _check(runtime: Any, graph: Graph, path: Path) -> Checked:
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs, outputs = ([part.name for part in parts] for parts in (session.get_inputs(), session.get_outputs()))
    most = graph.encoder.spec.longest
    differences = {}
    for number, (batch, length) in enumerate(SIZES):
        length = length if most is None else min(length, most)
        given = graph.example(batch, length, seed=number)
        ours = graph.model(given)
        theirs = session.run(None, {name: part.numpy() for name, part in zip(inputs, given, strict=True)})
        real = given[1] != 0 if len(given) > 1 else None
        worst = max(_difference(a, torch.as_tensor(b), real) for a, b in zip(ours.values(), theirs, strict=True))
        name = f"batch={batch}" if graph.encoder.spec.one_length else f"batch={batch} t={length}"
        differences[name] = worst
    return Checked(path, inputs, outputs, differences)


def _difference(ours: Tensor, theirs: Tensor, real: Tensor | None) -> float:
    """The largest difference at real tokens, relative to the largest number where that is above one."""
    if real is not None and ours.ndim == 3 and ours.shape[:2] == real.shape:
        ours, theirs = ours[real], theirs[real]
    if not (ours.isfinite().all() and theirs.isfinite().all()):
        return float("inf")
    return float((ours - theirs).abs().max() / ours.abs().max().clamp(min=1.0))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's progress and warnings: the check reports any error."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
