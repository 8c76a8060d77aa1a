"""What a stranger's arithmetic may ask for: every size is bounded, and a refusal is one line."""

from __future__ import annotations

from glassformer.spec.errors import GlassformerError

MOST_CHARACTERS = 2_000  # of one expression
DEEPEST = 50  # brackets within brackets
MOST_DIGITS = 200  # of a number as written
MOST_RESULT_BITS = 3_400  # about a thousand digits
LARGEST_EXPONENT = 64
LARGEST_EXP = 700  # exp(700) still has 305 digits
MOST_CELLS = 4_096  # of a matrix
MOST_WORK = 8_192  # multiplications of cells in one expression
MOST_MARKS = 40  # primes, percent signs and units after an operand
MOST_SIZES = 8  # of a shape

# Formulas of matrices, and the shapes that are given for them.
FORMULA_CHARACTERS = 20_000
FORMULA_TOKENS = 2_000
FORMULA_STATEMENTS = 200
FORMULA_STEPS = 4_000  # sub-expressions that are followed, with functions unfolded
DEEPEST_TREE = 120  # products and sums lean to the left: as many terms in a row
MOST_GIVEN = 300  # shapes
SHAPE_CHARACTERS = 200
LARGEST_SIZE = 10**9
SIZE_TERMS = 12
SIZE_POWER = 9
NAME_INDEXES = 6
NAME_LETTERS = 24  # of names written together


class NotUnderstoodError(GlassformerError):
    """The arithmetic cannot be read, or asks for more than is given; the message says what was met."""
