"""Limits on untrusted expressions: every size is bounded, and errors are one line."""

from __future__ import annotations

from glassformer.errors import GlassformerError, shown

MOST_CHARACTERS = 2_000  # in one expression
DEEPEST = 50  # levels of brackets
MOST_DIGITS = 200  # in a written number
MOST_RESULT_BITS = 3_400  # about a thousand digits
LARGEST_EXPONENT = 64
LARGEST_EXP = 700  # exp(700) still has 305 digits
MOST_CELLS = 4_096  # in a matrix
MOST_WORK = 8_192  # multiplications of cells in one expression
MOST_MARKS = 40  # primes, percent signs and units after an operand
MOST_SIZES = 8  # in a shape

# Formulas of matrices, and their given shapes.
FORMULA_CHARACTERS = 20_000
FORMULA_TOKENS = 2_000
FORMULA_STATEMENTS = 200
FORMULA_STEPS = 4_000  # evaluated sub-expressions, with functions expanded
DEEPEST_TREE = 120  # also the most terms in a sum or product, since trees are left-deep
MOST_GIVEN = 300  # shapes
SHAPE_CHARACTERS = 200
LARGEST_SIZE = 10**9
SIZE_TERMS = 12
SIZE_POWER = 9
NAME_INDEXES = 6
NAME_LETTERS = 24  # in names written together


class NotUnderstoodError(GlassformerError):
    """An expression that cannot be read or computed. In the parser, the message is a phrase: `division by zero`."""

    def about(self, text: str, problem: str) -> NotUnderstoodError:
        """Return the phrase as a sentence about its expression; a message that is already a sentence is kept."""
        said = str(self)
        return self if said.endswith(".") else NotUnderstoodError(f"'{shown(text)}' {problem}: {said}.")
