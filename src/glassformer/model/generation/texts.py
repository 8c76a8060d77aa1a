"""Texts in, texts out: a loaded model that writes, and its tokenizer."""

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
from glassformer.files.texts import check_text, check_vocabulary, guarded, load_tokenizer
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
    """What follows one text."""

    prompt: str | None
    text: str | None  # the new text alone; None without a tokenizer
    tokens: list[int]  # the new tokens, without the one that ended the text
    ended: bool  # by such a token; otherwise max_new_tokens were reached
    score: float  # sum of log-probabilities; of a beam, divided by length^length_penalty

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


class TextWriter:
    """A loaded model that writes texts, and its tokenizer; see `TextGenerator`, `Translator`."""

    def __init__(self, folder: str | Path, *, dtype: str | torch.dtype = "float32", device: str | None = None) -> None:
        loaded = load_encoder(folder, dtype=dtype, device=device, decoders=True)
        self.folder: CheckpointFolder = loaded.folder
        self.check_kind(self.folder.spec, f"{path_text(self.folder.path)} ({self.folder.model_class})")
        self.model: Any = self.made_fast(loaded.encoder)
        self.tokens: Tokens = read_tokens(self.folder.path, self.folder.config, self.written_spec.vocab or 0)

    @property
    def read_spec(self) -> EncoderSpec:
        """The stack that reads what is given."""
        raise NotImplementedError

    @property
    def written_spec(self) -> EncoderSpec:
        """The stack that writes."""
        raise NotImplementedError

    def check_kind(self, spec: EncoderSpec, called: str) -> None:
        """Refuse a model that does something else."""
        raise NotImplementedError

    def made_fast(self, model: Any) -> Any:
        """The same model, with what makes it faster here."""
        raise NotImplementedError

    def search(self, prompts: list[list[int]], choice: Choice, called: list[str]) -> Iterator[tuple[list[int], list[Found]]]:
        """The numbers of some prompts and what was found for them, in any order."""
        raise NotImplementedError

    def said(self, one: Prompt, prompt: list[int], found: Found) -> Any:
        """What was found, as text."""
        raise NotImplementedError

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer."""
        return load_tokenizer(self.folder.path)

    def write(self, texts: Iterable[Prompt], choice: Choice, *, name: Callable[[int], str] = "text {}".format) -> Iterator[Any]:
        """What is written for each text, in their order."""
        given = iter(texts)
        start = 0
        while window := list(islice(given, WINDOW)):
            called = [name(start + number) for number in range(len(window))]
            prompts = [self.ids(one, what) for one, what in zip(window, called, strict=True)]
            found: dict[int, Found] = {}
            for numbers, some in self.search(prompts, choice, called):
                found.update(zip(numbers, some, strict=True))
            for number, (one, prompt) in enumerate(zip(window, prompts, strict=True)):
                yield self.said(one, prompt, found[number])
            start += len(window)

    def ids(self, one: Prompt, name: str) -> list[int]:
        """A prompt as tokens; a text of which only special tokens are left has none."""
        if not isinstance(one, str):
            if not isinstance(one, Sequence) or not all(type(token) is int for token in one):
                raise GlassformerError(f"{name} must be a text or a list of token ids, found {shown(one)}.")
            return [int(token) for token in one]
        encoding = self._encoding(one, name)
        return [] if all(encoding.special_tokens_mask) else list(encoding.ids)

    def own_ids(self, text: str, name: str) -> list[int]:
        """The tokens of a text, without those that the tokenizer puts around it."""
        encoding = self._encoding(text, name)
        return [token for token, special in zip(encoding.ids, encoding.special_tokens_mask, strict=True) if not special]

    def _encoding(self, text: str, name: str) -> Any:
        check_text(text, name)
        encoding = guarded(f"{name} cannot be tokenized", lambda: self.tokenizer.encode(text))
        check_vocabulary(self.tokenizer, encoding, name, self.read_spec.vocab)
        return encoding


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
            raise GlassformerError(f"{called} is an encoder-decoder: it writes a text for another one. {way}")
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

    def said(self, one: Prompt, prompt: list[int], found: Found) -> Continuation:
        """That of prompt and new tokens together, so that blanks between them are right."""
        if not isinstance(one, str):
            return Continuation(None, None, *found)
        before, whole = (self.tokenizer.decode(ids) for ids in (prompt, [*prompt, *found.tokens]))
        text = whole[len(before) :] if whole.startswith(before) else self.tokenizer.decode(found.tokens)
        return Continuation(one, text, *found)
