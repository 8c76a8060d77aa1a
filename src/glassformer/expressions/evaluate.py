"""Evaluates a tree exactly, under one reading, with the values of its symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from glassformer.errors import shown
from glassformer.expressions import activations, functions
from glassformer.expressions.arrays import Array, Value, Work, cell_by_cell, matrix, multiply, outer, softmax, total
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.fold import fold
from glassformer.expressions.grammar import parse
from glassformer.expressions.limits import MOST_CHARACTERS, NotUnderstoodError
from glassformer.expressions.norms import NORMS, by_row
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.readings import Reading
from glassformer.expressions.tokens import tokens
from glassformer.expressions.tree import (
    Call,
    Grid,
    Grouped,
    List,
    Measured,
    Name,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Transposed,
    names_in,
)
from glassformer.expressions.vocabulary import BYTES, COUNTED

CONSTANTS: dict[str, Callable[[], Real]] = {"e": functions.euler, "π": functions.pi, "pi": functions.pi}
ONE = {
    "exp": functions.exp,
    "ln": functions.logarithm,
    "log2": lambda value: functions.log_to(2, value),
    "log10": lambda value: functions.log_to(10, value),
    "sqrt": functions.square_root,
    "sin": functions.sine,
    "cos": functions.cosine,
    "tan": lambda value: functions.sine(value) / functions.cosine(value),
    "tanh": functions.hyperbolic_tangent,
    "sigmoid": functions.logistic,
    "erf": activations.error_function,
    "gelu": activations.gelu,
    "silu": activations.silu,
    "relu": lambda value: functions.largest(value, exactly(0)),
    "abs": functions.absolute,
    "floor": functions.floor,
    "ceil": lambda value: -functions.floor(-value),
}


def evaluate(text: str, *, names: Mapping[str, Value] | None = None) -> Value:
    """Return the exact value of an expression in text, Markdown or LaTeX, in its default reading."""
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstoodError(f"an expression of more than {MOST_CHARACTERS:,} characters is too long")
    tree = parse(fold(tokens(text))).tree
    return Evaluator(Reading(), names or {}).value(tree)


def free_names(tree: Node, names: Mapping[str, Value]) -> list[str]:
    """Return the symbols without a value."""
    return [name for name in names_in(tree) if name not in names and name not in CONSTANTS]


def as_written(numeral: Numeral) -> Real:
    return exactly(numeral.value)


class Evaluator:
    """Evaluates a tree. `number` may replace the value of a written number."""

    def __init__(
        self, reading: Reading, names: Mapping[str, Value], number: Callable[[Numeral], Real] = as_written,
        between: Callable[[Value], Value] | None = None,
    ) -> None:  # fmt: skip
        self.reading, self.names, self.number = reading, names, number
        self.between = between or (lambda value: value)  # applied to every intermediate result
        self.work = Work()

    def value(self, node: Node) -> Value:
        match node:
            case Number(numeral):
                return self.number(numeral)
            case Name(text):
                return self._name(text)
            case Grouped(inner):
                return self.value(inner)
            case Negative(inner):
                return self._each(inner, Real.__neg__)
            case Transposed(inner):
                return self._transposed(inner)
            case Percent(inner):
                return self._each(inner, lambda value: value / exactly(100 if self.reading.percent == "hundredth" else 1))
            case Measured(inner, unit):
                return self._each(inner, lambda value: value * exactly(unit_factor(unit, self.reading)))
            case List() | Grid():
                return self._array(node)
            case _:
                return self.between(self._result(node))

    def _result(self, node: Node) -> Value:
        match node:
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                return self._product(factors)
            case Power(Name("e"), exponent) if "e" not in self.names:
                return functions.exp(self._real(exponent))
            case Power(base, exponent):
                return functions.power(self._real(base), self._real(exponent))
            case Root(inner, 2):
                return self._each(inner, functions.square_root)
            case Root(inner, degree):
                return self._each(inner, lambda value: functions.power(value, exactly(Fraction(1, degree))))
            case Call():
                return self._call(node)
            case _:
                raise NotUnderstoodError("a space or a size is not a number")

    def _name(self, text: str) -> Value:
        if text in self.names:
            return self.names[text]
        if text in CONSTANTS:
            return CONSTANTS[text]()
        raise NotUnderstoodError(f"the value of '{shown(text, limit=30)}' is unknown")

    def _real(self, node: Node) -> Real:
        found = self.value(node)
        if isinstance(found, Array):
            raise NotUnderstoodError("expected a number here, not a list")
        return found

    def _each(self, node: Node, function: Callable[[Real], Real]) -> Value:
        found = self.value(node)
        return found.each(function) if isinstance(found, Array) else function(found)

    def _transposed(self, node: Node) -> Value:
        found = self.value(node)
        if isinstance(found, Real):
            raise NotUnderstoodError("a number has no transpose")
        return found.transposed()

    def _array(self, node: List | Grid) -> Array:
        if isinstance(node, Grid):
            return matrix([[self._real(cell) for cell in row] for row in node.rows])
        items = [self.value(item) for item in node.items]
        rows = [item for item in items if isinstance(item, Array)]
        if not rows:
            return Array(tuple(item for item in items if isinstance(item, Real)))
        if len(rows) != len(items) or any(row.columns is not None for row in rows):
            raise NotUnderstoodError("a list mixes numbers and lists")
        return matrix([row.cells for row in rows])

    def _sum(self, terms: tuple[tuple[str, Node], ...]) -> Value:
        found = self.value(terms[0][1])
        for sign, term in terms[1:]:
            found = cell_by_cell(found, self.value(term), Real.__add__ if sign == "+" else Real.__sub__)
        return found

    def _product(self, factors: tuple[tuple[str, Node], ...]) -> Value:
        found = self.value(factors[0][1])
        for sign, factor in factors[1:]:
            found = self._times(found, sign, self.value(factor))
        return found

    def _times(self, left: Value, sign: str, right: Value) -> Value:
        if sign in ("/", "//"):
            if isinstance(right, Array):
                raise NotUnderstoodError("division by a list")
            quotient = cell_by_cell(left, right, Real.__truediv__)
            if sign == "/":
                return quotient
            return quotient.each(functions.floor) if isinstance(quotient, Array) else functions.floor(quotient)
        if sign == "⊙" or (self.reading.vectors == "each" and sign in ("*", "×", "·")):
            return cell_by_cell(left, right, Real.__mul__)
        return (outer if self.reading.vectors == "outer" else multiply)(left, right, self.work)

    def _call(self, call: Call) -> Value:
        arguments = [self.value(argument) for argument in call.arguments]
        if call.function == "log":
            base = {"e": 0, "10": 10, "2": 2}[self.reading.logarithm] if call.base is None else call.base
            function = functions.logarithm if base == 0 else lambda value: functions.log_to(base, value)
            return _on_one(function, arguments)
        if call.function in ONE:
            return _on_one(ONE[call.function], arguments)
        if call.function == "dot" and len(arguments) == 2:
            return multiply(arguments[0], arguments[1], self.work)
        return self._over_many(call.function, arguments)

    def _over_many(self, function: str, arguments: list[Value]) -> Value:
        whole = arguments[0] if len(arguments) == 1 else _together(arguments)
        if isinstance(whole, Real):
            raise NotUnderstoodError(f"{function} needs a list of numbers")
        if function == "softmax":
            return softmax(whole, down=self.reading.softmax == "columns")
        if function in NORMS:
            return by_row(whole, NORMS[function])
        cells = whole.cells
        count = exactly(len(cells))
        if function in ("max", "min"):
            sign = 1 if function == "max" else -1
            found = cells[0] * exactly(sign)
            for cell in cells[1:]:
                found = functions.largest(found, cell * exactly(sign))
            return found * exactly(sign)
        mean = total(cells) / count
        if function in ("sum", "mean"):
            return mean * count if function == "sum" else mean
        if function not in ("var", "std"):
            raise NotUnderstoodError(f"{function} is not defined for a list")
        divisor = count - exactly(1 if self.reading.spread == "sample" else 0)
        variance = total([(cell - mean) * (cell - mean) for cell in cells]) / divisor
        return variance if function == "var" else functions.square_root(variance)


def unit_factor(unit: str, reading: Reading) -> Fraction:
    if unit in COUNTED:
        return Fraction(1)
    decimal, binary = BYTES[unit]
    if reading.scale == "none":
        return Fraction(1)
    always_decimal, always_binary = "FLOP" in unit or "MAC" in unit, unit.endswith("iB")
    return (
        Fraction(2) ** binary if always_binary or (reading.scale == "binary" and not always_decimal) else Fraction(10) ** decimal
    )


def _on_one(function: Callable[[Real], Real], arguments: list[Value]) -> Value:
    if len(arguments) != 1:
        raise NotUnderstoodError("a function of one number has several arguments")
    found = arguments[0]
    return found.each(function) if isinstance(found, Array) else function(found)


def _together(arguments: list[Value]) -> Array:
    cells = [argument for argument in arguments if isinstance(argument, Real)]
    if len(cells) != len(arguments):
        raise NotUnderstoodError("a function of one list has several arguments")
    return Array(tuple(cells))
