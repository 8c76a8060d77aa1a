"""Generation in Python: texts continued by a decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import path
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError, needs_torch

if TYPE_CHECKING:
    from glassformer.encoding.streams import Given
    from glassformer.model.generation.texts import Continuation


@dataclass(frozen=True)
class Generated(Sequence["Continuation"]):
    """What follows each text, in their order; `texts` are the new texts alone."""

    found: tuple[Continuation, ...]
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str | None]:
        """The new texts."""
        return [one.text for one in self.found]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __iter__(self) -> Iterator[Continuation]:
        return iter(self.found)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"continuations": [one.to_dict() for one in self.found], "notes": list(self.notes)}


@needs_torch
def generate(  # noqa: PLR0913 - one word an option of the command
    checkpoint: str | Path,
    texts: Given | Sequence[Sequence[int]],
    *,
    max_new_tokens: int = 64,
    beams: int = 1,
    length_penalty: float = 1.0,
    early_stop: bool = False,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    column: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
) -> Generated:
    """Continue each text with a decoder: `gf.generate("models/gpt2", ["Once upon a time"], beams=4).texts`.

    Greedy unless `beams` asks for beam search, or `temperature`, `top_k` or `top_p` for sampling. `texts` is a text, several, or
    a `Path`, as in `encode`; a list of lists is read as token ids. The texts of a batch do not change one another's results.
    """
    from glassformer.encoding import streams
    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.texts import TextGenerator

    choice = Choice(
        max_new_tokens=max_new_tokens,
        beams=beams,
        length_penalty=length_penalty,
        early_stop=early_stop,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    )
    folder = model_folder(path("checkpoint", checkpoint))
    generator = TextGenerator(folder, dtype=dtype, device=streams.device_for(device))
    if isinstance(texts, list | tuple) and texts and all(isinstance(one, list | tuple) for one in texts):
        found = tuple(generator.write(texts, choice))
    else:
        with streams.texts_of(texts, column) as given:  # type: ignore[arg-type]  # lists of ids were handled above
            found = tuple(generator.write(given, choice, name=given.name))
    if not found:
        raise GlassformerError("there are no texts: the input is empty.")
    notes = tuple(f"{key} of generation_config.json is not applied." for key in generator.tokens.not_applied)
    if not generator.tokens.ends:
        notes += (f"the model names no end-of-sequence token (eos_token_id): each text has {max_new_tokens} new tokens.",)
    return Generated(found, notes)
