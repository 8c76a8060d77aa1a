"""Presets that are half of a model: the encoder of one that has a decoder, too, is not taken for the whole of it."""

from __future__ import annotations

import re
from dataclasses import replace

from glassformer.answers.questions import Question
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import preset_doc, preset_names
from glassformer.spec.reading import Request

IN_EVERY_LAYER = ("layers", "attention", "qkv", "output", "ffn", "norms", "biases", "weights")
_OF_BOTH = r"\b(?:in total|in all|altogether|overall|total number)\b"
WHOLE = ("params", "bytes", "flops", "macs", "share", "versus")


def is_half(name: str) -> bool:
    """Whether a preset is the encoder of a model that has a decoder, too."""
    return name in preset_names() and re.search(r"\bthe encoder\b|\bencoder of\b|'s encoder\b", preset_doc(name)) is not None


def with_all_of_it(question: Question, asked: Request) -> Question:
    """`The encoder of Whisper` is all of it, its convolutions, too; `the encoder of BERT` may be its layers alone."""
    called = question.target == "layers" and not re.search(r"layer|stack|block", question.text.lower())
    return replace(question, target=None) if called and is_half(asked.label.split(" ")[0]) else question


def require_no_half(question: Question, meant: tuple[str, ...]) -> None:
    """A preset that is the encoder of a larger model is not taken for the whole of it."""
    low = question.text.lower()
    narrow = question.one_layer or question.one_head or re.search(r"encoder|sub-?layer|\bblock\b", low)
    whole = question.kind in WHOLE and question.target in (None, *IN_EVERY_LAYER) and not narrow
    whole = whole or (question.kind == "width" and not narrow and re.search(_OF_BOTH, low) is not None)
    halves = [name for name in meant if is_half(name)]
    if whole and halves:
        raise GlassformerError(
            f"'{shown(question.text)}': {halves[0]} is its encoder alone, without the decoder. Put {halves[0]} behind the "
            "question to ask for that, or say 'the encoder'."
        )
