"""Answering a question: the value, its convention, its derivation, and the values under the other usual conventions."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from glassformer.algebra.parts import PARTS
from glassformer.answers.asked.alone import answered_alone
from glassformer.answers.asked.answer import Answer
from glassformer.answers.asked.compared import change, of_two, versus
from glassformer.answers.asked.counts import counted, parameters
from glassformer.answers.asked.flops import operations
from glassformer.answers.asked.growth import complexity
from glassformer.answers.asked.halves import with_all_of_it
from glassformer.answers.asked.own_head import with_own_head
from glassformer.answers.asked.position_entries import entry
from glassformer.answers.asked.pretraining import masking
from glassformer.answers.asked.ratios import crossing, difference, ratio, share, tying
from glassformer.answers.asked.reckoned import reckoned
from glassformer.answers.asked.settings import (
    all_heads,
    batch_tokens,
    expansion,
    norms,
    outputs,
    patch_length,
    scale,
    setting,
    tokens,
    updates,
)
from glassformer.answers.asked.stored import TRAINED, stored
from glassformer.answers.asked.tensors import find_tensor, tensor_sizes
from glassformer.answers.asked.worked_numbers import worked_out
from glassformer.answers.asked.worked_shapes import shaped
from glassformer.answers.questions import Question, parse_question
from glassformer.answers.questions.asides import readings
from glassformer.answers.questions.encoders import letters
from glassformer.answers.questions.glossary import PART_NAMES, STORES, TENSOR_NAMES
from glassformer.answers.questions.phrases import Kind
from glassformer.answers.questions.stated import check_stated, with_sizes
from glassformer.program import Program, build
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.presets import known_as, preset_names
from glassformer.spec.reading import Request

Answering = Callable[[Question, Request, Program], Answer]


def ask(question: str | Question, asked: Request | None = None) -> Answer:
    """Answer a question about an encoder: `ask("params of W_O in one layer", request("bert-base"))`.

    Without a request the question itself names the encoder, or says the sizes that its answer depends on.
    """
    if isinstance(question, str):
        if asked is None and (worked := worked_out(question) or shaped(question)) is not None:
            return worked
        return _understood(question, lambda read: ask(read, asked))
    if asked is None:
        return answered_alone(question, ask)
    _same_encoder(question, asked)
    question = with_own_head(with_all_of_it(question, asked), asked.spec)
    asked = with_sizes(question.stated, asked)
    _not_one_of_several(question, asked)
    program = build(asked.spec, batch=asked.batch, t=asked.t)
    check_stated(question.text, question.stated, asked, program)
    return BY_KIND[question.kind](question, asked, program)


def _understood(text: str, answered: Callable[[Question], Answer]) -> Answer:
    """The answer to a question as it stands; where it is not understood, to the same without what is said beside it."""
    try:
        return answered(parse_question(text))
    except GlassformerError:
        for simpler, partial in readings(text):
            with suppress(GlassformerError):
                found = answered(replace(parse_question(simpler, lenient=True), text=text))
                if partial:
                    return replace(found, convention=f"{partial}; {found.convention}", reading="partial")
                return replace(found, reading="lenient")
        raise


def _same_encoder(question: Question, asked: Request) -> None:
    """A question that names another model, or another number of layers, is not answered for this one."""
    preset = asked.label.split(" ")[0]
    model = {letters(said): letters(name) for said, name in known_as().items()}.get(question.model, question.model)
    if model and preset in preset_names() and not letters(preset).startswith(model):
        raise GlassformerError(f"'{shown(question.text)}' names another model than the spec, {shown(asked.label)}.")
    if question.layers not in (None, asked.spec.layers):
        raise GlassformerError(
            f"'{shown(question.text)}' speaks of {question.layers} layers, and this encoder has {asked.spec.layers}. "
            f"Write layers={question.layers}."
        )


_OF_ONE_ROW = re.compile(
    r"(?<!tokens )(?<!length )\bfor (?:one|a single|each|every) (?:input )?(?:sentence|sequence|image|example)(?= *(?:[.,?]|$))",
    re.I,
)


def _not_one_of_several(question: Question, asked: Request) -> None:
    """`for one sentence`, of a batch that has more: the answer for the batch is another."""
    if asked.batch > 1 and _OF_ONE_ROW.search(question.text):
        raise GlassformerError(
            f"'{shown(question.text)}' speaks of one, and of a batch of {asked.batch}: leave the batch out, or ask for all of it."
        )


def _size(question: Question, asked: Request, program: Program) -> Answer:
    whole = {"batch_tokens": batch_tokens, "norms": norms}
    if question.target in whole:
        return whole[question.target](question, asked, program)
    made_by = {"patch": patch_length, "all_heads": all_heads, "outputs": outputs, "expansion": expansion}
    return made_by.get(question.target or "", setting)(question, asked)


def _compared(how: Callable[[Question, Request, Callable[[Question], Answer]], Answer]) -> Answering:
    """An answer made of the answers to two other questions about the same encoder."""
    return lambda question, asked, program: how(question, asked, lambda other: BY_KIND[other.kind](other, asked, program))


def _bytes(question: Question, asked: Request, program: Program) -> Answer:
    """Bytes of a store, of a tensor or of the parameters of a part: whichever the name is of."""
    target = question.target or ""
    known = not target or target in STORES.values()
    known = known or set(target.split(",")) <= TRAINED
    tensor = None if known or target[:2] in ("W_", "b_") else find_tensor(target.split(",")[0], program)
    parts = {name for names in PART_NAMES.values() for name in names.split(",")}
    if not known and tensor is None and not set(target.split(",")) <= {*PARTS, *parts}:
        near = nearest(target, (*STORES, *TENSOR_NAMES, *PART_NAMES))
        raise GlassformerError(f"'{shown(question.text)}' is not understood: this encoder has no '{shown(target)}'.{near}")
    if (question.training and target and not known) or (question.without and tensor is not None):
        raise GlassformerError(
            f"'{shown(question.text)}' is not understood: ask for the memory of one thing, as in 'memory in fp16'."
        )
    fed = {"batch", "t"} & dict(question.stated).keys()
    if fed and target in ("", "model") and not question.training and not _OF_WEIGHTS.search(question.text):
        raise GlassformerError(
            f"'{shown(question.text)}' leaves open which memory: say 'of the weights' or 'of the activations'."
        )
    given = dict(question.given).get("parameters")
    return stored(question, asked, program, tensor, lambda other: given or counted(other, asked))


_OF_WEIGHTS = re.compile(r"weight|param|stor(?:e|ing|age)|load|checkpoint|disk|file|sav(?:e|ing)", re.I)

BY_KIND: dict[Kind, Answering] = {
    "params": lambda question, asked, _: parameters(question, asked),
    "bytes": _bytes,
    "shape": tensor_sizes,
    "elements": tensor_sizes,
    "flops": operations,
    "macs": operations,
    "tokens": tokens,
    "patches": tokens,
    "scale": scale,
    "width": _size,
    "share": _compared(share),
    "ratio": _compared(ratio),
    "difference": _compared(difference),
    "crossing": lambda question, asked, _: crossing(question, asked),
    "complexity": complexity,
    "space": complexity,
    "entry": lambda question, asked, _: entry(question, asked),
    "updates": lambda question, asked, _: updates(question, asked),
    "reckoned": lambda question, asked, _: reckoned(question, asked),
    "tying": lambda question, asked, _: tying(question, asked),
    "masking": lambda question, asked, _: masking(question, asked),
    "versus": of_two(versus, ask),
    "change": of_two(change, ask),
}
