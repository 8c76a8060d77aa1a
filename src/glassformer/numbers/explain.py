"""Explanations: the arithmetic of one number, whose parts can be explained in turn, down to inputs and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import Any, Literal, TypeAlias

from glassformer.arguments import is_whole, whole
from glassformer.errors import GlassformerError, shown
from glassformer.numbers.values import Values
from glassformer.program import Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum
from glassformer.program.formatter import TextFormatter
from glassformer.spec.viewed import Viewed

SHOWN_TERMS = 8
MOST_DIGITS = 17  # the significant digits of a float64
MINUS = "−"
COMPOUND = re.compile(r"/|\d√")  # a divisor such as 7/3 or 2√3, which needs parentheses
Mark: TypeAlias = Callable[[Ref], str]
Source: TypeAlias = Literal["step", "parameter", "input", "edit"]
ENDS: dict[Source, str] = {
    "step": "a step without inputs",
    "parameter": "a parameter",
    "input": "an input",
    "edit": "a number set by hand",
}


@dataclass(frozen=True, repr=False)
class Term:
    """One term of a sum: its value, its arithmetic, and the cells in it."""

    value: float
    expression: Expression
    run: Values

    @property
    def text(self) -> str:
        """The term with numbers; computed on access, since a sum may have thousands of terms."""
        return written(self.expression, self.run, 4, SHOWN_TERMS)

    def __repr__(self) -> str:
        return f"<{self.text} = {number(self.value, 4)}>"

    @property
    def refs(self) -> tuple[Ref, ...]:
        return tuple(refs_in(self.expression))


@dataclass(frozen=True, repr=False)
class Explanation(Viewed):
    """A number, the rule that produced it, the rule with numbers, and its terms."""

    run: Values
    tensor: Tensor
    cell: Cell

    @cached_property
    def value(self) -> float:
        return float(self.run.values[self.tensor.name][self.tensor.at(self.cell)])

    @cached_property
    def was(self) -> float | None:
        """The value before it was set by hand; None if it was not, or if its rule still gives the same value."""
        replaced, at = self.run.replaced.get(self.tensor.name), self.tensor.at(self.cell)
        if replaced is None or not replaced.cells[at]:
            return None
        was = float(replaced.was[at])
        step = self.run.program.step_of.get(self.tensor.name)
        if was != self.value:
            return was
        if step is None:
            return None
        # A whole tensor was set, with this cell unchanged. Its rule still gives it, unless an earlier value changed.
        evaluated = step.opened(self.cell, self.run.values).evaluate(self.run.values)
        return None if _same(evaluated, self.value) else was

    @cached_property
    def expression(self) -> Expression | None:
        """The arithmetic; None for an input, a parameter or a number set by hand."""
        step = self.run.program.step_of.get(self.tensor.name)
        if step is None or self.was is not None:
            return None
        return step.opened(self.cell, self.run.values)

    @property
    def source(self) -> Source:
        """The origin of the number."""
        if self.was is not None:
            return "edit"
        if self.expression is not None:
            return "step"
        return "input" if any(tensor.name == self.tensor.name for tensor in self.run.program.inputs) else "parameter"

    @cached_property
    def rule(self) -> str:
        """The rule in symbols: `scores = q kᵀ / √d_k`; for a number that was set: `set by hand (was 0.25)`."""
        if self.was is not None:
            return self.set_by_hand()
        step = self.run.program.step_of.get(self.tensor.name)
        if step is None:
            return f"{self.source} {self.tensor.name}"
        symbol = TextFormatter().symbol
        names = [symbol(tensor.symbol) if tensor.symbol not in ("out", "x") else tensor.name for tensor in step.inputs]
        return f"{self.tensor.symbol} = {step.write(names, TextFormatter())}"

    def set_by_hand(self, digits: int = 4) -> str:
        """Return `set by hand (was 0.25)`, or an empty string."""
        return "" if self.was is None else f"set by hand (was {number(self.was, digits)})"

    def numbers(self, *, digits: int = 4, most: int = SHOWN_TERMS) -> str:
        """Return the rule with numbers; long sums are cut to their largest terms."""
        digits, most = _asked(digits, most)
        return written(self.expression, self.run, digits, most) if self.expression is not None else number(self.value, digits)

    @cached_property
    def evaluated(self) -> float:
        """The arithmetic evaluated from its parts: equal to `value` up to rounding."""
        return self.value if self.expression is None else self.expression.evaluate(self.run.values)

    @cached_property
    def terms(self) -> list[Term]:
        """The terms, largest first."""
        return sorted((self._term(part) for part in _summands(self.expression)), key=lambda term: -abs(term.value))

    def _term(self, part: Expression) -> Term:
        return Term(part.evaluate(self.run.values), part, self.run)

    @cached_property
    def refs(self) -> list[Ref]:
        """The cells that this number depends on directly, each once."""
        unique: dict[tuple[str, tuple[int, ...]], Ref] = {}
        for ref in refs_in(self.expression):
            unique.setdefault((ref.tensor.name, ref.tensor.at(ref.cell)), ref)
        return list(unique.values())

    def open(self, ref: Ref | int) -> Explanation:
        """Explain one of the cells in `refs`, given itself or by its index."""
        if not isinstance(ref, Ref):
            count = len(self.refs)
            if not is_whole(ref) or not -count <= ref < count:
                there = f"its refs are 0 to {count - 1}" if count else f"{ENDS[self.source]} has no refs"
                raise GlassformerError(f"{self.label} has no ref {shown(ref)}: {there}.")
            ref = self.refs[int(ref)]
        return opened(self.run, ref)

    @property
    def label(self) -> str:
        """`layers.0.attention.mix[batch 0, t 1, head 0, d_v 3]`, with the words of tokens, if known."""
        return label(self.run, self.tensor, self.cell)

    def lines(self, *, depth: int = 1, digits: int = 4, most: int = SHOWN_TERMS) -> Iterator[tuple[int, str]]:
        """Yield the tree as indented lines, expanded `depth` levels down."""
        return _lines(self, 0, whole("depth", depth), *_asked(digits, most))

    def text(self, *, depth: int = 1, digits: int = 4, most: int = SHOWN_TERMS) -> str:
        """Return the tree as text."""
        return "\n".join("  " * level + line for level, line in self.lines(depth=depth, digits=digits, most=most))

    def to_dict(self, *, depth: int = 1, most: int = SHOWN_TERMS) -> dict[str, Any]:
        """Return the tree as a JSON document, expanded `depth` levels down."""
        depth, most = whole("depth", depth), whole("most", most, least=1)
        terms = self.terms
        found: dict[str, Any] = {
            "name": self.tensor.name,
            "cell": {axis.name: self.cell[axis.name] for axis in self.tensor.axes},
            "value": self.value,
            "source": self.source,
            "was": self.was,
            "rule": self.rule,
            "numbers": self.numbers(most=most),
            "terms": [{"value": term.value, "text": term.text} for term in terms[:most]],
            "rest": {"terms": max(0, len(terms) - most), "sum": sum(term.value for term in terms[most:])},
        }
        if depth > 0:
            refs = self.refs if len(self.refs) <= 2 * most else [ref for term in terms[:most] for ref in term.refs]
            found["opens"] = [opened(self.run, ref).to_dict(depth=depth - 1, most=most) for ref in refs[: 2 * most]]
        return found

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.label} = {self.value:.6g}>"


def _asked(digits: int, most: int) -> tuple[int, int]:
    return whole("digits", digits, least=1, most=MOST_DIGITS), whole("most", most, least=1)


def explain(run: Values, name: str, cell: Cell) -> Explanation:
    """Explain one cell of a run."""
    return Explanation(run, run.tensor(name), cell)


def opened(run: Values, ref: Ref) -> Explanation:
    """Explain a cell referred to in another; the tensor's own axes may have other names (`s` for `t`)."""
    own = run.program.tensors[ref.tensor.name]
    index = ref.tensor.at(ref.cell)
    return Explanation(run, own, {axis.name: i for axis, i in zip(own.axes, index, strict=True)})


def label(run: Values, tensor: Tensor, cell: Cell) -> str:
    """Return the label of a cell."""
    parts = []
    for axis in tensor.axes:
        if axis.name == "batch" and axis.size == 1:
            continue
        words = run.words(tensor, axis.name, cell.get("batch", 0))
        word = f' "{words[cell[axis.name]]}"' if cell[axis.name] < len(words) else ""
        parts.append(f"{axis.name} {cell[axis.name]}{word}")
    return f"{tensor.name}[{', '.join(parts)}]" if parts else tensor.name


def _lines(node: Explanation, level: int, depth: int, digits: int, most: int) -> Iterator[tuple[int, str]]:
    yield level, f"{node.label} = {number(node.value, digits)}"
    if node.was is not None:
        yield level + 1, node.set_by_hand(digits)
    if node.expression is None:
        return
    yield level + 1, node.rule
    yield level + 1, f"= {node.numbers(digits=digits, most=most)}"
    if depth <= 0:
        return
    terms = node.terms
    for ref in _largest_refs(node, terms, most):
        yield from _lines(opened(node.run, ref), level + 1, depth - 1, digits, most)


def _largest_refs(node: Explanation, terms: list[Term], most: int) -> list[Ref]:
    """Return the cells to expand: all if there are few, else those of the largest terms; computed values before others."""
    chosen = node.refs if len(node.refs) <= most else [ref for term in terms[: most // 2] for ref in term.refs]
    inner = [ref for ref in chosen if ref.tensor.name in node.run.program.step_of]
    return inner or chosen


def refs_in(expression: Expression | None) -> Iterator[Ref]:
    """Yield every cell that an expression refers to, in order."""
    if isinstance(expression, Ref):
        yield expression
    elif isinstance(expression, Sum):
        for term in expression.terms:
            yield from refs_in(term)
    elif isinstance(expression, Product):
        for factor in expression.factors:
            yield from refs_in(factor)
    elif isinstance(expression, Ratio):
        yield from refs_in(expression.top)
        yield from refs_in(expression.bottom)
    elif isinstance(expression, Call):
        yield from refs_in(expression.argument)


def _summands(expression: Expression | None) -> tuple[Expression, ...]:
    if isinstance(expression, Ratio) and isinstance(expression.top, Sum):
        return expression.top.terms
    if isinstance(expression, Ratio) and isinstance(expression.bottom, Sum) and isinstance(expression.top, Call):
        return expression.bottom.terms  # a softmax: the exponentials in its denominator
    if isinstance(expression, Sum):
        return expression.terms
    return () if expression is None else (expression,)


def _same(one: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding."""
    return one == other or isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def number(value: float, digits: int) -> str:
    """Format a number with `digits` decimals and a Unicode minus; very small and very large ones in scientific notation."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "∞", "-inf": f"{MINUS}∞"}[str(value)]
    size = abs(value)
    text = f"{value:.{digits}f}" if size == 0 or 10**-digits <= size < 1e7 else f"{value:.{digits}g}"
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".") if isclose(float(text), value, rel_tol=1e-13) else text  # 3.2 − 2.425 is 0.775
    return text.replace("-", MINUS)


def unmarked(_: Ref) -> str:
    """Return no mark."""
    return ""


def written(expression: Expression, run: Values, digits: int, most: int, mark: Mark = unmarked) -> str:
    """Write an expression with numbers; `mark` returns a suffix for the number of a cell."""
    if isinstance(expression, Ref):
        return number(expression.evaluate(run.values), digits) + mark(expression)
    if isinstance(expression, Constant):
        return expression.text
    if isinstance(expression, Sum):
        return _written_sum(expression, run, digits, most, mark)
    if isinstance(expression, Product):
        factors = expression.factors
        if len(factors) == 2 and factors[0] == Constant(-1.0, MINUS + "1"):
            return f"{MINUS}{_factor(factors[1], run, digits, most, mark)}"
        return " · ".join(_factor(factor, run, digits, most, mark) for factor in factors)
    if isinstance(expression, Ratio):
        bottom = _factor(expression.bottom, run, digits, most, mark)
        if isinstance(expression.bottom, Constant) and COMPOUND.search(bottom):
            bottom = f"({bottom})"
        return f"{_factor(expression.top, run, digits, most, mark)} / {bottom}"
    if expression.function == "square":
        return f"{_factor(expression.argument, run, digits, most, mark)}²"
    name = "√" if expression.function == "sqrt" else expression.function
    return f"{name}({written(expression.argument, run, digits, most, mark)})"


def _written_sum(expression: Sum, run: Values, digits: int, most: int, mark: Mark) -> str:
    terms = list(expression.terms)
    rest = ""
    if len(terms) > most:
        values = [term.evaluate(run.values) for term in terms]
        order = sorted(range(len(terms)), key=lambda place: -abs(values[place]))
        total = sum(values[place] for place in order[most:])
        rest = f" + {number(total, digits)} ({len(terms) - most} more)".replace(f"+ {MINUS}", f"{MINUS} ")
        terms = [terms[place] for place in order[:most]]
    return " + ".join(written(term, run, digits, most, mark) for term in terms).replace(f"+ {MINUS}", f"{MINUS} ") + rest


def _factor(expression: Expression, run: Values, digits: int, most: int, mark: Mark) -> str:
    text = written(expression, run, digits, most, mark)
    bare = isinstance(expression, Ref | Call | Constant) and not (isinstance(expression, Ref) and text.startswith(MINUS))
    return text if bare and " " not in text.split("(")[0] else f"({text})"
