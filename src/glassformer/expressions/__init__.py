"""Parses numbers, formulas and relations in common notations: tokens, trees, exact values, precision."""

from glassformer.expressions.arrays import Array, Value
from glassformer.expressions.evaluate import Evaluator, evaluate, free_names
from glassformer.expressions.exact import Real, exactly, shown_number
from glassformer.expressions.fold import fold
from glassformer.expressions.grammar import parse
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import Figure, Figures, agrees, shown_value, written
from glassformer.expressions.readings import Reading, readings
from glassformer.expressions.scanner import Token
from glassformer.expressions.tokens import tokens

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
