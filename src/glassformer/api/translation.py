"""Translation in Python: texts that an encoder-decoder writes for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import path, yes_no
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError, needs_torch

if TYPE_CHECKING:
    from glassformer.encoding.streams import Given
    from glassformer.model.generation.translations import Translation

USUAL_LENGTH = 200  # new tokens at most, where nothing is said and the positions allow so many


@dataclass(frozen=True)
class Translated(Sequence["Translation"]):
    """What was written for each text, in their order; `texts` are the new texts alone."""

    found: tuple[Translation, ...]
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str | None]:
        """The new texts."""
        return [one.text for one in self.found]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __iter__(self) -> Iterator[Translation]:
        return iter(self.found)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"translations": [one.to_dict() for one in self.found], "notes": list(self.notes)}


@needs_torch
def translate(  # noqa: PLR0913 - one word an option of the command
    checkpoint: str | Path,
    texts: Given | Sequence[Sequence[int]],
    *,
    max_new_tokens: int | None = None,
    beams: int = 1,
    length_penalty: float = 1.0,
    early_stop: bool = False,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    alignment: bool = False,
    column: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
) -> Translated:
    """Translate each text with an encoder-decoder: `gf.translate("models/opus-mt-en-fr", ["A small house."], beams=4).texts`.

    Greedy unless `beams` asks for beam search, or `temperature`, `top_k` or `top_p` for sampling. At most `max_new_tokens` are
    written: 200, or as many as the decoder has positions for. `texts` is a text, several, or a `Path`, as in `encode`; a list of
    lists is read as token ids. With `alignment` each translation says where the decoder looked for each token.
    """
    from glassformer.encoding import streams
    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.translations import Translator

    choice = Choice(
        max_new_tokens=USUAL_LENGTH if max_new_tokens is None else max_new_tokens,
        beams=beams,
        length_penalty=length_penalty,
        early_stop=early_stop,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    )
    folder, aligned = model_folder(path("checkpoint", checkpoint)), yes_no("alignment", alignment)
    translator = Translator(folder, dtype=dtype, device=streams.device_for(device), aligned=aligned)
    if max_new_tokens is None and translator.room is not None:
        choice = replace(choice, max_new_tokens=max(min(USUAL_LENGTH, translator.room), 1))
    if isinstance(texts, list | tuple) and texts and all(isinstance(one, list | tuple) for one in texts):
        found = tuple(translator.write(texts, choice))
    else:
        with streams.texts_of(texts, column) as given:  # type: ignore[arg-type]  # lists of ids were handled above
            found = tuple(translator.write(given, choice, name=given.name))
    if not found:
        raise GlassformerError("there are no texts: the input is empty.")
    return Translated(found, notes_of(found, translator.tokens.not_applied, choice.max_new_tokens))


def notes_of(found: Sequence[Translation], not_applied: Sequence[str], most: int) -> tuple[str, ...]:
    """What the caller should know: settings that are not applied, and translations that were cut off."""
    notes = tuple(f"{key} of generation_config.json is not applied." for key in not_applied)
    cut = sum(not one.ended for one in found)
    if not cut:
        return notes
    some = "1 translation was" if cut == 1 else f"{cut:,} translations were"
    return (*notes, f"{some} not finished after {most} new tokens: max_new_tokens (--max-new-tokens) allows more.")
