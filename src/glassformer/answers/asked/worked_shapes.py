"""Answers about matrices that a question gives by their shapes: the shape of a formula's result, and what a product costs."""

from __future__ import annotations

import math
import re

from glassformer.answers.asked.answer import Answer, Line, Other, Value, made
from glassformer.answers.questions import Question
from glassformer.answers.questions.given_shapes import GivenShapes, given_shapes
from glassformer.answers.shapes.check import check_formula
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request, request

UNITS = {"shape": "shape", "elements": "elements", "macs": "multiply-adds", "flops": "FLOPs"}


def shaped(asked: str) -> Answer | None:
    """The answer to a question about matrices whose shapes it gives; None where it gives none that are understood."""
    given = given_shapes(asked)
    if given is None:
        return None
    if given.asked == "params":
        return _held(given, asked)
    found = check_formula(given.formula, [f"{name}={shape}" for name, shape in given.shapes.items()])
    if found.failure is not None or not found.rows:
        raise GlassformerError(
            f"'{shown(asked)}': {given.formula} does not fit these shapes; see glassformer algebra '{given.formula}' "
            + " ".join(f"{name}={shape}" for name, shape in given.shapes.items())
        )
    shape = tuple(int(size) for size in found.shape(found.rows[-1]))
    question = Question("worked", given.asked, one_layer=False, one_head=False, text=asked)
    encoder = request("layer")._replace(label="these matrices")
    if given.asked == "shape":
        line = Line(given.formula, "", " × ".join(map(str, shape)), shape)
        return made(question, encoder, shape, "shape", "as the formula stands", [line], [])
    if given.asked == "elements":
        line = Line(given.formula, "", " · ".join(map(str, shape)), math.prod(shape))
        return made(question, encoder, math.prod(shape), "elements", "every one counted", [line], [])
    return _cost(given, shape, question, encoder)


def _held(given: GivenShapes, asked: str) -> Answer:
    """The cells of the matrices themselves."""
    sizes = {name: math.prod(map(int, shape.split("x"))) for name, shape in given.shapes.items()}
    lines = [Line(name, "rows · columns", given.shapes[name].replace("x", " · "), size) for name, size in sizes.items()]
    question = Question("worked", "params", one_layer=False, one_head=False, text=asked)
    encoder = request("layer")._replace(label="these matrices")
    return made(question, encoder, sum(sizes.values()), "parameters", "the matrices alone, without biases", lines, [])


def _cost(given: GivenShapes, shape: tuple[int, ...], question: Question, encoder: Request) -> Answer:
    """One product of two matrices: every cell of the result is as many multiply-adds as the two share."""
    names = re.findall(r"[A-Z](?:_[A-Z])?", given.formula.replace("^T", ""))
    if len(names) != 2 or "softmax" in given.formula:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: ask for the cost of one product at a time.")
    shared = _inner(given, names[0])
    products, flops = math.prod(shape) * shared, 2 * math.prod(shape) * shared
    value: Value = products if given.asked == "macs" else flops
    numbers = " · ".join(map(str, (*((2,) if given.asked == "flops" else ()), *shape, shared)))
    convention = "a multiply-add counted as two" if given.asked == "flops" else "one multiplication for each multiply-add"
    additions = math.prod(shape) * (shared - 1)
    others = [
        Other("a multiply-add counted as one", products),
        Other("one addition less for each cell", products + additions),
    ]
    line = Line(given.formula, "rows · columns · what they share", numbers, value)
    return made(question, encoder, value, UNITS[given.asked], convention, [line], others if given.asked == "flops" else [])


def _inner(given: GivenShapes, first: str) -> int:
    """How many numbers a row of the first matrix has, as it stands in the formula."""
    rows, columns = map(int, given.shapes[first].split("x"))
    return rows if given.formula.strip().startswith(f"{first}^T") else columns
