"""The quantities of the language: each is computed for a spec, with its convention, derivation and alternative conventions."""

from glassformer.answers.quantities import complexity, operations, params, sizes, stored, tensors
from glassformer.answers.quantities.answer import Answer, Found, Line, Other, Table
from glassformer.answers.quantities.asking import ask
from glassformer.answers.quantities.evaluation import Evaluation, UnknownNameError
from glassformer.answers.quantities.registry import MEANINGS, Meaning

__all__ = ["MEANINGS", "Answer", "Evaluation", "Found", "Line", "Meaning", "Other", "Table", "UnknownNameError", "ask"]
_REGISTERED = (complexity, operations, params, sizes, stored, tensors)  # importing these modules registers the quantities
