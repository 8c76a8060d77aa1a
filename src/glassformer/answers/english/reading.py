"""Translates a question: `How many parameters does the FFN of BERT-base have?` becomes `params(ffn) @ bert-base`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from glassformer.answers.english import forms
from glassformer.answers.english.frame import Frame, framed
from glassformer.answers.english.quantity import require_decoder
from glassformer.answers.english.words import Tag, nouns, tables
from glassformer.answers.quantities import ask
from glassformer.answers.quantities.registry import MEANINGS
from glassformer.configs.presets import known_preset, preset
from glassformer.configs.reading import Request, request_from_words
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.language import read
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.tree import Node, Quantity, rebuilt, walk

MOST_CHARACTERS = 600
USUAL = ("params(ffn, layer=0)", "shape(weights)", "flops(attention) / flops")
MADE_UP = ("layer", "encoder")
# Two values for each size. d_ff is not included, since its default is 4 · d_model, and d_k follows from the others.
TRIED = {"heads": (1, 2), "layers": (1, 2), "vocab": (11, 13), "positions": (2048, 4096), "t": (24, 36), "classes": (3, 5)}


class Read(NamedTuple):
    """The expression of a question, and its words."""

    expression: Node
    words: str


def read_english(text: str, requested: Request | None = None) -> Read:
    """Translate a question into one expression; `requested` is the given spec, which it must not contradict."""
    words = " ".join(text.split())
    if len(words) > MOST_CHARACTERS:
        raise GlassformerError(f"the question has {len(words):,} characters; at most {MOST_CHARACTERS} are allowed.")
    frame = framed(words, requested)
    try:
        if frame.left:
            raise NotUnderstoodError(_not_used(frame.left[0]))
        if requested is not None:
            _require_agreement(frame, requested)
        require_decoder(frame)
        found = forms.listed(frame) or forms.compared(frame) or forms.plain(frame) or forms.size(frame)
        if not found:
            named = frame.quantities or frame.asked or frame.parts
            raise NotUnderstoodError("its words are known, but not together" if named else "it names no known quantity")
        node = read(found)
        _require_closed(node, frame)
    except NotUnderstoodError as why:
        raise _refusal(frame, str(why)) from None
    return Read(node, words)


def _not_used(tag: Tag) -> str:
    if tag.kind == "twice":
        return f"it gives two values for {tag.value}"
    return f"some layers of '{tag.text}' cannot be selected" if tag.kind == "model" else f"'{tag.text}' is not understood here"


def _require_agreement(frame: Frame, requested: Request) -> None:
    """Check that the question does not name another model, head or size than the given spec."""
    spec, own = requested.spec, {"d_k": requested.spec.head_k, "d_v": requested.spec.head_v, "d_ff": requested.spec.ffn_width}
    own |= {
        "t": requested.t or frame.sizes.get("t", 0),
        "batch": requested.batch if requested.batch > 1 else frame.sizes.get("batch", 1),
    }
    needed = [tables("forms")["fields"].get(name, "") for name in frame.nouns]
    others = [field for field in needed if field.startswith("head=") and field != f"head={spec.head}"]
    others += [name for name, size in frame.sizes.items() if own.get(name, getattr(spec, name, size)) != size]
    others += [name for name in frame.models if preset(name) != spec and name != requested.label.partition(" ")[0]]
    if others:
        raise NotUnderstoodError(f"{others[0]} does not agree with the given spec, {requested.label}")
    frame.models.clear()


def _require_closed(node: Node, frame: Frame) -> None:
    """Check that sizes missing from the question do not matter, by evaluating the expression with two values of each."""
    made_up = [one for one in walk(node) if isinstance(one, Quantity) and one.model.partition(" ")[0] in MADE_UP]
    said = {*frame.sizes} | {word.partition("=")[0] for one in made_up for word in one.model.split() if "d_model" not in word}
    said |= {"heads"} if "d_k" in said and "d_model" not in frame.sizes else set()
    width = 24 * frame.sizes.get("heads", 8)
    for size, values in ({"d_model": (width, 2 * width)} | TRIED).items():
        found = {_value(_with_size(node, size, value)) for value in values} if made_up and size not in said else set()
        if len(found - {None}) > 1:
            raise NotUnderstoodError(f"the answer depends on {size}, which is not given")


def _with_size(node: Node, size: str, value: int) -> Node:
    """Return the expression with one size set in the models that the question's sizes define."""
    node = rebuilt(node, lambda one: _with_size(one, size, value))
    if not isinstance(node, Quantity) or node.model.partition(" ")[0] not in MADE_UP:
        return node
    kept = [word for word in node.model.split() if word.partition("=")[0] != size]
    return replace(node, model=" ".join([*kept, f"{size}={value}"]))


def _value(node: Node | str, requested: Request | None = None) -> str | None:
    """Return the value of an expression as text; None if it has no value."""
    try:
        return str(ask(node, requested).to_dict()["value"])
    except GlassformerError:
        return None


@lru_cache(maxsize=256)
def _runs(expression: str, model: str) -> bool:
    return _value(expression, request_from_words(model.split(), decoders=True)) is not None


def _refusal(frame: Frame, why: str) -> GlassformerError:
    """Return an error that says why, with three related commands that can be run."""
    given = frame.beside.label if frame.beside is not None else ""
    usual = "vit-b16" if {"patches", "tokens"} & {*frame.quantities} else "bert-base"
    model = given if given and known_preset(given.split()[0]) else (frame.models or [usual])[0]
    near = [f"params({nouns()[name].params})" for name in frame.parts] + [
        f"shape({nouns()[name].tensor})" for name in frame.parts
    ]
    known = [tables("forms")["called"].get(one, one) for one in frame.quantities]
    near += [MEANINGS[name].example.partition(" @")[0] for name in known if name in MEANINGS] + frame.asked
    run = [one for one in dict.fromkeys((*near, *USUAL)) if "()" not in one and _runs(one, model)]
    tries = "; ".join(f'glassformer ask "{expression}" {model}' for expression in run[:3])
    return GlassformerError(f"'{shown(frame.text)}' cannot be answered: {why}. Try: {tries}")
