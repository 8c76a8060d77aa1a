"""The encoder that a question names itself."""

from __future__ import annotations

import re
from functools import lru_cache

from glassformer.answers.questions.question import Question
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import known_as, preset_names

PARTS = ("attention", "layer", "encoder")  # presets, and words of any question


def letters(name: str) -> str:
    """A name without what people put between its parts: `BERT-base`, `bert base` and `bert_base` are the same."""
    return "".join(re.findall(r"[a-z0-9]", name.lower()))


@lru_cache(maxsize=1)
def full_name() -> str:
    """A pattern for the names of presets and checkpoints, whatever stands between their parts; the longest first."""
    names = sorted((name for name in known_as() if name not in PARTS), key=len, reverse=True)
    spelled = (r"[-_ /.]?".join(re.findall(r"[a-z]+|[0-9]+", name)) for name in names)
    return rf"(?<![\w-])(?:{'|'.join(spelled)})(?:'s)?(?![\w-])"


def encoder_named(question: Question) -> str:
    """The preset that a question names: `params of W_O in BERT-large`. Refused where it names none, or leaves open which."""
    known = {letters(said): name for said, name in known_as().items()}
    meant = {known[question.model]} if question.model in known else set()
    if question.model and not meant:
        meant = {name for name in preset_names() if letters(name).startswith(question.model)}
    if len(meant) == 1:
        return meant.pop()
    if meant:
        some = [name for name in preset_names() if name in meant][:3]
        raise GlassformerError(f"'{shown(question.text)}' leaves open which encoder: put one behind it, as in {', '.join(some)}.")
    raise GlassformerError(
        f"which encoder? '{shown(question.text)}' names none. Put a preset or a file behind it, as in 'bert-base layers=8' or "
        "'layer d_model=64 heads=4'. 'glassformer presets' lists the names."
    )
