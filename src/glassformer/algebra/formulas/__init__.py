"""Shapes of the user's own formula: every intermediate shape, products that do not fit, and traps in formulas that do."""

from glassformer.algebra.formulas.check import FormulaShapes, check_formula, products_of, shapes_of
from glassformer.algebra.formulas.trap import TRAPS

__all__ = ["TRAPS", "FormulaShapes", "check_formula", "products_of", "shapes_of"]
