"""Texts in, texts out: a loaded model that generates text, and its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import torch

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.checkpoints.special_tokens import Tokens, read_tokens
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.files.texts import check_text, check_vocabulary, cut_into_tokens, guarded, load_tokenizer
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.fast.onednn import laid_out, serves
from glassformer.model.fast.replacing import apply
from glassformer.model.generation.generate import continued
from glassformer.model.generation.search import Found
from glassformer.model.generation.settings import Choice
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec

WINDOW = 1024  # texts that are sorted by length together

Prompt: TypeAlias = str | Sequence[int]  # a text, or its tokens


@dataclass(frozen=True)
class Continuation:
    """The continuation of one text."""

    prompt: str | None
    text: str | None  # the new text alone; None without a tokenizer
    tokens: list[int]  # the new tokens, without the end token
    ended: bool  # by an end token; otherwise max_new_tokens was reached
    score: float  # sum of log-probabilities; of a beam, divided by length^length_penalty

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


class TextWriter:
    """A loaded model that generates text, and its tokenizer; see `TextGenerator`, `Translator`."""

    def __init__(self, folder: str | Path, *, dtype: str | torch.dtype = "float32", device: str | None = None) -> None:
        loaded = load_encoder(folder, dtype=dtype, device=device, decoders=True)
        self.folder: CheckpointFolder = loaded.folder
        self.check_kind(self.folder.spec, f"{path_text(self.folder.path)} ({self.folder.model_class})")
        self.model: Any = self.made_fast(loaded.encoder)
        self.tokens: Tokens = read_tokens(self.folder.path, self.folder.config, self.written_spec.vocab or 0)

    @property
    def read_spec(self) -> EncoderSpec:
        """The spec of the stack that reads the input."""
        raise NotImplementedError

    @property
    def written_spec(self) -> EncoderSpec:
        """The spec of the stack that generates the output."""
        raise NotImplementedError

    def check_kind(self, spec: EncoderSpec, called: str) -> None:
        """Refuse a model of another kind."""
        raise NotImplementedError

    def made_fast(self, model: Any) -> Any:
        """The same model with faster parts, where available."""
        raise NotImplementedError

    def search(self, prompts: list[list[int]], choice: Choice, called: list[str]) -> Iterator[tuple[list[int], list[Found]]]:
        """Yield the indices of some prompts and their results, in any order."""
        raise NotImplementedError

    def said(self, given: list[Prompt], prompts: list[list[int]], found: list[Found]) -> Iterator[Any]:
        """What was found for some texts, as texts."""
        raise NotImplementedError

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer."""
        return load_tokenizer(self.folder.path)

    def write(self, texts: Iterable[Prompt], choice: Choice, *, name: Callable[[int], str] = "text {}".format) -> Iterator[Any]:
        """The output for each text, in input order."""
        given = iter(texts)
        start = 0
        while window := list(islice(given, WINDOW)):
            called = [name(start + number) for number in range(len(window))]
            prompts = self.prompts(window, called)
            found: dict[int, Found] = {}
            for numbers, some in self.search(prompts, choice, called):
                found.update(zip(numbers, some, strict=True))
            yield from self.said(window, prompts, [found[number] for number in range(len(window))])
            start += len(window)

    def prompts(self, given: list[Prompt], called: list[str]) -> list[list[int]]:
        """Prompts as tokens; a text of which only special tokens are left has none."""
        texts = [(one, name) for one, name in zip(given, called, strict=True) if isinstance(one, str)]
        encodings = iter(self.encodings(texts))
        found = []
        for one, name in zip(given, called, strict=True):
            encoding = next(encodings) if isinstance(one, str) else None
            if encoding is None:
                found.append(checked_ids(one, name))
            else:
                found.append([] if all(encoding.special_tokens_mask) else list(encoding.ids))
        return found

    def ids(self, one: Prompt, name: str) -> list[int]:
        """One prompt as tokens."""
        return self.prompts([one], [name])[0]

    def encodings(self, texts: list[tuple[str, str]]) -> list[Any]:
        """Tokenize texts, given with their names, together; one by one only to find the one that cannot be tokenized."""
        for text, name in texts:
            check_text(text, name)
        if not texts:
            return []
        tokenizer, words = self.tokenizer, [text for text, _ in texts]
        try:
            found = list(guarded("texts", lambda: tokenizer.encode_batch_fast(words)))
        except GlassformerError:
            found = [cut_into_tokens(tokenizer, text, name) for text, name in texts]
        for encoding, (_, name) in zip(found, texts, strict=True):
            check_vocabulary(tokenizer, encoding, name, self.read_spec.vocab)
        return found

    def own_ids(self, text: str, name: str) -> list[int]:
        """The tokens of a text, without the special tokens around it."""
        (encoding,) = self.encodings([(text, name)])
        return [token for token, special in zip(encoding.ids, encoding.special_tokens_mask, strict=True) if not special]

    def decoded(self, rows: list[list[int]]) -> list[str]:
        """Tokens as texts, without special tokens."""
        return [str(text) for text in self.tokenizer.decode_batch(rows)] if rows else []


def checked_ids(one: Any, name: str) -> list[int]:
    """A prompt that is given as token ids."""
    if not isinstance(one, Sequence) or not all(type(token) is int for token in one):
        raise GlassformerError(f"{name} must be a text or a list of token ids, found {shown(one)}.")
    return [int(token) for token in one]


class TextGenerator(TextWriter):
    """`for one in TextGenerator(folder).write(texts, choice): print(one.text)`."""

    model: Encoder

    @property
    def read_spec(self) -> EncoderSpec:
        return self.model.spec

    @property
    def written_spec(self) -> EncoderSpec:
        return self.model.spec

    def check_kind(self, spec: EncoderSpec, called: str) -> None:
        folder = path_text(self.folder.path)
        if isinstance(spec, Seq2SeqSpec):
            way = f"Translate with it: glassformer translate {folder} --text …"
            raise GlassformerError(f"{called} is an encoder-decoder: it generates a target for a source. {way}")
        if not spec.predicts_next:
            what = (
                "is an encoder: it predicts no next token"
                if not isinstance(spec, DecoderSpec)
                else "has no matrix for the logits"
            )
            raise GlassformerError(f"{called} {what}. For vectors: glassformer encode {folder} --text …")

    def made_fast(self, model: Any) -> Any:
        model = apply(model)
        return laid_out(model) if serves(model) else model

    def search(self, prompts: list[list[int]], choice: Choice, called: list[str]) -> Iterator[tuple[list[int], list[Found]]]:
        return continued(self.model, prompts, choice, self.tokens, name=called.__getitem__)

    def said(self, given: list[Prompt], prompts: list[list[int]], found: list[Found]) -> Iterator[Continuation]:
        """The text of prompt and new tokens together, so that the space between them is right."""
        rows = [row for row, one in enumerate(given) if isinstance(one, str)]
        before = self.decoded([prompts[row] for row in rows])
        whole = self.decoded([[*prompts[row], *found[row].tokens] for row in rows])
        texts = dict(zip(rows, zip(before, whole, strict=True), strict=True))
        for row, (one, what) in enumerate(zip(given, found, strict=True)):
            if not isinstance(one, str):
                yield Continuation(None, None, *what)
                continue
            start, both = texts[row]
            yield Continuation(one, both[len(start) :] if both.startswith(start) else self.decoded([what.tokens])[0], *what)
