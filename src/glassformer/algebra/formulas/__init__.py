"""The shapes of somebody's own formula: every one of them, the product that fails, and the trap in a formula that fits."""

from glassformer.algebra.formulas.check import FormulaShapes, check_formula, products_of, shapes_of
from glassformer.algebra.formulas.trap import TRAPS

__all__ = ["TRAPS", "FormulaShapes", "check_formula", "products_of", "shapes_of"]
