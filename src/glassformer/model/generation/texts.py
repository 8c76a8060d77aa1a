"""Texts in, texts out: a loaded decoder with its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import torch

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.files.texts import check_text, check_vocabulary, guarded, load_tokenizer
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.fast.onednn import laid_out, serves
from glassformer.model.fast.replacing import apply
from glassformer.model.generation.generate import continued
from glassformer.model.generation.search import Found
from glassformer.model.generation.settings import Choice, Tokens, read_tokens

WINDOW = 1024  # texts that are sorted by length together

Prompt: TypeAlias = str | Sequence[int]  # a text, or its tokens


@dataclass(frozen=True)
class Continuation:
    """What follows one text."""

    prompt: str | None
    text: str | None  # the new text alone; None without a tokenizer
    tokens: list[int]  # the new tokens, without the one that ended the text
    ended: bool  # by such a token; otherwise max_new_tokens were reached
    score: float  # sum of log-probabilities; of a beam, divided by length^length_penalty

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


class TextGenerator:
    """`for one in TextGenerator(folder).continue_texts(texts, choice): print(one.text)`."""

    def __init__(self, folder: str | Path, *, dtype: str | torch.dtype = "float32", device: str | None = None) -> None:
        loaded = load_encoder(folder, dtype=dtype, device=device, decoders=True)
        self.folder: CheckpointFolder = loaded.folder
        spec = loaded.encoder.spec
        if not spec.predicts_next:
            what = "is an encoder: it predicts no next token" if not self.is_decoder else "has no matrix for the logits"
            way = f"For vectors: glassformer encode {path_text(self.folder.path)} --text …"
            raise GlassformerError(f"{path_text(self.folder.path)} ({self.folder.model_class}) {what}. {way}")
        model = apply(loaded.encoder)
        self.model: Encoder = laid_out(model) if serves(model) else model
        self.tokens: Tokens = read_tokens(self.folder.path, self.folder.config, spec.vocab or 0)

    @property
    def is_decoder(self) -> bool:
        return type(self.folder.spec).__name__ == "DecoderSpec"

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer."""
        return load_tokenizer(self.folder.path)

    def continue_texts(
        self, texts: Iterable[Prompt], choice: Choice, *, name: Callable[[int], str] = "text {}".format
    ) -> Iterator[Continuation]:
        """What follows each text, in their order."""
        given = iter(texts)
        start = 0
        while window := list(islice(given, WINDOW)):
            called = [name(start + number) for number in range(len(window))]
            prompts = [self.ids(one, what) for one, what in zip(window, called, strict=True)]
            found: dict[int, Found] = {}
            for numbers, some in continued(self.model, prompts, choice, self.tokens, name=called.__getitem__):
                found.update(zip(numbers, some, strict=True))
            for number, (one, prompt) in enumerate(zip(window, prompts, strict=True)):
                yield self.said(one, prompt, found[number])
            start += len(window)

    def ids(self, one: Prompt, name: str) -> list[int]:
        """A prompt as tokens."""
        if not isinstance(one, str):
            if not isinstance(one, Sequence) or not all(type(token) is int for token in one):
                raise GlassformerError(f"{name} must be a text or a list of token ids, found {shown(one)}.")
            return [int(token) for token in one]
        check_text(one, name)
        encoding = guarded(f"{name} cannot be tokenized", lambda: self.tokenizer.encode(one))
        if encoding.ids:
            check_vocabulary(self.tokenizer, encoding, name, self.model.spec.vocab)
        return list(encoding.ids)

    def said(self, one: Prompt, prompt: list[int], found: Found) -> Continuation:
        """What was found, as text: that of prompt and new tokens together, so that blanks between them are right."""
        if not isinstance(one, str):
            return Continuation(None, None, *found)
        before, whole = (self.tokenizer.decode(ids) for ids in (prompt, [*prompt, *found.tokens]))
        text = whole[len(before) :] if whole.startswith(before) else self.tokenizer.decode(found.tokens)
        return Continuation(one, text, *found)
