"""The arithmetic of one cell with its numbers, as LaTeX."""

from __future__ import annotations

from glassformer.numbers.explain import number
from glassformer.numbers.values import Values
from glassformer.program.expression import Constant, Expression, Product, Ratio, Ref, Sum
from glassformer.show.matrix import latex_number

FUNCTIONS = {"exp", "sin", "cos", "tanh"}  # functions with a LaTeX command


def latex_arithmetic(expression: Expression, run: Values, digits: int) -> str:
    """Return an expression as LaTeX, with its numbers."""
    if isinstance(expression, Ref):
        return latex_number(number(expression.evaluate(run.values), digits))
    if isinstance(expression, Constant):
        return latex_number(expression.text)
    if isinstance(expression, Sum):
        return " + ".join(latex_arithmetic(term, run, digits) for term in expression.terms).replace("+ -", "- ")
    if isinstance(expression, Product):
        factors = expression.factors
        if len(factors) == 2 and isinstance(factors[0], Constant) and factors[0].value == -1:
            return f"-{_factor(factors[1], run, digits)}"
        return r" \cdot ".join(_factor(factor, run, digits) for factor in factors)
    if isinstance(expression, Ratio):
        return rf"\frac{{{latex_arithmetic(expression.top, run, digits)}}}{{{latex_arithmetic(expression.bottom, run, digits)}}}"
    inner = latex_arithmetic(expression.argument, run, digits)
    if expression.function == "square":
        base = _factor(expression.argument, run, digits)
        return rf"\left({base}\right)^2" if "^" in base and not base.startswith(r"\left(") else f"{base}^2"  # (2 · 10^{-6})^2
    if expression.function == "sqrt":
        return rf"\sqrt{{{inner}}}"
    if expression.function == "exp":
        return f"e^{{{inner}}}"
    name = rf"\{expression.function}" if expression.function in FUNCTIONS else rf"\operatorname{{{expression.function}}}"
    return rf"{name}\left({inner}\right)"


def _factor(expression: Expression, run: Values, digits: int) -> str:
    text = latex_arithmetic(expression, run, digits)
    compound = isinstance(expression, Sum | Product) or text.startswith("-")
    return rf"\left({text}\right)" if compound else text
