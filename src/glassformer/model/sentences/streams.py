"""Streams of texts through a model, window by window: in order, in bounded memory, texts of similar length together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer import arguments
from glassformer.errors import GlassformerError
from glassformer.files.ahead import ahead
from glassformer.files.texts import Text, check_text, check_vocabulary, cut_into_tokens, guarded
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import Output
from glassformer.model.fast.inference import Inference
from glassformer.model.fast.packing import moved, passes
from glassformer.model.sentences.outside import Outside
from glassformer.model.sentences.settings import Pool
from glassformer.spec import EncoderSpec

Empty = Literal["refuse", "skip", "encode"]

TEXTS_AT_ONCE = 1024
FIRST_ON_GPU = (128, 256, 512)  # texts; the model waits for the first window, the next ones are read meanwhile
CHARACTERS_AT_ONCE = 2_000_000
FEW = 16  # an empty text has only the special tokens


def plain_name(number: int) -> str:
    """Return how a text is named in a message."""
    return f"text {number}"


def stop(_number: int, error: GlassformerError) -> None:
    """Raise the error for a text that cannot be read."""
    raise error


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How texts are read."""

    longest: int | None = None  # allowed tokens per text, special tokens included
    truncate: bool = False  # longer texts are truncated and counted; otherwise they are refused
    empty: Empty = "refuse"  # an empty text: refused, skipped, or encoded as its special tokens
    prompt: str = ""
    lower: bool = False
    name: Callable[[int], str] = plain_name
    word_by_word: bool = False  # each whitespace-separated word is read separately, like a text
    letters: bool = False  # whether the tokens are also needed as strings
    refused: Callable[[int, GlassformerError], None] = stop  # called for an unreadable text; if it returns, the text is skipped

    def __post_init__(self) -> None:
        arguments.yes_no("truncate", self.truncate)
        arguments.yes_no("lower", self.lower)
        arguments.yes_no("word_by_word", self.word_by_word)
        arguments.one_of("empty", self.empty, get_args(Empty))
        arguments.text("prompt", self.prompt)


class Window(NamedTuple):
    """Consecutive texts as tokens: their indices in the input, their ids, and the number of truncated tokens of each."""

    numbers: list[int]  # for a text that is read word by word, once per word
    ids: list[Tensor]
    segments: list[Tensor] | None
    encodings: list[Any]  # as returned by the tokenizer
    dropped: dict[int, int]  # by number
    seen: int  # texts read, including skipped ones

    @property
    def size(self) -> int:
        """The number of tokens."""
        return sum(ids.shape[0] for ids in self.ids)

    @property
    def pairs(self) -> int:
        """The number of token pairs that attend to each other."""
        return sum(ids.shape[0] ** 2 for ids in self.ids)

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens as strings, if the options request them."""
        return [list(encoding.tokens) for encoding in self.encodings]


def windows(
    texts: Iterable[Text], tokenizer: Any, spec: EncoderSpec, reading: ReadingOptions, *, beside: bool = False
) -> Iterator[Window]:
    """Yield windows of tokenized texts of bounded size; with `beside`, the next one is tokenized while this one is computed."""
    sizes = chain(FIRST_ON_GPU if beside else (), repeat(TEXTS_AT_ONCE))
    cuts = (_cut(some, tokenizer, reading) for some in _groups(texts, reading, sizes))
    for cut in ahead(cuts) if beside else cuts:
        yield _window(cut, tokenizer, spec, reading)


def _groups(texts: Iterable[Text], reading: ReadingOptions, sizes: Iterator[int]) -> Iterator[list[tuple[int, Text]]]:
    """Yield windows of texts with their indices, smaller ones where texts are long."""
    some: list[tuple[int, Text]] = []
    characters, size = 0, next(sizes)
    for number, text in enumerate(texts):
        try:
            check_text(text, reading.name(number))
        except GlassformerError as error:
            reading.refused(number, error)
            continue
        ready = _ready(text, reading)
        some.append((number, ready))
        characters += sum(map(len, ready)) if isinstance(ready, tuple) else len(ready)
        if len(some) >= size or characters >= CHARACTERS_AT_ONCE:
            yield some
            some, characters, size = [], 0, next(sizes)
    if some:
        yield some


def _ready(text: Text, reading: ReadingOptions) -> Text:
    if isinstance(text, tuple):
        return (_ready(text[0], reading), text[1].lower() if reading.lower else text[1])  # type: ignore[return-value]
    return reading.prompt + (text.lower() if reading.lower else text)


class Cut(NamedTuple):
    """Texts with their indices, the tokens of each, and the number of truncated tokens, by position in the window."""

    some: list[tuple[int, Text]]
    encodings: list[Any]
    dropped: dict[int, int]


def _cut(some: list[tuple[int, Text]], tokenizer: Any, reading: ReadingOptions) -> Cut:
    """Tokenize texts; those that are too long and may be truncated are tokenized again. Not thread-safe."""
    if reading.word_by_word:
        some = [(number, word) for number, text in some for word in _words(text)]
    some, encodings = _encodings(some, tokenizer, reading)
    dropped = {}
    if reading.truncate and reading.longest is not None:
        long = [i for i, encoding in enumerate(encodings) if len(encoding) > reading.longest]
        shortened = _encodings([some[i] for i in long], tokenizer, reading, most=reading.longest)[1] if long else []
        for i, short in zip(long, shortened, strict=True):
            dropped[i] = len(encodings[i]) - len(short)
            encodings[i] = short
    return Cut(some, encodings, dropped)


def _words(text: Text) -> list[str]:
    """Split at whitespace; a text without words gives one empty word."""
    return (" ".join(text) if isinstance(text, tuple) else text).split() or [""]


def _window(cut: Cut, tokenizer: Any, spec: EncoderSpec, reading: ReadingOptions) -> Window:
    """Return texts as ids. A tokenizer builds its lists on every access, so they are read once."""
    some = cut.some
    dropped = Counter[int]()
    for i, lost in cut.dropped.items():
        dropped[some[i][0]] += lost
    window, lists = Window([], [], None, [], dict(dropped), len({number for number, _ in some})), []
    for (number, _), encoding in zip(some, cut.encodings, strict=True):
        ids = encoding.ids
        length = len(ids)
        if length <= FEW and all(encoding.special_tokens_mask):
            if reading.empty == "skip":
                continue
            if reading.empty == "refuse" or not ids:
                said = f"{reading.name(number)} is empty: it contains no tokens. empty=skip omits such texts."
                reading.refused(number, GlassformerError(said))
                continue
        if reading.longest is not None and length > reading.longest:
            said = (
                f"{reading.name(number)} has {length:,} tokens, this model takes {reading.longest:,}. Split it, or truncate it, "
                f"which drops the last {length - reading.longest:,}."
            )
            reading.refused(number, GlassformerError(said))
            continue
        window.numbers.append(number)
        window.encodings.append(encoding)
        lists.append(ids)
    flat = np.fromiter(chain.from_iterable(lists), np.int64)  # one array for all: a GPU waits for each separate copy
    if spec.vocab is not None and flat.size and flat.max() >= spec.vocab:
        return _window(_of_known_tokens(cut, tokenizer, spec.vocab, reading), tokenizer, spec, reading)
    window.ids.extend(torch.from_numpy(flat).split([len(ids) for ids in lists]) if lists else ())
    paired = (spec.segments or 0) > 1 and any(isinstance(text, tuple) for _, text in some)
    return window._replace(segments=[torch.tensor(one.type_ids) for one in window.encodings] if paired else None)


def _of_known_tokens(cut: Cut, tokenizer: Any, vocab: int, reading: ReadingOptions) -> Cut:
    """Skip texts with a token outside the embedding table, where skipping is allowed."""
    kept = []
    for i, ((number, _), encoding) in enumerate(zip(cut.some, cut.encodings, strict=True)):
        try:
            if len(encoding):
                check_vocabulary(tokenizer, encoding, reading.name(number), vocab)
            kept.append(i)
        except GlassformerError as error:
            reading.refused(number, error)
    dropped = {place: cut.dropped[i] for place, i in enumerate(kept) if i in cut.dropped}
    return Cut([cut.some[i] for i in kept], [cut.encodings[i] for i in kept], dropped)


def _encodings(
    some: list[tuple[int, Text]], tokenizer: Any, reading: ReadingOptions, *, most: int | None = None
) -> tuple[list[tuple[int, Text]], list[Any]]:
    """Tokenize all at once; one by one only to find the text that fails. With `most`, truncate to that many tokens."""
    try:
        if most is not None:
            guarded("longest", lambda: tokenizer.enable_truncation(max_length=most))
        # The fast method omits offsets and token strings.
        quick = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
        encode = tokenizer.encode_batch if reading.letters else quick
        return some, list(guarded("texts", lambda: encode([text for _, text in some])))
    except GlassformerError:
        kept, encodings = [], []
        for number, text in some:
            try:
                encodings.append(cut_into_tokens(tokenizer, text, reading.name(number), most=most))
                kept.append((number, text))
            except GlassformerError as error:
                (reading.refused if most is None else stop)(number, error)
        return kept, encodings
    finally:
        tokenizer.no_truncation()


@torch.inference_mode()
def embed(
    ready: Inference | Outside, window: Window, pool: Pool, *, normalise: bool, tokens_at_once: int | None = None
) -> Tensor:
    """One vector per text of a window, [texts, d_model], in order, on the model's device."""
    bare = ready.encoder
    vectors = bare.here.new_empty(len(window.ids), bare.spec.d_model, dtype=torch.promote_types(bare.here.dtype, torch.float32))
    for members, output, layout in passes(bare, window.ids, window.segments, tokens_at_once=tokens_at_once, run=ready.run):
        vectors[moved(torch.tensor(members), vectors.device)] = pooled(output, layout, pool).to(vectors.dtype)
    return functional.normalize(vectors, dim=-1) if normalise else vectors


class Arriving:
    """A tensor being copied from a GPU as soon as it is computed; a later copy would wait for all work since."""

    def __init__(self, values: Tensor) -> None:
        self.here = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        self.there = torch.cuda.Event()
        with torch.cuda.device(values.device):
            self.here.copy_(values, non_blocking=True)
            self.there.record()

    def wait(self) -> Tensor:
        """Return the tensor in ordinary memory."""
        self.there.synchronize()
        return torch.from_numpy(self.here.numpy().copy())  # not with PyTorch's threads: see `in_a_row`


def pooled(output: Output, layout: Layout, pool: Pool) -> Tensor:
    """Return one vector per sequence of a pass."""
    if pool == "pooled":
        assert output.pooled is not None
        return output.pooled
    if pool == "max":
        return _largest(output.states, layout)
    return {"mean": layout.mean, "first": layout.first, "last": layout.last}[pool](output.states)


def _largest(states: Tensor, layout: Layout) -> Tensor:
    """Return the maximum of each feature over the real tokens of each sequence."""
    if isinstance(layout, Padded):
        real = layout.attend_BS
        return (states if real is None else states.masked_fill(~real[:, :, None], -torch.inf)).amax(1)
    bounds: Tensor = layout.bounds  # type: ignore[attr-defined]  # a packed row has them
    precise = states[0].to(torch.promote_types(states.dtype, torch.float32))
    largest = torch.segment_reduce(precise, "max", lengths=bounds.diff().long(), axis=0, unsafe=True)
    return largest.to(states.dtype)
