"""Any number of texts through a model, window by window: in order, in bounded memory, like lengths together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glassformer import arguments
from glassformer.errors import GlassformerError
from glassformer.files.texts import Text, check_text, check_vocabulary, cut_into_tokens, guarded
from glassformer.model.attention import Layout, Padded
from glassformer.model.encoder import Output
from glassformer.model.fast.inference import Inference
from glassformer.model.fast.packing import moved, passes
from glassformer.model.sentences.outside import Outside
from glassformer.model.sentences.settings import Pool
from glassformer.spec import EncoderSpec

Empty = Literal["refuse", "skip", "encode"]
Item = TypeVar("Item")

TEXTS_AT_ONCE = 1024
FIRST_ON_GPU = (128, 256, 512)  # it waits for the first window, so that is small; while it computes one, the next may be larger
CHARACTERS_AT_ONCE = 2_000_000
FEW = 16  # tokens; a text without one of its own has only those that the tokenizer adds


def plain_name(number: int) -> str:
    """What a text is called in a message."""
    return f"text {number}"


def stop(_number: int, error: GlassformerError) -> None:
    """Raise the error of a text that cannot be read."""
    raise error


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How texts are read."""

    longest: int | None = None  # tokens that a text may have, special ones included
    truncate: bool = False  # longer texts are cut, and counted; otherwise they are refused
    empty: Empty = "refuse"  # a text without a token of its own: refused, left out, or its special tokens alone
    prompt: str = ""
    lower: bool = False
    name: Callable[[int], str] = plain_name
    word_by_word: bool = False  # each word, between blanks, is read by itself, as if it were a text
    letters: bool = False  # whether the tokens are needed as text
    refused: Callable[[int, GlassformerError], None] = stop  # for a text that cannot be read; if it returns, that is left out

    def __post_init__(self) -> None:
        arguments.yes_no("truncate", self.truncate)
        arguments.yes_no("lower", self.lower)
        arguments.yes_no("word_by_word", self.word_by_word)
        arguments.one_of("empty", self.empty, get_args(Empty))
        arguments.text("prompt", self.prompt)


class Window(NamedTuple):
    """Some texts in a row as tokens: their numbers in the input, their ids, and how many tokens each lost."""

    numbers: list[int]  # of a text that is read word by word, once for each word
    ids: list[Tensor]
    segments: list[Tensor] | None
    encodings: list[Any]  # as the tokenizer gave them
    dropped: dict[int, int]  # by number
    seen: int  # texts that were looked at, those left out included

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return sum(ids.shape[0] for ids in self.ids)

    @property
    def pairs(self) -> int:
        """How many pairs of tokens attend to each other."""
        return sum(ids.shape[0] ** 2 for ids in self.ids)

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens in letters, if the options request them."""
        return [list(encoding.tokens) for encoding in self.encodings]


def windows(
    texts: Iterable[Text], tokenizer: Any, spec: EncoderSpec, reading: ReadingOptions, *, beside: bool = False
) -> Iterator[Window]:
    """Texts as tokens, as many at a time as memory is set aside for; `beside` cuts the next ones while these are computed."""
    sizes = chain(FIRST_ON_GPU if beside else (), repeat(TEXTS_AT_ONCE))
    cuts = (_cut(some, tokenizer, reading) for some in _groups(texts, reading, sizes))
    for cut in ahead(cuts) if beside else cuts:
        yield _window(cut, tokenizer, spec, reading)


def _groups(texts: Iterable[Text], reading: ReadingOptions, sizes: Iterator[int]) -> Iterator[list[tuple[int, Text]]]:
    """Texts with their numbers, so many at a time, or fewer where they are long."""
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


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same, the next one made by another thread while this one is used.

    What is made there should leave Python's lock alone, as tokenizers do: a loop in that thread would keep the GPU waiting.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item


def _ready(text: Text, reading: ReadingOptions) -> Text:
    if isinstance(text, tuple):
        return (_ready(text[0], reading), text[1].lower() if reading.lower else text[1])  # type: ignore[return-value]
    return reading.prompt + (text.lower() if reading.lower else text)


class Cut(NamedTuple):
    """Texts with their numbers, each one's tokens, and how many it lost, by its place here."""

    some: list[tuple[int, Text]]
    encodings: list[Any]
    dropped: dict[int, int]


def _cut(some: list[tuple[int, Text]], tokenizer: Any, reading: ReadingOptions) -> Cut:
    """Texts as tokens; those that are too long, and may be cut, a second time. Nobody else may use the tokenizer meanwhile."""
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
    """What stands between blanks, as in a table of words; of a text without any, the empty one."""
    return (" ".join(text) if isinstance(text, tuple) else text).split() or [""]


def _window(cut: Cut, tokenizer: Any, spec: EncoderSpec, reading: ReadingOptions) -> Window:
    """Texts as ids. A tokenizer makes its lists anew whenever it is asked for them: they are asked for once."""
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
    flat = np.fromiter(chain.from_iterable(lists), np.int64)  # one array for all: a GPU waits for each that is made by itself
    if spec.vocab is not None and flat.size and flat.max() >= spec.vocab:
        return _window(_of_known_tokens(cut, tokenizer, spec.vocab, reading), tokenizer, spec, reading)
    window.ids.extend(torch.from_numpy(flat).split([len(ids) for ids in lists]) if lists else ())
    paired = (spec.segments or 0) > 1 and any(isinstance(text, tuple) for _, text in some)
    return window._replace(segments=[torch.tensor(one.type_ids) for one in window.encodings] if paired else None)


def _of_known_tokens(cut: Cut, tokenizer: Any, vocab: int, reading: ReadingOptions) -> Cut:
    """Leave out, if they may be refused, the texts with a token that the model has no row for."""
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
    """All at once, which is quick; one by one only to name the text that cannot be cut. With `most`, no more tokens than that."""
    try:
        if most is not None:
            guarded("longest", lambda: tokenizer.enable_truncation(max_length=most))
        # The quick way leaves out where in the text each token stands, and what it is in letters.
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
    """One vector for each text of a window, [texts, d_model], in order, where the model is."""
    bare = ready.encoder
    vectors = bare.here.new_empty(len(window.ids), bare.spec.d_model, dtype=torch.promote_types(bare.here.dtype, torch.float32))
    for members, output, layout in passes(bare, window.ids, window.segments, tokens_at_once=tokens_at_once, run=ready.run):
        vectors[moved(torch.tensor(members), vectors.device)] = pooled(output, layout, pool).to(vectors.dtype)
    return functional.normalize(vectors, dim=-1) if normalise else vectors


class Arriving:
    """A tensor on its way from a GPU, copied as soon as it is computed: a copy asked for later waits for all work since."""

    def __init__(self, values: Tensor) -> None:
        self.here = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        self.there = torch.cuda.Event()
        with torch.cuda.device(values.device):
            self.here.copy_(values, non_blocking=True)
            self.there.record()

    def wait(self) -> Tensor:
        """It is here now, in ordinary memory."""
        self.there.synchronize()
        return torch.from_numpy(self.here.numpy().copy())  # not by PyTorch's threads: see `in_a_row`


def pooled(output: Output, layout: Layout, pool: Pool) -> Tensor:
    """One vector for each sequence of a pass."""
    if pool == "pooled":
        assert output.pooled is not None
        return output.pooled
    if pool == "max":
        return _largest(output.states, layout)
    return {"mean": layout.mean, "first": layout.first, "last": layout.last}[pool](output.states)


def _largest(states: Tensor, layout: Layout) -> Tensor:
    """Feature by feature, the largest of each sequence's real tokens."""
    if isinstance(layout, Padded):
        real = layout.attend_BS
        return (states if real is None else states.masked_fill(~real[:, :, None], -torch.inf)).amax(1)
    bounds: Tensor = layout.bounds  # type: ignore[attr-defined]  # a packed row has them
    largest = torch.segment_reduce(states[0].float(), "max", lengths=bounds.diff().long(), axis=0, unsafe=True)
    return largest.to(states.dtype)
