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


class NotUnderstoodError(GlassformerError):
    """The arithmetic cannot be read, or asks for more than is given; the message says what was met."""
