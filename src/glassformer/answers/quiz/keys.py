"""Creates the key of a question with its parameters: a quantity of a model, worked numbers, or phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from glassformer.answers.quiz.arithmetic import plain, worked_out
from glassformer.answers.quiz.largest import largest
from glassformer.answers.quiz.marking import Key, Wrong
from glassformer.answers.quiz.numbers import written
from glassformer.answers.quiz.phrases import Phrase, squashed
from glassformer.answers.quiz.quantity import Counted, Listed, Shaped
from glassformer.answers.quiz.template import Template, filled, filled_in
from glassformer.answers.quiz.worked import Worked
from glassformer.configs.presets import known_preset
from glassformer.configs.reading import Request, request_from_words
from glassformer.errors import GlassformerError, shown
from glassformer.numbers.by_hand import parse_problem, solve

EXACT = 1e-6  # tolerance for floating-point errors in whole numbers


def key_of(template: Template, drawn: Mapping[str, Any]) -> Key:
    """Return the key of a question with its parameters."""
    if template.answer:
        return _quantity_key(template, drawn)
    if template.problem is not None:
        return _worked_key(template, drawn)
    options = [replace(one, text=filled(one.text, drawn), what=filled(one.what, drawn)) for one in template.options]
    right = [option.text for option in options if option.right]
    wrong = tuple(Wrong(one.text, squashed(one.text), one.mistake, one.what) for one in options if one.mistake is not None)
    answers = (*right, *(filled(answer, drawn) for answer in template.answers))
    return Phrase(answers, wrong, filled(template.because, drawn), template.proof)


def _quantity_key(template: Template, drawn: Mapping[str, Any]) -> Key:
    spec = filled(template.spec, drawn)
    model = _request(spec) if spec else None
    answer = worked_out(filled(template.answer, drawn), drawn, model, "answer")
    about_heads = "head" in f"{template.text} {template.answer} {template.spec}".lower()
    value = plain(answer.scaled)
    kind = Shaped if isinstance(value, tuple) else Listed if isinstance(value, np.ndarray) else Counted
    return kind(
        answer,
        own_wrongs=tuple(_own_mistakes(template, drawn, model)),
        heads=about_heads and model is not None and model.spec.heads > 1,
        digits=template.digits,
        tolerance=template.tolerance if kind is Counted else _tolerance(template),
        convention_credit=template.convention_credit,
        rule=template.carried if isinstance(template.carried, str) else "",
        drawn=drawn,
    )


def _request(text: str) -> Request:
    words = text.split()
    name = known_preset(words[0])
    if name is None:
        raise GlassformerError(f"spec = '{shown(text)}': the spec of a question must start with the name of a preset.")
    return request_from_words((name, *words[1:]), decoders=True)


def _worked_key(template: Template, drawn: Mapping[str, Any]) -> Key:
    problem = parse_problem(filled_in(template.problem, drawn), template.id)
    solution = solve(problem.replace(ask=(template.ask,)))
    rule = template.carried if isinstance(template.carried, Mapping) else None
    work = Worked(
        solution, template.ask, template.cell, template.digits, _tolerance(template), template.convention_credit, rule
    )  # fmt: skip
    own = []
    for wrong in _own_mistakes(template, drawn, None):
        value = np.asarray(wrong.value, dtype=float)
        if value.size != work.value.size:
            raise GlassformerError(f"mistakes, {wrong.code}: gives {value.size} numbers, but the answer has {work.value.size}.")
        value = value.reshape(work.value.shape)
        own.append(wrong._replace(value=value, text=written(value, work.digits or 3)))
    work = replace(work, own_wrongs=tuple(own))
    return largest(work) if template.pick == "largest" else work


def _own_mistakes(template: Template, drawn: Mapping[str, Any], model: Request | None) -> Iterator[Wrong]:
    """Yield the wrong answers of the set's own mistakes."""
    for named in template.mistakes:
        if named.gives:
            found = worked_out(filled(named.gives, drawn), drawn, model, f"mistakes, {named.code}, gives")
            yield Wrong("", plain(found.scaled), named.mistake)


def _tolerance(template: Template) -> float:
    if template.tolerance is not None:
        return float(template.tolerance)
    return 10.0**-template.digits if template.digits else EXACT
