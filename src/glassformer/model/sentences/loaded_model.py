"""A loaded model with its tokenizer: texts in; vectors, classes or tags out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.arguments import one_of, whole, yes_no
from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.name_tables import OWN
from glassformer.files.texts import Text, load_tokenizer
from glassformer.model.adapters.opening import load_whole
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.checkpoints import export
from glassformer.model.checkpoints.loading import LoadedEncoder, Verdict
from glassformer.model.encoder import Output, Wanted
from glassformer.model.fast.inference import Inference, evaluating, every_module
from glassformer.model.fast.int8 import Int8Product
from glassformer.model.fast.onednn import Product, serves
from glassformer.model.fast.packing import at_once, encode_packed
from glassformer.model.fast.replacing import apply, with_parts
from glassformer.model.sentences import guesses, predictions, streams
from glassformer.model.sentences.guesses import MaskPrediction
from glassformer.model.sentences.outside import Compute, Outside
from glassformer.model.sentences.predictions import Prediction, TokenPrediction
from glassformer.model.sentences.settings import Pool, SentenceSettings, read_settings
from glassformer.model.sentences.streams import ReadingOptions
from glassformer.spec import MASKED_HEADS, TOKEN_HEADS, EncoderSpec

OPTIONS = ("pool", "normalise", "batch_tokens")
OURS = ("letters", "word_by_word")  # options that are determined by the model
POOLS = ("mean", "first", "last", "max", "pooled")
IMAGES_AT_ONCE = 32

Said = Prediction | list[TokenPrediction] | list[MaskPrediction]


class Vectors(NamedTuple):
    """The vectors of some consecutive texts, and the indices of these texts."""

    numbers: list[int]  # in the input, from 0; skipped texts are missing
    values: NDArray[Any]  # [texts, width]
    dropped: dict[int, int]  # number of tokens that were truncated, by text
    seen: int
    tokens: int = 0
    pairs: int = 0  # number of token pairs that attend to each other: the sum of the squared lengths


class Predictions(NamedTuple):
    """The head's predictions for consecutive inputs."""

    numbers: list[int]
    values: list[Said]
    dropped: dict[int, int]
    seen: int
    tokens: int = 0
    pairs: int = 0  # number of token pairs that attend to each other: the sum of the squared lengths


class LoadedModel:
    """`model = gf.load(folder)`: `model.encode(texts)`, `model.predict(texts)`, `model(tokens)`, `model.save(folder)`."""

    def __init__(self, loaded: LoadedEncoder) -> None:
        self.encoder: Encoder = apply(loaded.encoder)
        self.folder: CheckpointFolder = loaded.folder
        self.verdict: Verdict = loaded.verdict
        self._made_ready: dict[str, Inference | Outside] = {}
        self._product: type[Product] = Product

    def __repr__(self) -> str:
        return f"<{self.folder.model_class} from {self.folder.path.name}: {self.folder.parameters:,} parameters, {self.verdict}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy, without what was prepared for this processor."""
        return self.__dict__ | {"_made_ready": {}}

    def __call__(self, *inputs: Tensor, **options: Any) -> Output:
        """Run the encoder once on tokens."""
        output: Output = self.encoder(*inputs, **options)
        return output

    @property
    def spec(self) -> EncoderSpec:
        """The spec of the encoder."""
        return self.encoder.spec

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer."""
        return load_tokenizer(self.folder.path)

    @cached_property
    def settings(self) -> SentenceSettings:
        """The folder's settings for sentence vectors."""
        return read_settings(self.folder.path)

    @cached_property
    def labels(self) -> list[str]:
        """The names of the head's classes."""
        return self.folder.labels

    @cached_property
    def longest(self) -> int | None:
        """The longest allowed text in tokens: the minimum of position table, config and tokenizer; None if unlimited."""
        known = (self.spec.longest, self.spec.positions, self.settings.longest)
        return min((size for size in known if size is not None), default=None)

    # Vectors -----------------------------------------------------------------------------------------------------------

    @overload
    def encode(self, texts: str, **options: Any) -> NDArray[Any]: ...
    @overload
    def encode(self, texts: Iterable[Text], **options: Any) -> NDArray[Any]: ...
    def encode(self, texts: str | Iterable[Text], **options: Any) -> NDArray[Any]:
        """Return one vector per text, [texts, width], or [width] for a single text; the options are those of `encode_stream`."""
        if isinstance(texts, str):
            one: NDArray[Any] = self.encode([texts], **options)[0]
            return one
        found = [vectors.values for vectors in self.encode_stream(texts, **options)]
        return np.concatenate(found) if found else np.empty((0, self.spec.d_model), dtype=np.float32)

    def encode_stream(
        self,
        texts: Iterable[Text],
        *,
        pool: Pool | None = None,
        normalise: bool | None = None,
        batch_tokens: int | None = None,
        **reading: Any,
    ) -> Iterator[Vectors]:
        """Yield vectors for any number of texts, in windows, in input order and bounded memory.

        `pool` and `normalise` default to the folder's settings, if it has any, else to the mean of all tokens, with length one.
        `batch_tokens` is the number of tokens per forward pass; `truncate`, `longest`, `empty` and others are the fields of
        `ReadingOptions`.
        """
        chosen, unit = self._pooling(pool, normalise=normalise)
        batch_tokens = whole("batch_tokens", batch_tokens, least=1) if batch_tokens is not None else None
        ready = self.ready("pooled" if chosen == "pooled" else "states")
        before: tuple[streams.Window, streams.Arriving] | None = None
        for window in self._windows(texts, reading):
            vectors = streams.embed(ready, window, chosen, normalise=unit, tokens_at_once=batch_tokens)
            if not vectors.is_cuda:
                yield _vectors(window, vectors)
                continue
            arriving = streams.Arriving(vectors)
            if before is not None:  # read after the next window has been started, so that the GPU does not wait
                yield _vectors(before[0], before[1].wait())
            before = window, arriving
        if before is not None:
            yield _vectors(before[0], before[1].wait())

    def run_by(self, part: str, compute: Compute) -> None:
        """Let another engine compute the passes for `states`, `pooled` or `logits`, from the graph of `part_of(part)`."""
        self._made_ready[part] = Outside(self.part_of(part), compute)

    def round_products(self) -> None:
        """Compute the products of the layers in int8 from now on: see `fast/int8.py`."""
        if not serves(self.encoder):
            here = self.encoder.here
            found = f"{str(here.dtype).removeprefix('torch.')} on {here.device.type}"
            raise GlassformerError(f"int8 is computed on a CPU with oneDNN, from float32 weights, found {found}.")
        self._product = Int8Product
        self._made_ready.clear()

    def part_of(self, part: str) -> Encoder:
        """Return the encoder without the parts that `states`, `pooled` or `logits` do not need."""
        # Without the head if nothing reads it: a masked-token head costs more than all layers of a small model.
        left_out = {"logits": (), "pooled": ("head",), "states": ("head", "pooler")}[part]
        return with_parts(self.encoder, **dict.fromkeys(left_out))

    def ready(self, part: str) -> Inference | Outside:
        """The encoder without the parts that are not needed, prepared once."""
        if part not in self._made_ready:
            self._made_ready[part] = Inference(self.part_of(part), Wanted(only_logits=part == "logits"), self._product)
        return self._made_ready[part]

    def _pooling(self, pool: Pool | None, *, normalise: bool | None) -> tuple[Pool, bool]:
        said = self.settings
        if said.obstacle and (pool is None or normalise is None):
            raise GlassformerError(f"{said.obstacle}. Give pool and normalise yourself to take the vectors before it.")
        chosen = pool if pool is not None else said.pool if said.pool is not None else "mean"
        one_of("pool", chosen, POOLS)
        if chosen == "pooled" and not self.spec.has_pooler:
            raise GlassformerError("pool=pooled: this model has no pooler. Try pool=mean or pool=first.")
        unit = normalise if normalise is not None else said.normalise
        return chosen, True if unit is None else yes_no("normalise", unit)

    def embed(
        self, ids: Sequence[Tensor], *, pool: Pool | None = None, normalise: bool | None = None, batch_tokens: int | None = None
    ) -> NDArray[Any]:
        """Return one vector per text given as ids, in order; the options are those of `encode`."""
        chosen, unit = self._pooling(pool, normalise=normalise)
        ready = self.ready("pooled" if chosen == "pooled" else "states")
        window = streams.Window(list(range(len(ids))), list(ids), None, [], {}, len(ids))
        vectors: NDArray[Any] = streams.embed(ready, window, chosen, normalise=unit, tokens_at_once=batch_tokens).cpu().numpy()
        return vectors

    @property
    def tokens_at_once(self) -> int:
        """The default number of tokens per batch on the model's device."""
        return at_once(self.encoder)

    def windows(self, texts: Iterable[Text], **reading: Any) -> Iterator[streams.Window]:
        """Tokenize texts in windows; the options are those of `encode_stream` that concern reading."""
        return self._windows(texts, reading)

    def _windows(self, texts: Iterable[Text], reading: dict[str, Any], **ours: bool) -> Iterator[streams.Window]:
        if self.spec.reads != "tokens":
            ways = {"image": " Give images: --images FILE, or predict(images).", "frames": " Call encoder(frames) in Python."}
            way = ways.get(self.spec.reads, "")
            raise GlassformerError(f"this encoder reads {self.spec.reads.removesuffix('s')}s, not texts.{way}")
        if isinstance(texts, str):
            raise GlassformerError(f'expected a list of texts, found one text: ["{shown(texts, limit=30)}"].')
        try:
            iter(texts)
        except TypeError:
            raise GlassformerError(f"expected a text or a list of texts, found {shown(texts)}.") from None
        known = [option.name for option in fields(ReadingOptions) if option.name not in OURS]
        for name in reading:
            if name not in known:
                raise GlassformerError(f"unknown option '{shown(name)}'.{nearest(name, [*OPTIONS, *known])}")
        if reading.get("longest") is not None:
            reading = reading | {"longest": whole("longest", reading["longest"], least=1)}
        said = self.settings
        own: dict[str, Any] = {"lower": said.lower, "prompt": said.prompt}
        limits = [size for size in (self.longest, reading.get("longest")) if size is not None]
        longest = min(limits, default=None)
        options = ReadingOptions(**{**own, **reading, **ours, "longest": longest})
        return streams.windows(texts, self.tokenizer, self.spec, options, beside=self.encoder.here.is_cuda)

    # Classes -----------------------------------------------------------------------------------------------------------

    def predict(self, inputs: str | Iterable[Text] | NDArray[Any] | Tensor, **options: Any) -> Any:
        """Apply the head to texts or images: a `Prediction` for each, or one per token or mask; for a single text, its alone."""
        if isinstance(inputs, np.ndarray) and inputs.dtype.kind in "UO":
            inputs = inputs.tolist()  # NumPy's texts are texts
        if isinstance(inputs, np.ndarray | Tensor):
            if options:
                raise GlassformerError(f"the option {shown(next(iter(options)))} is for texts, and has no effect on images.")
            return self._predict_images(torch.as_tensor(inputs))
        if isinstance(inputs, str):
            return self.predict([inputs], **options)[0]
        return [one for said in self.predict_stream(inputs, **options) for one in said.values]

    def predict_stream(self, texts: Iterable[Text], *, batch_tokens: int | None = None, **reading: Any) -> Iterator[Predictions]:
        """Yield predictions for any number of texts, in windows, in input order and bounded memory."""
        predictions.require_classes(self.spec, self.folder.model_class)
        batch_tokens = whole("batch_tokens", batch_tokens, least=1) if batch_tokens is not None else None
        masked = self.spec.head in MASKED_HEADS
        by_words = self.spec.head == "tag" and self.settings.context == "word"
        for window in self._windows(texts, reading, letters=self.spec.head in TOKEN_HEADS, word_by_word=by_words):
            if masked:
                refused, name = reading.get("refused", streams.stop), reading.get("name", streams.plain_name)
                with evaluating(every_module(self.encoder)):
                    told = list(guesses.guesses(self.encoder, window, self.tokenizer, name, refused))
                numbers, masks = [number for number, _ in told], [one for _, one in told]
                yield Predictions(numbers, list(masks), window.dropped, window.seen, window.size, window.pairs)
                continue
            with torch.inference_mode():
                ready = self.ready("logits")
                found = encode_packed(
                    ready.encoder, window.ids, segments=window.segments, part="logits", tokens_at_once=batch_tokens, run=ready.run
                )
            said = [self._said(logits, tokens) for logits, tokens in zip(found, window.tokens, strict=True)]
            if by_words:
                yield _of_texts(window, said)
            else:
                yield Predictions(window.numbers, said, window.dropped, window.seen, window.size, window.pairs)

    def _said(self, logits: Tensor, tokens: Sequence[str]) -> Said:
        kind = predictions.kind_of(self.folder)
        if self.spec.head not in TOKEN_HEADS:
            return predictions.prediction(logits, self.labels, kind)
        return [
            TokenPrediction(token, predictions.prediction(row, self.labels, kind))
            for token, row in zip(tokens, logits, strict=True)
        ]

    def _predict_images(self, images: Tensor) -> Any:
        predictions.require_classes(self.spec, self.folder.model_class)
        if self.spec.reads != "image":
            way = "call encoder(frames) in Python" if self.spec.reads == "frames" else "give texts"
            raise GlassformerError(f"this encoder reads {self.spec.reads}, not images: {way}.")
        if images.ndim == 3:
            return self._predict_images(images[None])[0]
        if images.ndim != 4:
            raise GlassformerError(f"images must be [channel, row, column], or several of them, got {list(images.shape)}.")
        if not images.is_floating_point():
            raise GlassformerError(
                "images must be numbers as the model was trained on (scaled and normalised), found whole numbers."
            )
        finite = images.isfinite().flatten(1).all(1)
        if not finite.all():
            raise GlassformerError(f"image {int(finite.int().argmin())} has a NaN or infinite pixel. Fix it or leave it out.")
        said: list[Said] = []
        for some in images.split(IMAGES_AT_ONCE):
            with torch.inference_mode(), evaluating(every_module(self.encoder)):
                logits = self.encoder(some.to(self.encoder.here), only_logits=True).logits
            said += [self._said(row, [f"patch {i}" for i in range(len(row))]) for row in logits]
        return said

    # Insight: a room above this one, imported when it is used --------------------------------------------------------------

    def hooks(self, hooks: Mapping[str, Callable[[Tensor], Tensor | None]]) -> AbstractContextManager[LoadedModel]:
        """Call functions on the steps of every pass within `with`: `with model.hooks({"layers.3.attention.mix": f}): …`

        A function receives the value of the step and returns a new one of the same shape, or None. `*` matches every layer.
        """
        found: AbstractContextManager[LoadedModel] = import_module("glassformer.insight.hooks").hooked(self, hooks)
        return found

    def cache(self, texts: Iterable[Text], names: Iterable[str], *, out: str | Path | None = None, **options: Any) -> Any:
        """Collect steps of every text by name: `model.cache(texts, names=["layers.*.out"])`; with `out`, streamed to a folder."""
        return import_module("glassformer.insight.cache").cache(self, texts, names, out=out, **options)

    def save(self, folder: str | Path, *, own: bool = False) -> Path:
        """Write the model in its original layout or, with `own`, as spec.json and tensors with the names of the ledger."""
        foreign = None if yes_no("own", own) or self.folder.family == OWN else self.folder.config
        return export.save(
            self.encoder,
            folder,
            config=foreign,
            as_class=self.folder.model_class if foreign is not None else None,
            labels=self.labels,
            beside=self.folder.path,
        )


def _vectors(window: streams.Window, values: Tensor) -> Vectors:
    return Vectors(window.numbers, values.numpy(), window.dropped, window.seen, window.size, window.pairs)


def _of_texts(window: streams.Window, said: Sequence[Said]) -> Predictions:
    """Predictions per word for texts tokenized word by word; special tokens belong to no word."""
    texts: dict[int, list[Any]] = {}
    for number, encoding, tokens in zip(window.numbers, window.encodings, said, strict=True):
        own = [token for token, special in zip(tokens, encoding.special_tokens_mask, strict=True) if not special]
        texts.setdefault(number, []).extend(own)
    return Predictions(list(texts), list(texts.values()), window.dropped, window.seen, window.size, window.pairs)


def load(
    folder: str | Path,
    *,
    as_class: str | None = None,
    dtype: str | torch.dtype = torch.float32,
    device: torch.device | str | None = None,
    allow_nonfinite: bool = False,
) -> LoadedModel:
    """The model in a folder (config.json or spec.json, and model.safetensors), checked strictly: `gf.load(path).encode(texts)`.

    `as_class` reads it as another class of its family; a head missing from the file is newly initialized: see `verdict`.
    A folder of adapters is merged into its base model.
    """
    allow_nonfinite = yes_no("allow_nonfinite", allow_nonfinite)
    return LoadedModel(load_whole(folder, as_class=as_class, dtype=dtype, device=device, allow_nonfinite=allow_nonfinite))
