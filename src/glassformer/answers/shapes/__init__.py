"""The algebra of shapes: follow somebody's own formula, find the product that fails and the trap that fits."""

from glassformer.answers.shapes.check import FormulaShapes, check_formula, products_of, shapes_of
from glassformer.answers.shapes.trap import TRAPS

__all__ = ["TRAPS", "FormulaShapes", "check_formula", "products_of", "shapes_of"]
