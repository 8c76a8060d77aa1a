"""Arithmetic as people write it: read, evaluated exactly, judged at its own precision, slips named."""

from glassformer.answers.expressions.arrays import Array, Value
from glassformer.answers.expressions.evaluate import Evaluator, evaluate, free_names
from glassformer.answers.expressions.exact import Real, exactly, shown_number
from glassformer.answers.expressions.fold import fold
from glassformer.answers.expressions.grammar import parse
from glassformer.answers.expressions.limits import NotUnderstoodError
from glassformer.answers.expressions.plain import plain
from glassformer.answers.expressions.precision import Figure, Figures, agrees, shown_value, written
from glassformer.answers.expressions.readings import Reading, readings
from glassformer.answers.expressions.tokens import Token, tokens

__all__ = [
    "Array",
    "Evaluator",
    "Figure",
    "Figures",
    "NotUnderstoodError",
    "Reading",
    "Real",
    "Token",
    "Value",
    "agrees",
    "evaluate",
    "exactly",
    "fold",
    "free_names",
    "parse",
    "plain",
    "readings",
    "shown_number",
    "shown_value",
    "tokens",
    "written",
]
