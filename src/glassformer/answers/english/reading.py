"""Reads a question into one expression: `How many parameters does the FFN of BERT-base have?` is `params(ffn) @ bert-base`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from glassformer.answers.english import forms
from glassformer.answers.english.frame import Frame, framed
from glassformer.answers.english.words import nouns, tables
from glassformer.answers.quantities import ask
from glassformer.answers.quantities.registry import MEANINGS
from glassformer.expressions.language import read
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.tree import Node, Quantity, rebuilt, walk
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import preset
from glassformer.spec.reading import Request, request

MOST_CHARACTERS = 600
USUAL = ("params(ffn, layer=0)", "shape(weights)", "flops(attention) / flops")
MADE_UP = ("layer", "encoder")
# Sizes with two values each. d_ff is left out: where nothing is said it is 4 · d_model, and d_k follows from the others.
TRIED = {"heads": (1, 2), "layers": (1, 2), "vocab": (11, 13), "positions": (2048, 4096), "t": (24, 36), "classes": (3, 5)}


class Read(NamedTuple):
    """The expression that a question was read as, and its words."""

    expression: Node
    words: str


def read_english(text: str, asked: Request | None = None) -> Read:
    """The one expression that a question means; `asked` is the spec beside it, which the question must not contradict."""
    words = " ".join(text.split())
    if len(words) > MOST_CHARACTERS:
        raise GlassformerError(f"the question has {len(words):,} characters; at most {MOST_CHARACTERS} are read.")
    frame = framed(words, asked)
    try:
        if frame.left:
            raise NotUnderstoodError(f"'{frame.left[0].text}' is not understood here")
        if asked is not None:
            _require_agreement(frame, asked)
        found = forms.listed(frame) or forms.compared(frame) or forms.plain(frame) or forms.size(frame)
        if not found:
            raise NotUnderstoodError("it names no quantity that is known here")
        node = read(found)
        _require_closed(node, frame)
    except NotUnderstoodError as why:
        raise _refusal(frame, str(why)) from None
    return Read(node, words)


def _require_agreement(frame: Frame, asked: Request) -> None:
    """The question must not speak of another model, head or size than the spec beside it."""
    spec, own = asked.spec, {"d_k": asked.spec.head_k, "d_v": asked.spec.head_v, "d_ff": asked.spec.ffn_width}
    own |= {"t": asked.t or frame.sizes.get("t", 0), "batch": asked.batch if asked.batch > 1 else frame.sizes.get("batch", 1)}
    needed = [tables("forms")["fields"].get(name, "") for name in frame.nouns]
    others = [field for field in needed if field.startswith("head=") and field != f"head={spec.head}"]
    others += [name for name, size in frame.sizes.items() if own.get(name, getattr(spec, name, size)) != size]
    others += [name for name in frame.models if preset(name) != spec and name != asked.label.partition(" ")[0]]
    if others:
        raise NotUnderstoodError(f"{others[0]} is not what the spec beside it has, {asked.label}")
    frame.models.clear()


def _require_closed(node: Node, frame: Frame) -> None:
    """A size that the question leaves open must not matter: the expression is worked out with two values of it."""
    made_up = [one for one in walk(node) if isinstance(one, Quantity) and one.model.partition(" ")[0] in MADE_UP]
    said = {*frame.sizes} | {word.partition("=")[0] for one in made_up for word in one.model.split() if "d_model" not in word}
    said |= {"heads"} if "d_k" in said and "d_model" not in frame.sizes else set()
    width = 24 * frame.sizes.get("heads", 8)
    for size, values in ({"d_model": (width, 2 * width)} | TRIED).items():
        found = {_value(_with_size(node, size, value)) for value in values} if made_up and size not in said else set()
        if len(found - {None}) > 1:
            raise NotUnderstoodError(f"it leaves open {size}")


def _with_size(node: Node, size: str, value: int) -> Node:
    """The expression with one size put into the models that the question's sizes have made."""
    node = rebuilt(node, lambda one: _with_size(one, size, value))
    if not isinstance(node, Quantity) or node.model.partition(" ")[0] not in MADE_UP:
        return node
    kept = [word for word in node.model.split() if word.partition("=")[0] != size]
    return replace(node, model=" ".join([*kept, f"{size}={value}"]))


def _value(node: Node | str, asked: Request | None = None) -> str | None:
    """What an expression comes to; None where it has no value."""
    try:
        return str(ask(node, asked).to_dict()["value"])
    except GlassformerError:
        return None


@lru_cache(maxsize=256)
def _runs(expression: str, model: str) -> bool:
    return _value(expression, request(model)) is not None


def _refusal(frame: Frame, why: str) -> GlassformerError:
    """One line that says why, and three expressions about what was understood that can be run as they stand."""
    model = (frame.models or ["vit-b16" if {"patches", "tokens"} & {*frame.quantities} else "bert-base"])[0]
    near = [f"params({nouns()[name].params})" for name in frame.parts] + [
        f"shape({nouns()[name].tensor})" for name in frame.parts
    ]
    known = [tables("forms")["called"].get(one, one) for one in frame.quantities]
    near += [MEANINGS[name].example.partition(" @")[0] for name in known if name in MEANINGS] + frame.asked
    run = [one for one in dict.fromkeys((*near, *USUAL)) if "()" not in one and _runs(one, model)]
    tries = "; ".join(f'glassformer ask "{expression}" {model}' for expression in run[:3])
    return GlassformerError(f"'{shown(frame.text)}' is not read: {why}. Try: {tries}")
