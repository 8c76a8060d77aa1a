"""Translation: a loaded encoder-decoder with its tokenizer, and the cross-attention of each generated token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.model.encoder import Inputs, Wanted
from glassformer.model.fast.onednn import laid_out, serves
from glassformer.model.fast.replacing import apply, with_parts
from glassformer.model.generation.generate import translated
from glassformer.model.generation.search import Found
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.steady import SteadySearch
from glassformer.model.generation.steady import serves as serves_steadily
from glassformer.model.generation.texts import Prompt, TextWriter
from glassformer.model.seq2seq import Pair
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec


class Look(NamedTuple):
    """The source token with the largest cross-attention weight for a generated token."""

    target: str
    source: str
    weight: float


@dataclass(frozen=True)
class Alignment:
    """The cross-attention weights with which each token was chosen: the mean over all heads and layers."""

    source: tuple[str, ...]  # its tokens
    target: tuple[str, ...]  # the generated tokens
    weights: tuple[tuple[float, ...], ...]  # [target, source]; each row sums to 1
    special: tuple[bool, ...]  # which tokens of the source are special tokens

    @property
    def looks(self) -> list[Look]:
        """For each generated token, the source token with the largest weight; special tokens are left out."""
        words = [place for place, special in enumerate(self.special) if not special] or list(range(len(self.source)))
        found = []
        for word, row in zip(self.target, self.weights, strict=True):
            place = max(words, key=row.__getitem__)
            found.append(Look(word, self.source[place], row[place]))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self) | {"looks": [look._asdict() for look in self.looks]}


@dataclass(frozen=True)
class Translation:
    """The translation of one source."""

    source: str | None
    text: str | None  # None without a tokenizer
    tokens: list[int]  # the generated tokens, without the end token
    ended: bool  # by an end token; otherwise max_new_tokens was reached
    score: float  # sum of log-probabilities; of a beam, divided by length^length_penalty
    alignment: Alignment | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        plain = {name: getattr(self, name) for name in ("source", "text", "tokens", "ended", "score")}
        return plain if self.alignment is None else {**plain, "alignment": self.alignment.to_dict()}


class Translator(TextWriter):
    """`for one in Translator(folder).write(texts, choice): print(one.text)`; with `aligned` each has its alignment."""

    model: Seq2Seq

    def __init__(
        self,
        folder: str | Path,
        *,
        dtype: str | torch.dtype = "float32",
        device: str | None = None,
        aligned: bool = False,
    ) -> None:
        super().__init__(folder, dtype=dtype, device=device)
        self.aligned = aligned
        self.steady: SteadySearch | None = None
        missing = "eos_token_id" if not self.tokens.ends else "decoder_start_token_id" if not self.tokens.start else None
        if missing is not None:
            why = "no token ends a translation" if missing == "eos_token_id" else "no token begins a translation"
            raise GlassformerError(
                f"{path_text(self.folder.path)} names no {missing}: {why}. Add it to generation_config.json of that folder."
            )

    @property
    def read_spec(self) -> EncoderSpec:
        return self.model.spec.encoder

    @property
    def written_spec(self) -> EncoderSpec:
        return self.model.spec.decoder

    @property
    def room(self) -> int | None:
        """The number of new tokens for which the decoder has positions; None: any number."""
        longest = self.written_spec.longest
        return None if longest is None else longest - 1

    def check_kind(self, spec: EncoderSpec, called: str) -> None:
        folder = path_text(self.folder.path)
        if isinstance(spec, DecoderSpec):
            way = f"Continue texts with it: glassformer generate {folder} --text …"
            raise GlassformerError(f"{called} is a decoder: it reads no source. {way}")
        if not isinstance(spec, Seq2SeqSpec):
            way = f"For vectors: glassformer encode {folder} --text …"
            raise GlassformerError(f"{called} is an encoder: it does not generate text. {way}")
        if spec.reads != "tokens":
            raise GlassformerError(f"{called} reads {spec.reads}, and its decoder generates text: it cannot translate texts.")
        if not spec.predicts_next:
            raise GlassformerError(f"{called} has no output matrix, so it cannot generate text. Load the whole model.")

    def made_fast(self, model: Any) -> Any:
        model = apply(model)
        return with_parts(model, encoder=laid_out(model.encoder), decoder=laid_out(model.decoder)) if serves(model) else model

    def search(self, prompts: list[list[int]], choice: Choice, called: list[str]) -> Iterator[tuple[list[int], list[Found]]]:
        if self.steady is None or self.steady.choice != choice:
            self.steady = SteadySearch(self.model, choice, self.tokens) if serves_steadily(self.model, choice) else None
        return translated(self.model, prompts, choice, self.tokens, name=called.__getitem__, steady=self.steady)

    def said(self, given: list[Prompt], prompts: list[list[int]], found: list[Found]) -> Iterator[Translation]:
        texts = iter(self.decoded([what.tokens for one, what in zip(given, found, strict=True) if isinstance(one, str)]))
        for one, prompt, what in zip(given, prompts, found, strict=True):
            alignment = self.alignment(prompt, what.tokens, named=isinstance(one, str)) if self.aligned else None
            source, text = (one, next(texts).strip()) if isinstance(one, str) else (None, None)
            yield Translation(source, text, tokens=what.tokens, ended=what.ended, score=what.score, alignment=alignment)

    @torch.inference_mode()
    def alignment(self, source: list[int], target: list[int], *, named: bool) -> Alignment:
        """The cross-attention of each token of a target, from one pass over the whole target."""
        model = self.model
        here = model.here.device
        read = torch.tensor([source], device=here)
        written = torch.tensor([[self.tokens.start[0], *target[:-1]]], device=here)
        done = model.run(Pair(Inputs(read), Inputs(written)), Wanted(weights=range(model.spec.decoder.layers)))
        mean_UT = torch.stack([weights_BHUT.mean((0, 1)) for weights_BHUT in done.cross.values()]).double().mean(0)
        rows = mean_UT[: len(target)].tolist()
        special = self.special if named else frozenset()
        return Alignment(
            tuple(self.words(source) if named else map(str, source)),
            tuple(self.words(target) if named else map(str, target)),
            tuple(map(tuple, rows)),
            tuple(token in special for token in source),
        )

    def words(self, tokens: list[int]) -> Iterator[str]:
        """The text of tokens."""
        for token in tokens:
            found = self.tokenizer.id_to_token(token)
            yield str(token) if found is None else str(found)

    @property
    def special(self) -> frozenset[int]:
        """The special tokens."""
        return frozenset(token for token, added in self.tokenizer.get_added_tokens_decoder().items() if added.special)
