"""A checkpoint: a model folder in the Hugging Face layout, opened without torch and run in float64."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.checkpoints.folder import open_folder
from glassformer.checkpoints.special_tokens import read_tokens
from glassformer.errors import GlassformerError
from glassformer.files.texts import Text, load_tokenizer
from glassformer.numbers.run import Run, run
from glassformer.numbers.seeded import require_target
from glassformer.numbers.stored_weights import StoredWeights
from glassformer.numbers.texts import encode, encode_target, words_of
from glassformer.program import Program, build
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.spec.viewed import Viewed

NUMBER_BYTES = 8


@dataclass(frozen=True, repr=False)
class Checkpoint(Viewed):
    """A model folder: the spec, the weights (read on access), and runs on text or token ids."""

    folder: Path
    spec: EncoderSpec
    family: str
    model_class: str
    weights: StoredWeights
    config: Mapping[str, Any]
    unused: tuple[str, ...]  # tensors in the files that this class lacks: another head, a decoder, buffers
    padding: int = 0
    labels: tuple[str, ...] = ()  # the names of the classes
    _tokenizer: list[Any] = field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        return f"<Checkpoint {self.folder.name}: {self.model_class}, {self.parameters:,} parameters>"

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(int(np.prod(shape, dtype=object)) for shape in self.weights.shapes.values())

    @property
    def tokenizer(self) -> Any:
        """The folder's tokenizer, loaded once."""
        if not self._tokenizer:
            self._tokenizer.append(load_tokenizer(self.folder))
        return self._tokenizer[0]

    def run(  # noqa: PLR0913 - one argument for each kind of input
        self,
        text: Text | Sequence[Text] | None = None,
        *,
        tokens: Any = None,
        segments: Any = None,
        boxes: Any = None,
        attend: Any = None,
        image: Any = None,
        frames: Any = None,
        target: Text | Sequence[Text] | None = None,
        target_tokens: Any = None,
        layers: Collection[int] | None = None,
        truncate: bool = False,
    ) -> Run:
        """Run a forward pass on text (a text, a pair as a tuple, or a list of either), token ids, an image or audio frames.

        Texts of different lengths are padded on the right and masked with `attend`. With `layers`, only the intermediate
        values of these layers are kept. An encoder-decoder also needs a `target`, to which the start token is added;
        `target_tokens` are used unchanged. `boxes` are the bounding boxes of the tokens on a page (LayoutLM).
        """
        sources = {"text": text, "tokens": tokens, "image": image, "frames": frames}
        given = [name for name, value in sources.items() if value is not None]
        wanted = [self.spec.reads] if self.spec.one_length else ["text", "tokens"]
        if len(given) != 1 or given[0] not in wanted:
            expected = " or ".join(f"{name}=…" for name in wanted)
            raise GlassformerError(f"this {self._kind} needs {expected}, found {' and '.join(given) or 'nothing'}.")
        words = None
        inputs = {"segments": segments, "boxes": boxes, "attend": attend}
        if image is not None or frames is not None:
            inputs |= {given[0]: _sensed(self.spec, given[0], sources[given[0]])}
        elif text is not None:
            batch = encode(self.tokenizer, text, self._source, padding=self.padding, truncate=truncate)
            words = batch.words
            inputs["tokens"] = batch.tokens
            inputs["attend"] = batch.attend if attend is None else attend
            inputs["segments"] = batch.segments if segments is None and self.spec.segments is not None else segments
        else:
            inputs["tokens"] = _rows("tokens", tokens)
            words = self._words(inputs["tokens"])
        target_inputs, target_words = self._target(target, target_tokens)
        found = {name: value for name, value in (inputs | target_inputs).items() if value is not None}
        return self._run(found, words, target_words, layers)

    @property
    def _kind(self) -> str:
        return "encoder-decoder" if isinstance(self.spec, Seq2SeqSpec) else "decoder" if self.spec.predicts_next else "encoder"

    @property
    def _source(self) -> EncoderSpec:
        """The spec of the stack that reads the source."""
        return self.spec.encoder if isinstance(self.spec, Seq2SeqSpec) else self.spec

    def _target(self, text: Text | Sequence[Text] | None, tokens: Any) -> tuple[dict[str, Any], list[list[str]] | None]:
        """The decoder input of an encoder-decoder, and its words."""
        given = [name for name, value in (("target", text), ("target_tokens", tokens)) if value is not None]
        require_target(self.spec, source=True, target=bool(given))
        if len(given) > 1:
            raise GlassformerError("target and target_tokens are both given. Give only one.")
        if text is not None and isinstance(self.spec, Seq2SeqSpec):
            special = read_tokens(self.folder, self.config, self.spec.decoder.vocab or 0)
            batch = encode_target(self.tokenizer, text, self.spec.decoder, special)
            return {"target": batch.tokens, "attend_target": batch.attend}, batch.words
        if tokens is None:
            return {}, None
        rows = _rows("target_tokens", tokens)
        return {"target": rows}, self._words(rows)

    def _run(
        self,
        inputs: dict[str, Any],
        words: list[list[str]] | None,
        target: list[list[str]] | None,
        layers: Collection[int] | None,
    ) -> Run:
        for name in ("segments", "attend"):
            if name in inputs:
                inputs[name] = _with_batch(inputs[name], axes=2)
        size = inputs[self.spec.reads if self.spec.one_length else "tokens"].shape
        padded = "attend" in inputs or "attend_target" in inputs
        more = {}
        if "target" in inputs:
            _require_tokens("target", inputs["target"], size[0])
            more = {"u": inputs["target"].shape[1]}
        if self.spec.one_length:
            # A checkpoint of raw audio takes sounds of any length; its spec describes one of them.
            spec = self.spec.replace(samples=size[2]) if self.spec.raw_sound else self.spec
            program = build(spec, batch=size[0], padded=padded, **more)
        else:
            _require_tokens("tokens", inputs["tokens"], size[0])
            program = build(self.spec, batch=size[0], t=size[1], padded=padded, **more)
        _check_memory(program, layers)
        return run(program, self.weights, inputs, tokens=words, target=target, layers=layers)

    def _words(self, tokens: Array) -> list[list[str]] | None:
        """Return the words of token ids, if the folder has a usable tokenizer."""
        try:
            known = tokens.dtype.kind in "iu" and bool(((tokens >= 0) & (tokens < 2**31)).all())  # others are refused later
            return words_of(self.tokenizer, tokens) if known else None
        except GlassformerError:
            return None


def open_checkpoint(folder: str | Path, *, as_class: str | None = None, allow_nonfinite: bool = False) -> Checkpoint:
    """Open a model folder. All headers and names are checked now; weights are read during a run."""
    found = open_folder(folder, shapes_of, as_class=as_class, decoders=True)
    weights = StoredWeights(found.files, found.match, found.shapes, allow_nonfinite=allow_nonfinite, constants=found.constants)
    about = (found.path, found.spec, found.family, found.model_class)
    return Checkpoint(*about, weights, found.config, found.match.unused, found.padding, tuple(found.labels))


def shapes_of(spec: EncoderSpec) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter, by name."""
    any_length = None if spec.one_length else 1
    return {parameter.name: parameter.tensor.shape for parameter in build(spec, t=any_length).parameters}


def _rows(name: str, tokens: Any) -> Array:
    """Rows of token ids, one row per text."""
    found = _with_batch(tokens, axes=2)
    if found.ndim != 2:
        raise GlassformerError(f"{name} must be rows of token ids, one row per text: [[101, 2054, 102]].")
    return found


def _require_tokens(name: str, rows: Array, texts: int) -> None:
    """Refuse empty rows, and a number of targets that differs from that of the sources."""
    if rows.shape[1] == 0:
        raise GlassformerError(f"{name} has shape {list(rows.shape)}: at least one token is needed.")
    if len(rows) != texts:
        raise GlassformerError(f"there are {texts} sources and {len(rows)} targets: give one target for each source.")


def _sensed(spec: EncoderSpec, name: str, value: Any) -> Array:
    """An image, a video or sound, or several of them, with an axis for the batch."""
    frames = "frame, " if spec.video_frames is not None else ""
    picture = (1 + len(spec.picture_shape), f"[{frames}channel, row, column]")
    axes, told = {"image": picture, "frames": (3, "[mel, frame]")}[name]
    array = _with_batch(value, axes=axes)
    if array.ndim != axes:
        raise GlassformerError(f"{name} must be an array {told}, optionally with a batch axis.")
    return array


def _with_batch(value: Any, *, axes: int) -> Array:
    """Return an array, with a batch axis of size one added if it was left out."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise GlassformerError(
            "the rows have different lengths: pad them to one length, and mark the real tokens with attend=…."
        ) from None
    return array[None] if array.ndim == axes - 1 else array


def _check_memory(program: Program, layers: Collection[int] | None) -> None:
    """Refuse a run that does not fit into memory before anything is allocated."""
    needed, free = NUMBER_BYTES * numbers_held(program, layers), free_memory()
    if free is not None and needed > free:
        way_out = "" if layers is not None else ", or keep only some layers (layers=[0])"
        raise GlassformerError(
            f"this run needs {needed / 1e9:,.1f} GB of memory, but only {free / 1e9:,.1f} GB are free: "
            f"give fewer or shorter texts{way_out}."
        )


def numbers_held(program: Program, layers: Collection[int] | None) -> int:
    """Return how many numbers a run holds at once: all that it keeps, plus the largest layer that it drops."""
    sizes: Counter[int | None] = Counter()
    for tensor in (*(parameter.tensor for parameter in program.parameters), *(step.output for step in program.steps)):
        sizes[tensor.block.layer] += tensor.size
    dropped = [] if layers is None else [size for layer, size in sizes.items() if layer is not None and layer not in layers]
    return sum(sizes.values()) - sum(dropped) + max(dropped, default=0)


def free_memory() -> int | None:
    """Return the bytes available without swapping, if the system reports them."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
