"""The commands `generate` and `translate` in Python: continue texts with a decoder, translate them with an encoder-decoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from glassformer.arguments import path, yes_no
from glassformer.checkpoints.folder import model_folder
from glassformer.checkpoints.search_settings import as_options, differing
from glassformer.errors import GlassformerError, needs_torch
from glassformer.files.texts import Text

if TYPE_CHECKING:
    from glassformer.encoding.streams import Given
    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.texts import Continuation, TextWriter
    from glassformer.model.generation.translations import Translation, Translator

USUAL_LENGTH = 200  # default for the maximum number of new tokens of a translation, limited by the decoder's positions


@dataclass(frozen=True)
class Written(Sequence[Any]):
    """The generated text for each input, in order; `texts` contains only the new texts."""

    KIND: ClassVar[str]  # the key of the list in JSON

    found: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str | None]:
        """The new texts."""
        return [one.text for one in self.found]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.found)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {self.KIND: [one.to_dict() for one in self.found], "notes": list(self.notes)}


class Generated(Written):
    """The continuation of each text."""

    KIND = "continuations"

    found: tuple[Continuation, ...]


class Translated(Written):
    """The translation of each text."""

    KIND = "translations"

    found: tuple[Translation, ...]


@needs_torch
def generate(  # noqa: PLR0913 - one argument for each option of the command
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

    Decoding is greedy by default; `beams` selects beam search, and `temperature`, `top_k` or `top_p` select sampling. `texts`
    is a string, a list or a `Path`, as in `encode`; a list of lists is read as token ids. The result for a text does not depend
    on the others in its batch.
    """
    from glassformer.encoding.devices import device_for
    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.texts import TextGenerator

    how = Choice(
        max_new_tokens=max_new_tokens,
        beams=beams,
        length_penalty=length_penalty,
        early_stop=early_stop,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    )
    generator = TextGenerator(model_folder(path("checkpoint", checkpoint)), dtype=dtype, device=device_for(device))
    found, notes = written(generator, texts, column, how)
    if not generator.tokens.ends:
        notes += (f"the model has no end-of-sequence token (eos_token_id), so each text has {max_new_tokens} new tokens.",)
    return Generated(found, notes)


@needs_torch
def translate(  # noqa: PLR0913 - one argument for each option of the command
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

    Decoding is greedy by default; `beams` selects beam search, and `temperature`, `top_k` or `top_p` select sampling.
    `max_new_tokens` is by default 200, or the number of the decoder's positions if smaller. `texts` is a string, a list or a
    `Path`, as in `encode`; a list of lists is read as token ids. With `alignment`, each translation has, for each token, the
    source token with the largest cross-attention weight.
    """
    searching: dict[str, Any] = {"beams": beams, "length_penalty": length_penalty, "early_stop": early_stop, "seed": seed}
    searching |= {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    loading = {"dtype": dtype, "device": device, "aligned": yes_no("alignment", alignment)}
    translator, how = translator_for(path("checkpoint", checkpoint), loading, max_new_tokens=max_new_tokens, **searching)
    found, notes = written(translator, texts, column, how)
    if cut := sum(not one.ended for one in found):
        some = "1 translation was" if cut == 1 else f"{cut:,} translations were"
        notes += (f"{some} not finished after {how.max_new_tokens} new tokens: increase max_new_tokens (--max-new-tokens).",)
    return Translated(found, notes)


def translator_for(
    checkpoint: Path, loading: dict[str, Any], *, max_new_tokens: int | None, **searching: Any
) -> tuple[Translator, Choice]:
    """Return a loaded encoder-decoder and its search settings, by default with at most 200 new tokens."""
    from glassformer.encoding.devices import device_for
    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.translations import Translator

    how = Choice(max_new_tokens=USUAL_LENGTH if max_new_tokens is None else max_new_tokens, **searching)
    translator = Translator(model_folder(checkpoint), **loading | {"device": device_for(loading["device"])})
    if max_new_tokens is None and translator.room is not None:
        how = replace(how, max_new_tokens=max(min(USUAL_LENGTH, translator.room), 1))
    return translator, how


def _single(texts: Iterable[Text]) -> Iterator[str]:
    for text in texts:
        if isinstance(text, tuple):
            raise GlassformerError(
                "two columns are read as pairs of texts, which only encoders support: name one column (--column)."
            )
        yield text


def written(writer: TextWriter, texts: Any, column: str | None, how: Choice) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return what `writer` writes for each text, and the settings of the checkpoint that are not applied."""
    from glassformer.encoding.streams import texts_of

    if isinstance(texts, list | tuple) and texts and all(isinstance(one, list | tuple) for one in texts):
        found = tuple(writer.write(texts, how))
    else:
        with texts_of(texts, column) as given:
            found = tuple(writer.write(_single(given), how, name=given.name))
    if not found:
        raise GlassformerError("there are no texts: the input is empty.")
    notes = tuple(f"{key} of generation_config.json is not applied." for key in writer.tokens.not_applied)
    unused = differing(writer.tokens.suggested, vars(how))
    if unused:
        notes += (f"generation_config.json suggests another search: {as_options(unused)}",)
    return found, notes
