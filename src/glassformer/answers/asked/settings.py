"""Answers that are one size of an encoder: tokens, patches, the width of a head, the divisor of the scores, any setting."""

from __future__ import annotations

import math
import re

from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.questions import Question, phrases
from glassformer.program import Program
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

UNITS = {
    "heads": "heads",
    "kv_heads": "heads",
    "group": "heads of queries for each of keys and values",
    "layers": "layers",
    "vocab": "tokens",
    "positions": "tokens",
    "segments": "segments",
    "frames": "frames",
    "relative_rows": "rows",
}


def tokens(question: Question, asked: Request, program: Program) -> Answer:
    """How many patches an image is cut into, or how many tokens come of it."""
    spec, length = asked.spec, program.sizes.t
    if spec.reads == "frames" and question.kind == "patches":
        raise GlassformerError("this encoder reads sound, no image: it has no patches.")
    if spec.reads == "frames":
        line = Line("tokens", "frames / 2", f"{spec.frames} / 2", length)
        return made(question, asked, length, "tokens", "positions after the second convolution", [line], [])
    if spec.reads != "image":
        raise GlassformerError(
            "the number of tokens is yours to choose here (t=…): it follows from the spec only for images and sounds."
        )
    down, across = spec.patch_grid
    extra = spec.class_tokens + spec.registers
    if question.kind == "patches":
        line = Line("patches", "patches down · patches across", f"{down} · {across}", spec.patches)
        with_tokens = Other("with the learned tokens", length, excuses=False)
        return made(question, asked, spec.patches, "patches", "whole patches", [line], [with_tokens])
    line = Line("tokens", "patches down · patches across + tokens added", f"{down} · {across} + {extra}", length)
    alone = Other("patches alone", spec.patches, excuses=False)
    return made(question, asked, length, "tokens", "patches and learned tokens", [line], [alone])


def batch_tokens(question: Question, asked: Request, program: Program) -> Answer:
    """How many tokens a batch holds, padding counted."""
    batch, length = program.sizes.batch, program.sizes.t
    if batch == 1 and "batch" not in dict(question.stated):
        raise GlassformerError(f"'{shown(question.text)}' leaves open the batch: say 'batch size 32', or write batch=32.")
    line = Line("tokens", "batch · t", f"{batch} · {length}", batch * length)
    wrongs = [mistaken("bytes_and_units", "one input of the batch", length)] if batch > 1 else []
    return made(question, asked, batch * length, "tokens", "padding counted", [line], [], wrongs)


def updates(question: Question, asked: Request) -> Answer:
    """How often the weights change in so many epochs; the last batch of an epoch may be smaller."""
    given = dict(question.given)
    batch = given.get("batch") or (asked.batch if asked.batch > 1 else 0)
    if not batch:
        raise GlassformerError(f"'{shown(question.text)}': how many rows make one update? Say 'batch 32', or write batch=32.")
    if asked.batch not in (1, batch):
        raise GlassformerError(f"'{shown(question.text)}' states batch={batch}, and the spec has batch={asked.batch}.")
    rows, epochs, together = given["rows"], given.get("epochs", 1), batch * given.get("accumulated", 1)
    whole, dropped = epochs * -(-rows // together), epochs * (rows // together)
    value, other = (dropped, whole) if "dropped" in given else (whole, dropped)
    signs = "⌊rows / {}⌋" if "dropped" in given else "⌈rows / {}⌉"
    symbols = signs.format("(batch · batches an update)" if "accumulated" in given else "batch")
    numbers = signs.format(f"({batch} · {given['accumulated']})" if "accumulated" in given else batch).replace("rows", str(rows))
    several = epochs > 1
    line = Line("updates", f"epochs · {symbols}" if several else symbols, f"{epochs} · {numbers}" if several else numbers, value)
    said = "the last batch dropped where it is not full" if "dropped" in given else "the last, smaller batch counted"
    beside = Other("the last, smaller batch counted" if "dropped" in given else "the last, smaller batch dropped", other)
    convention = f"{rows:,} rows, batch={batch}, {said}"
    return made(question, asked, value, "updates", convention, [line], [beside])


def all_heads(question: Question, asked: Request) -> Answer:
    """The heads of every layer together."""
    spec = asked.spec
    line = Line("heads", "layers · heads", f"{spec.layers} · {spec.heads}", spec.layers * spec.heads)
    together = re.search(phrases.EVERYWHERE, question.text.lower()) is not None  # said so, it is no other convention
    one = Other("in each layer", spec.heads, excuses=not together)
    return made(question, asked, spec.layers * spec.heads, "heads", "all layers together", [line], [one])


def norms(question: Question, asked: Request, program: Program) -> Answer:
    """How many norms there are, each with a scale of its own."""
    found = [parameter.name for parameter in program.parameters if parameter.tensor.symbol == "gamma"]
    inside = [name for name in found if name.startswith("layers.")]
    line = Line("norms", "in layers + elsewhere", f"{len(inside)} + {len(found) - len(inside)}", len(found))
    each = [Other("in each layer", len(inside) // asked.spec.layers)] if inside else []
    return made(question, asked, len(found), "norms", "of the whole encoder", [line], each)


def outputs(question: Question, asked: Request) -> Answer:
    """What a task head gives out for each thing that it judges."""
    spec = asked.spec
    if spec.head == "none":
        raise GlassformerError(f"'{shown(question.text)}': this encoder has no task head. Write head=classify or head=mlm.")
    value = spec.vocab if spec.head in ("mlm", "pretrain") and spec.vocab else spec.classes
    name = "vocab" if value == spec.vocab else "classes"
    return made(question, asked, value, "outputs", "the task head's", [Line("outputs", name, str(value), value)], [])


def expansion(question: Question, asked: Request) -> Answer:
    """How many times wider the feed-forward block is."""
    spec = asked.spec
    value = spec.ffn_width / spec.d_model
    line = Line("expansion", "d_ff / d_model", f"{spec.ffn_width} / {spec.d_model}", value)
    whole = int(value) if value.is_integer() else value
    return made(question, asked, whole, "", "d_ff divided by d_model", [line], [])


_EMBEDDED = re.compile(
    r"\bembeddings?(?: vector)? (?:size|dim|width)|\b(?:size|dimension\w*|width) of (?:the |its )?(?:token |word )?embeddings?",
    re.I,
)


def setting(question: Question, asked: Request) -> Answer:
    """A field of the spec, or what follows where it is not given."""
    spec, name = asked.spec, question.target or ""
    if name == "d_model" and spec.embedding_size not in (None, spec.d_model) and _EMBEDDED.search(question.text):
        line = Line("embedding_size", "as given", str(spec.embedding_size), spec.embedding_size or 0)
        hidden = [Other("the hidden size", spec.d_model)]
        return made(
            question, asked, line.value, "features", "of the token table, which is projected to the hidden size", [line], hidden
        )
    derived = {
        "d_k": (spec.head_k, spec.d_k, "d_model / heads", f"{spec.d_model} / {spec.heads}"),
        "d_v": (spec.head_v, spec.d_v, "d_k", str(spec.head_k)),
        "group": (spec.group, None, "heads / kv_heads", f"{spec.heads} / {spec.key_heads}"),
        "kv_heads": (spec.key_heads, spec.kv_heads, "heads", str(spec.heads)),
        "frames": (spec.frames, None, "2 · positions", f"2 · {spec.positions}"),
        "d_ff": (spec.ffn_width, spec.d_ff, "4 · d_model", f"4 · {spec.d_model}"),
    }
    value, given, symbols, numbers = derived.get(name, (getattr(spec, name), getattr(spec, name), "", ""))
    if (name == "frames" and spec.mels is None) or (name == "relative_rows" and not spec.relative):
        what = "reads no sound" if name == "frames" else "has no table of relative positions"
        raise GlassformerError(f"'{shown(question.text)}': this encoder {what}.")
    if value is None:
        raise GlassformerError(f"'{shown(question.text)}': this encoder has no {name}.")
    line = Line(name, "as given", str(value), value) if given is not None else Line(name, symbols, numbers, value)
    wrongs = [mistaken("ffn_width_assumed_4d", "d_ff taken as 4 · d_model", 4 * spec.d_model)] if name == "d_ff" else []
    convention = "one head" if name in ("d_k", "d_v") else "each layer" if name == "heads" else "as the spec has it"
    others = [Other("in all layers", spec.heads * spec.layers)] if name == "heads" and not _each_layer(question) else []
    return made(question, asked, value, UNITS.get(name, "features"), convention, [line], others, wrongs)


def _each_layer(question: Question) -> bool:
    return re.search(r"\b(?:per|each|every|one|a) (?:\w+ )?(?:layer|block)\b", question.text.lower()) is not None


def patch_length(question: Question, asked: Request) -> Answer:
    """The numbers in one patch."""
    spec = asked.spec
    if spec.reads != "image":
        raise GlassformerError("this encoder reads no image: it has no patches.")
    down, across = spec.patch_size
    value = spec.channels * down * across
    line = Line("patch", "channels · height · width", f"{spec.channels} · {down} · {across}", value)
    wrongs = [
        mistaken("vit_tokens_or_patch", "colour channels left out", down * across),
        mistaken("vit_tokens_or_patch", "one side only", down),
    ]
    return made(question, asked, value, "numbers", "one patch, all channels", [line], [], wrongs)


def scale(question: Question, asked: Request, program: Program) -> Answer:
    """What the dot products are divided by."""
    spec = asked.spec
    if spec.scale == "none":
        return made(question, asked, 1, "", "this encoder divides its scores by nothing", [Line("scale", "1", "1", 1)], [])
    under = spec.head_k if spec.scale == "d_k" else spec.d_model
    value = _root(spec.score_terms * under)
    wrongs = []
    for code, what, wrong in (
        ("sqrt_dmodel", "√d_model", _root(spec.d_model)),
        ("divided_by_dk", "d_k without its root", spec.head_k),
        ("sqrt_length", "√t", _root(program.sizes.t)),
    ):
        wrongs += [mistaken(code, what, wrong), mistaken(code, f"1 / {what}", 1 / wrong)]
    terms = spec.score_terms  # of disentangled attention: the scale is that of their sum
    symbol, number = (f"√{spec.scale}", f"√{under}") if terms == 1 else (f"√({terms} · {spec.scale})", f"√({terms} · {under})")
    divisor, factor = "what the dot products are divided by", "what the dot products are multiplied by"
    if _AS_FACTOR.search(question.text):
        line = Line("scale", f"1 / {symbol}", f"1 / {number}", 1 / value)
        return made(question, asked, 1 / value, "", factor, [line], [Other(divisor, value, excuses=False)], wrongs)
    line = Line("scale", symbol, number, value)
    return made(question, asked, value, "", divisor, [line], [Other("as a factor", 1 / value)], wrongs)


_AS_FACTOR = re.compile(r"\b1\s*/\s*(?:\\?sqrt|√|square root)|\\[dt]?frac\s*\{1\}\s*\{\s*\\sqrt|\bmultipl", re.I)


def _root(number: int) -> int | float:
    whole = math.isqrt(number)
    return whole if whole * whole == number else math.sqrt(number)
