"""The encoder that a question names itself."""

from __future__ import annotations

import re
from functools import lru_cache

from glassformer.answers.questions.question import Question
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import known_as, preset_names

PARTS = ("attention", "layer", "encoder")  # presets, and words of any question


@lru_cache(maxsize=1024)
def letters(name: str) -> str:
    """A name without what people put between its parts: `BERT-base`, `bert base` and `bert_base` are the same."""
    found = "".join(re.findall(r"[a-z0-9]", name.lower()))
    return re.sub(r"^(vit|deit)(tiny|small|base|large|huge)", lambda size: size[1] + size[2][0], found)  # ViT-Base is ViT-B


@lru_cache(maxsize=1)
def full_name() -> str:
    """A pattern for the names of presets and checkpoints, whatever stands between their parts; the longest first."""
    names = sorted((name for name in known_as() if name not in PARTS), key=len, reverse=True)
    spelled = (r"[-_ /.]?".join(re.findall(r"[a-z]+|[0-9]+", name)) for name in names)
    return rf"(?<![\w-])(?:{'|'.join(spelled)})(?:'s)?(?![\w-])"


def presets_of(model: str) -> tuple[str, ...]:
    """The presets that the letters of a name may mean: the one that has it, or those of a family."""
    known = {letters(said): name for said, name in known_as().items()}
    if model in known:
        return (known[model],)
    return tuple(name for name in preset_names() if model and letters(name).startswith(model))


def encoder_named(question: Question) -> str:
    """The preset that a question names: `params of W_O in BERT-large`. Refused where it names none, or leaves open which."""
    meant = presets_of(question.model)
    if len(meant) == 1:
        return meant[0]
    if meant:
        some = ", ".join(meant[:3])
        raise GlassformerError(f"'{shown(question.text)}' leaves open which encoder: put one behind it, as in {some}.")
    raise GlassformerError(
        f"which encoder? '{shown(question.text)}' names none, and says no sizes. Put a preset or a file behind it, as in "
        "'bert-base layers=8' or 'layer d_model=64 heads=4', or say the sizes: 'with d_model = 512 and 8 heads'."
    )
