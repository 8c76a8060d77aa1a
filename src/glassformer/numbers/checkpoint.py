"""A checkpoint: a model folder in the Hugging Face layout, opened without torch and run in float64."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.checkpoints.folder import open_folder
from glassformer.errors import GlassformerError
from glassformer.files.texts import Text, load_tokenizer
from glassformer.numbers.run import Run, run
from glassformer.numbers.stored_weights import StoredWeights
from glassformer.numbers.texts import encode, words_of
from glassformer.program import Program, build
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec
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

    def run(
        self,
        text: Text | Sequence[Text] | None = None,
        *,
        tokens: Any = None,
        segments: Any = None,
        attend: Any = None,
        image: Any = None,
        frames: Any = None,
        layers: Collection[int] | None = None,
        truncate: bool = False,
    ) -> Run:
        """Run a forward pass on text (a text, a pair as a tuple, or a list of either), token ids, an image or audio frames.

        Texts of different lengths are padded on the right and masked with `attend`. With `layers`, only the intermediate
        values of these layers are kept.
        """
        sources = {"text": text, "tokens": tokens, "image": image, "frames": frames}
        given = [name for name, value in sources.items() if value is not None]
        wanted = [self.spec.reads] if self.spec.one_length else ["text", "tokens"]
        if len(given) != 1 or given[0] not in wanted:
            expected = " or ".join(f"{name}=…" for name in wanted)
            raise GlassformerError(f"this encoder needs {expected}, found {' and '.join(given) or 'nothing'}.")
        words = None
        inputs = {"segments": segments, "attend": attend}
        if image is not None:
            inputs["image"] = _with_batch(image, axes=4)
            if inputs["image"].ndim != 4:
                raise GlassformerError("image must be numbers [channel, row, column], or several of them.")
        elif frames is not None:
            inputs["frames"] = _with_batch(frames, axes=3)
            if inputs["frames"].ndim != 3:
                raise GlassformerError("frames must be numbers [mel, frame], or several of them.")
        elif text is not None:
            batch = encode(self.tokenizer, text, self.spec, padding=self.padding, truncate=truncate)
            words = batch.words
            inputs["tokens"] = batch.tokens
            inputs["attend"] = batch.attend if attend is None else attend
            inputs["segments"] = batch.segments if segments is None and self.spec.segments is not None else segments
        else:
            inputs["tokens"] = _with_batch(tokens, axes=2)
            if inputs["tokens"].ndim != 2:
                raise GlassformerError("tokens must be rows of token ids, one row per text: [[101, 2054, 102]].")
            words = self._words(inputs["tokens"])
        return self._run({name: value for name, value in inputs.items() if value is not None}, words, layers)

    def _run(self, inputs: dict[str, Any], words: list[list[str]] | None, layers: Collection[int] | None) -> Run:
        for name in ("segments", "attend"):
            if name in inputs:
                inputs[name] = _with_batch(inputs[name], axes=2)
        size = inputs[self.spec.reads if self.spec.one_length else "tokens"].shape
        if self.spec.one_length:
            # A checkpoint of raw sound takes sounds of any length; its spec describes one of them.
            spec = self.spec.replace(samples=size[2]) if self.spec.raw_sound else self.spec
            program = build(spec, batch=size[0], padded="attend" in inputs)
        else:
            if size[1] == 0:
                raise GlassformerError(f"tokens has shape {list(size)}: at least one token is needed.")
            program = build(self.spec, batch=size[0], t=size[1], padded="attend" in inputs)
        _check_memory(program, layers)
        return run(program, self.weights, inputs, tokens=words, layers=layers)

    def _words(self, tokens: Array) -> list[list[str]] | None:
        """Return the words of token ids, if the folder has a usable tokenizer."""
        try:
            known = tokens.dtype.kind in "iu" and bool(((tokens >= 0) & (tokens < 2**31)).all())  # others are refused later
            return words_of(self.tokenizer, tokens) if known else None
        except GlassformerError:
            return None


def open_checkpoint(
    folder: str | Path, *, as_class: str | None = None, allow_nonfinite: bool = False, decoders: bool = False
) -> Checkpoint:
    """Open a model folder. All headers and names are checked now; weights are read during a run."""
    found = open_folder(folder, shapes_of, as_class=as_class, decoders=decoders)
    weights = StoredWeights(found.files, found.match, found.shapes, allow_nonfinite=allow_nonfinite, constants=found.constants)
    about = (found.path, found.spec, found.family, found.model_class)
    return Checkpoint(*about, weights, found.match.unused, found.padding, tuple(found.labels))


def shapes_of(spec: EncoderSpec) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter, by name."""
    any_length = None if spec.one_length else 1
    return {parameter.name: parameter.tensor.shape for parameter in build(spec, t=any_length).parameters}


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
