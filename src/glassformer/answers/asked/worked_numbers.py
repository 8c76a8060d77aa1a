"""Answers to questions that give numbers of their own: worked out by hand, with every step that leads to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from glassformer.answers.asked.answer import Answer, Line, Numbers, Other, Value, made
from glassformer.answers.questions import Question
from glassformer.answers.questions.given_numbers import given_numbers
from glassformer.answers.questions.given_problem import GivenNumbers
from glassformer.numbers.by_hand import Solution, parse_problem, solve
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import request

AS_WORKED = "as worked here: "
LAST_OF_SEVERAL = "the last of the things that are asked, the others on the way to it"


def worked_out(asked: str) -> Answer | None:
    """The answer to a question about numbers that it gives itself; None where it gives none that are understood."""
    given = given_numbers(asked)
    if given is None:
        return None
    try:
        solution = solve(parse_problem(given.document | {"ask": [given.asked]}))
    except GlassformerError as error:
        told = str(error).removeprefix("problem: ")
        raise GlassformerError(f"'{shown(asked)}' gives numbers that do not fit: {told}") from None
    question = Question("worked", given.asked, one_layer=False, one_head=False, text=asked)
    value = _value(solution.values[given.asked])
    if given.place is not None:
        if (one := at_place(value, given.place)) is None:
            return None  # there are rows, or fewer numbers
        value = one
    steps = [step.to_dict() for step in solution.steps]
    lines = [Line(step["name"], step["rule"].partition(" = ")[2], "", _value(step["value"])) for step in steps]
    convention, others = _convention(given, solution, value), _others(given, solution)
    if given.place is not None:
        others = (replace(other, value=one) for other in others if (one := at_place(other.value, given.place)) is not None)
    answer = made(question, request("layer")._replace(label="these numbers"), value, "", convention, lines, others)
    return answer if not given.also else _partly(answer)


def at_place(value: Value, place: int) -> Value | None:
    """One number of a vector, or of a matrix with one row; None where there is no such number, or several."""
    if isinstance(value, Numbers) and len(value) == 1 and isinstance(value[0], Numbers):
        value = value[0]
    if not isinstance(value, Numbers) or isinstance(value[0], Numbers) or place >= len(value):
        return None
    return value[place]  # type: ignore[no-any-return]


def _partly(answer: Answer) -> Answer:
    return replace(answer, convention=f"{LAST_OF_SEVERAL}; {answer.convention}", reading="partial")


def _convention(given: GivenNumbers, solution: Solution, value: Value) -> str:
    """What was decided that others decide otherwise."""
    kind, document = solution.problem.kind, given.document
    if kind == "layer_norm":
        eps = f", eps = {document['eps']:g}" if document.get("eps") else ", no eps"
        over = "n − 1" if document.get("variance") == "unbiased" else "n"
        return f"the variance divided by {over}{eps}{'' if 'gamma' in document else ', without gain and shift'}"
    if kind == "attention" and {"Q", "dot"} & set(solution.problem.entries):
        return (
            "tokens as rows, the scores not scaled"
            if document.get("scale") == "none"
            else "tokens as rows, scores divided by √d_k"
        )
    if given.document.get("kind") == "gelu":
        return "GELU exactly, with erf"
    if kind == "positions":
        return "sines in even features, cosines in odd ones, both counted from 0"
    rows = isinstance(value, Numbers) and isinstance(value[0], Numbers)
    return "as it is given, each row by itself" if rows else "as it is given"


def _others(given: GivenNumbers, solution: Solution) -> Iterator[Other]:
    """The result under the other usual conventions, where it is the result that is asked for."""
    if solution.names[given.asked] != solution.output.name:
        return
    if given.document.get("kind") == "gelu":
        by_tanh = solve(parse_problem(given.document | {"kind": "gelu_tanh", "ask": [given.asked]}))
        yield Other("GELU by its tanh formula", _value(by_tanh.values[given.asked]))
    for other in solution.others:
        if not other.name.startswith(AS_WORKED):
            excuses = "biased variance" not in other.name  # to divide by n − 1 is a mistake with a name
            yield Other(other.name, _value(solution.written(solution.output, other.value).tolist()), excuses=excuses)


def _value(nested: Any) -> Value:
    """A number, a vector or rows; a vector of one number is that number."""
    if not isinstance(nested, list):
        return _number(nested)
    if len(nested) == 1 and not isinstance(nested[0], list):
        return _number(nested[0])
    return Numbers(Numbers(map(_number, part)) if isinstance(part, list) else _number(part) for part in nested)


def _number(value: float) -> int | float:
    return int(value) if math.isfinite(value) and value == int(value) else value
