"""Arithmetic as people write it: read, evaluated exactly, judged at its own precision, slips named."""

from glassformer.answers.arithmetic.arrays import Array, Value
from glassformer.answers.arithmetic.evaluate import Evaluator, evaluate, free_names
from glassformer.answers.arithmetic.exact import Real, exactly, shown_number
from glassformer.answers.arithmetic.fold import fold
from glassformer.answers.arithmetic.grammar import parse
from glassformer.answers.arithmetic.implied import ImpliedGap, implied_gap
from glassformer.answers.arithmetic.limits import NotUnderstoodError
from glassformer.answers.arithmetic.plain import plain
from glassformer.answers.arithmetic.precision import Figure, Figures, agrees, shown_value, written
from glassformer.answers.arithmetic.readings import Reading, readings
from glassformer.answers.arithmetic.rewrites import slips
from glassformer.answers.arithmetic.slips import Slip
from glassformer.answers.arithmetic.tokens import Token, tokens

__all__ = [
    "Array",
    "Evaluator",
    "Figure",
    "Figures",
    "ImpliedGap",
    "NotUnderstoodError",
    "Reading",
    "Real",
    "Slip",
    "Token",
    "Value",
    "agrees",
    "evaluate",
    "exactly",
    "fold",
    "free_names",
    "implied_gap",
    "parse",
    "plain",
    "readings",
    "shown_number",
    "shown_value",
    "slips",
    "tokens",
    "written",
]
