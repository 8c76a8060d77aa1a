"""The model commands in Python: encode and predict with a checkpoint, verify a load, export to other formats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from glassformer.arguments import one_of, path, yes_no
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError, needs_torch
from glassformer.files.name_tables import OWN
from glassformer.files.paths import path_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glassformer.encoding.engines.choice import Choice
    from glassformer.encoding.streams import Given, Streamed
    from glassformer.model.checkpoints.certificate import Certificate
    from glassformer.model.checkpoints.onnx_export import Checked

Empty = Literal["refuse", "skip", "encode"]


@needs_torch
def encode(  # noqa: PLR0913 - one argument for each option of the command
    checkpoint: str | Path,
    texts: Given,
    *,
    out: str | Path | BinaryIO | None = None,
    pool: str | None = None,
    normalise: bool | None = None,
    truncate: bool = False,
    empty: Empty = "refuse",
    batch_tokens: int | None = None,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    column: str | None = None,
    engine: str = "torch",
    fresh_head: bool = False,
    progress: bool = False,
) -> Streamed:
    """Encode each text as a vector, in order: `gf.encode("models/minilm", ["time flies", "like an arrow"]).values`.

    `texts` is a string, a list, or a `Path`: a file with one text per line, or a table (.csv, .tsv, .json, .jsonl, .parquet) of
    which `column` (`text`) is read. `fresh_head` accepts random weights for a head that `as_class` names and the file lacks.
    `out` is a new .npy, .jsonl or .parquet file, or an open binary stream for JSON lines; without it the vectors are in
    `values`. `engine` is torch, onnx, openvino, or auto for the fastest installed one. For many calls, load the model once with
    `gf.load`.
    """
    from glassformer.encoding import streams
    from glassformer.encoding.engines.choice import part_of_task

    def windows(model: Any, given: streams.Texts) -> Any:
        reading = {"truncate": truncate, "empty": empty, "batch_tokens": batch_tokens}
        return streams.vectors(model, given, pool=pool, normalise=normalise, **reading)

    target = _target(checkpoint, out, vectors=True)
    _check_engine(engine, device, dtype)
    with streams.texts_of(texts, column) as given:
        where: dict[str, Any] = {"device": device, "dtype": dtype, "as_class": as_class, "fresh_head": fresh_head}
        model = streams.load_on(path("checkpoint", checkpoint), **where, uses=("pooler",) if pool == "pooled" else ())
        choice = _engine(model, engine, part_of_task("encode", pool))
        with streams.progress(given, shown=progress) as told:
            return replace(streams.send(windows(model, given), model, target, told), engine=choice)


@needs_torch
def predict(  # noqa: PLR0913 - one argument for each option of the command
    checkpoint: str | Path,
    texts: Given | None = None,
    *,
    images: str | Path | NDArray[Any] | None = None,
    out: str | Path | BinaryIO | None = None,
    truncate: bool = False,
    empty: Empty = "refuse",
    batch_tokens: int | None = None,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    column: str | None = None,
    engine: str = "torch",
    fresh_head: bool = False,
    progress: bool = False,
) -> Streamed:
    """Predict with the head of a checkpoint, for texts or images: `gf.predict("runs/topic-1", "A new species of bird").values`.

    Texts and `out` are as in `encode`. `images` is an image file, a folder of them, an .npy file or an array of floats
    [image, channel, row, column], scaled as in training.
    """
    from glassformer.encoding import streams
    from glassformer.encoding.engines.choice import part_of_task

    target = _target(checkpoint, out, vectors=False)
    if images is not None and engine not in ("torch", "auto"):
        raise GlassformerError(f"--engine {engine} supports texts only: omit it for images, which are computed by torch.")
    _check_engine(engine, device, dtype)
    if texts is not None and images is not None:
        raise GlassformerError("--images and texts are both given: choose one.")
    where: dict[str, Any] = {"device": device, "dtype": dtype, "as_class": as_class, "fresh_head": fresh_head}
    if images is not None:
        pictures = streams.Images.of(path("images", images) if isinstance(images, str | Path) else images)
        model = streams.load_on(path("checkpoint", checkpoint), **where)
        return streams.send(streams.predictions_of_images(model, pictures), model, target)
    if texts is None:
        raise GlassformerError("no input: give texts or images.")
    with streams.texts_of(texts, column) as given:
        model = streams.load_on(path("checkpoint", checkpoint), **where)
        reading = {"truncate": truncate, "empty": empty, "batch_tokens": batch_tokens}
        choice = _engine(model, engine, part_of_task("predict", None))
        with streams.progress(given, shown=progress) as told:
            return replace(streams.send(streams.predictions(model, given, **reading), model, target, told), engine=choice)


def _target(checkpoint: str | Path, out: str | Path | BinaryIO | None, *, vectors: bool) -> Path | BinaryIO | None:
    """Return where the rows go. A misspelt model is reported first, since the other checks depend on it."""
    from glassformer.encoding.streams import check_target

    model_folder(path("checkpoint", checkpoint))
    target = path("out", out) if isinstance(out, str | Path) else out
    check_target(target, vectors=vectors)
    return target


def _check_engine(engine: str, device: str | None, dtype: str) -> None:
    from glassformer.encoding.devices import device_for
    from glassformer.encoding.engines.choice import ENGINES, check_engine

    check_engine(one_of("engine", engine, ENGINES), device=device_for(device), dtype=dtype)


def _engine(model: Any, engine: str, part: str) -> Choice | None:
    """Use another engine if one is requested."""
    from glassformer.encoding.engines.choice import chosen_for

    return None if engine == "torch" else chosen_for(model, engine, part)


@needs_torch
def verify(
    checkpoint: str | Path,
    *,
    as_class: str | None = None,
    seed: int = 0,
    original: bool = True,
    allow_nonfinite: bool = False,
) -> Certificate:
    """Verify that a checkpoint is loaded correctly: `gf.verify("models/minilm").holds`.

    Compares the outputs of the model in float64 and float32, of the float64 run and, unless `original` is False or transformers
    is not installed, of the original model on the same input. For a folder that cannot be loaded, the certificate says why.
    """
    from glassformer.api.verification import certify

    folder = model_folder(path("checkpoint", checkpoint))
    return certify(folder, as_class=as_class, seed=seed, original=yes_no("original", original), allow_nonfinite=allow_nonfinite)


@dataclass(frozen=True)
class Exported:
    """The exported files; for an ONNX graph, also its differences from the model."""

    path: Path
    model_class: str
    parameters: int
    dtype: str
    verdict: str  # of the load
    onnx: Checked | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer export --json`."""
        about = {"class": self.model_class, "parameters": self.parameters, "dtype": self.dtype}
        if self.onnx is not None:
            about = {"inputs": self.onnx.inputs, "outputs": self.onnx.outputs, "differences": self.onnx.differences}
        return {"path": str(self.path), **about, "verdict": self.verdict}


@needs_torch
def export(
    checkpoint: str | Path,
    *,
    onnx: str | Path | None = None,
    folder: str | Path | None = None,
    own: str | Path | None = None,
    dtype: str = "float32",
    as_class: str | None = None,
    fresh_head: bool = False,
) -> Exported:
    """Export a checkpoint to another format: `gf.export("models/minilm", onnx="model.onnx")`.

    Give one of `onnx` (a graph, checked with onnxruntime), `folder` (the layout of transformers) and `own` (our own layout).
    Nothing is overwritten, and files are written completely or not at all. `fresh_head` is as in `encode`.
    """
    forms = {"onnx": onnx, "folder": folder, "own": own}
    requested = {name: path(name, out) for name, out in forms.items() if out is not None}
    if len(requested) != 1:
        raise GlassformerError("no output: give one of --onnx OUT.onnx, --folder OUT and --own OUT.")
    from glassformer.encoding.streams import require_stored
    from glassformer.model.checkpoints.onnx_export import export_onnx
    from glassformer.model.sentences.loaded_model import load

    ((form, out),) = requested.items()
    if form == "onnx" and dtype in ("bfloat16", "float16"):
        raise GlassformerError(f"--dtype {dtype} is for folders: an ONNX graph is checked in float32 or float64.")
    if form == "onnx" and out.exists():
        raise GlassformerError(f"{path_text(out)} already exists, and nothing is overwritten. Choose another name.")
    model = load(checkpoint, as_class=as_class, dtype=dtype)
    require_stored(model, fresh_head=fresh_head)
    if form == "folder" and model.folder.family == OWN:
        raise GlassformerError(
            f"{path_text(Path(checkpoint))} is in our own layout, and --folder OUT writes the layout of transformers. "
            "Give --own OUT."
        )
    graph = export_onnx(model.encoder, out) if form == "onnx" else None
    written = out if graph is not None else model.save(out, own=form == "own")
    return Exported(written, model.folder.model_class, model.folder.parameters, dtype, model.verdict, graph)
