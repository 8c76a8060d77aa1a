"""Explain: one number as the arithmetic it is, each part of which opens in turn, down to inputs and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from glassformer.program import Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum
from glassformer.program.pen import TextPen
from glassformer.spec import GlassformerError, shown
from glassformer.spec.arguments import is_whole, whole
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.numbers.run import Run

SHOWN_TERMS = 8
MOST_DIGITS = 17  # a float64 has no more
MINUS = "−"
COMPOUND = re.compile(r"/|\d√")  # a divisor such as 7/3 or 2√3, which needs brackets
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
    """One term of the sum that a number is: its value, its arithmetic, and the cells in it, which open."""

    value: float
    expression: Expression
    run: Run

    @property
    def text(self) -> str:
        """The term with numbers put in; made when asked for, since a sum may have thousands."""
        return written(self.expression, self.run, 4, SHOWN_TERMS)

    def __repr__(self) -> str:
        return f"<{self.text} = {number(self.value, 4)}>"

    @property
    def refs(self) -> tuple[Ref, ...]:
        return tuple(refs_in(self.expression))


@dataclass(frozen=True, repr=False)
class Explanation(Viewed):
    """A number, the rule that made it, the rule with numbers put in, and its terms."""

    run: Run
    tensor: Tensor
    cell: Cell

    @cached_property
    def value(self) -> float:
        return float(self.run.values[self.tensor.name][self.tensor.at(self.cell)])

    @cached_property
    def was(self) -> float | None:
        """What the number was before a what-if set it by hand; None where nothing did, or where its rule gives it anyway."""
        replaced, at = self.run.replaced.get(self.tensor.name), self.tensor.at(self.cell)
        if replaced is None or not replaced.cells[at]:
            return None
        was = float(replaced.was[at])
        step = self.run.program.step_of.get(self.tensor.name)
        if was != self.value:
            return was
        if step is None:
            return None
        # A whole tensor was given with this cell as it stood. Its rule still gives it, unless something before it changed.
        evaluated = step.opened(self.cell, self.run.values).evaluate(self.run.values)
        return None if _same(evaluated, self.value) else was

    @cached_property
    def expression(self) -> Expression | None:
        """The arithmetic; None for an input, a parameter or a number set by hand, which is where opening ends."""
        step = self.run.program.step_of.get(self.tensor.name)
        if step is None or self.was is not None:
            return None
        return step.opened(self.cell, self.run.values)

    @property
    def source(self) -> Source:
        """Where the number comes from."""
        if self.was is not None:
            return "edit"
        if self.expression is not None:
            return "step"
        return "input" if any(tensor.name == self.tensor.name for tensor in self.run.program.inputs) else "parameter"

    @cached_property
    def rule(self) -> str:
        """The rule in symbols: `scores = q kᵀ / √d_k`; of a number that a what-if set: `set by hand (was 0.25)`."""
        if self.was is not None:
            return self.set_by_hand()
        step = self.run.program.step_of.get(self.tensor.name)
        if step is None:
            return f"{self.source} {self.tensor.name}"
        symbol = TextPen().symbol
        names = [symbol(tensor.symbol) if tensor.symbol not in ("out", "x") else tensor.name for tensor in step.inputs]
        return f"{self.tensor.symbol} = {step.write(names, TextPen())}"

    def set_by_hand(self, digits: int = 4) -> str:
        """`set by hand (was 0.25)`; the empty string where nothing was."""
        return "" if self.was is None else f"set by hand (was {number(self.was, digits)})"

    def numbers(self, *, digits: int = 4, most: int = SHOWN_TERMS) -> str:
        """The rule with numbers put in; long sums are cut to their largest terms."""
        digits, most = _asked(digits, most)
        return written(self.expression, self.run, digits, most) if self.expression is not None else number(self.value, digits)

    @cached_property
    def evaluated(self) -> float:
        """The arithmetic worked out again from its parts: equal to `value` but for rounding."""
        return self.value if self.expression is None else self.expression.evaluate(self.run.values)

    @cached_property
    def terms(self) -> list[Term]:
        """The terms, largest first."""
        return sorted((self._term(part) for part in _summands(self.expression)), key=lambda term: -abs(term.value))

    def _term(self, part: Expression) -> Term:
        return Term(part.evaluate(self.run.values), part, self.run)

    @cached_property
    def refs(self) -> list[Ref]:
        """The cells that this number was made of, each once."""
        unique: dict[tuple[str, tuple[int, ...]], Ref] = {}
        for ref in refs_in(self.expression):
            unique.setdefault((ref.tensor.name, ref.tensor.at(ref.cell)), ref)
        return list(unique.values())

    def open(self, ref: Ref | int) -> Explanation:
        """The explanation of one of the cells behind this number (by its place among `refs`)."""
        if not isinstance(ref, Ref):
            count = len(self.refs)
            if not is_whole(ref) or not -count <= ref < count:
                there = f"its refs are 0 to {count - 1}" if count else f"{ENDS[self.source]} opens no further"
                raise GlassformerError(f"{self.label} has no cell {shown(ref)} behind it: {there}.")
            ref = self.refs[int(ref)]
        return opened(self.run, ref)

    @property
    def label(self) -> str:
        """`layers.0.attention.mix[batch 0, t 1, head 0, d_v 3]`, with words for tokens where they are known."""
        return label(self.run, self.tensor, self.cell)

    def lines(self, *, depth: int = 1, digits: int = 4, most: int = SHOWN_TERMS) -> Iterator[tuple[int, str]]:
        """The tree as indented lines, opened `depth` levels down."""
        return _lines(self, 0, whole("depth", depth), *_asked(digits, most))

    def text(self, *, depth: int = 1, digits: int = 4, most: int = SHOWN_TERMS) -> str:
        """The tree as text."""
        return "\n".join("  " * level + line for level, line in self.lines(depth=depth, digits=digits, most=most))

    def to_dict(self, *, depth: int = 1, most: int = SHOWN_TERMS) -> dict[str, Any]:
        """The tree as one JSON document, opened `depth` levels down."""
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


def explain(run: Run, name: str, cell: Cell) -> Explanation:
    """The explanation of one cell of a run."""
    return Explanation(run, run.tensor(name), cell)


def opened(run: Run, ref: Ref) -> Explanation:
    """The explanation of a cell met inside another; the tensor's own axes may have other names (`s` for `t`)."""
    own = run.program.tensors[ref.tensor.name]
    index = ref.tensor.at(ref.cell)
    return Explanation(run, own, {axis.name: i for axis, i in zip(own.axes, index, strict=True)})


def label(run: Run, tensor: Tensor, cell: Cell) -> str:
    """A cell in words."""
    parts = []
    for axis in tensor.axes:
        if axis.name == "batch" and axis.size == 1:
            continue
        word = ""
        if axis.name in ("t", "s") and run.tokens is not None:
            words = run.tokens[cell.get("batch", 0)] if len(run.tokens) > cell.get("batch", 0) else []
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
    """The cells worth opening: those of the largest terms that are not parameters or inputs, or all where there are few."""
    chosen = node.refs if len(node.refs) <= most else [ref for term in terms[: most // 2] for ref in term.refs]
    inner = [ref for ref in chosen if ref.tensor.name in node.run.program.step_of]
    return inner or chosen


def refs_in(expression: Expression | None) -> Iterator[Ref]:
    """Every cell that an expression reads, in order."""
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
        return expression.bottom.terms  # a softmax: the powers that share the total
    if isinstance(expression, Sum):
        return expression.terms
    return () if expression is None else (expression,)


def _same(one: float, other: float) -> bool:
    """Equal but for the order in which a sum was added up."""
    return one == other or isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def number(value: float, digits: int) -> str:
    """A number to `digits` decimals, with a proper minus; very small and very large ones in powers of ten."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "∞", "-inf": f"{MINUS}∞"}[str(value)]
    size = abs(value)
    text = f"{value:.{digits}f}" if size == 0 or 10**-digits <= size < 1e7 else f"{value:.{digits}g}"
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".") if isclose(float(text), value, rel_tol=1e-13) else text  # 3.2 − 2.425 is 0.775
    return text.replace("-", MINUS)


def unmarked(_: Ref) -> str:
    """Nothing: the number alone."""
    return ""


def written(expression: Expression, run: Run, digits: int, most: int, mark: Mark = unmarked) -> str:
    """An expression with numbers put in; `mark` is what follows the number of a cell."""
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


def _written_sum(expression: Sum, run: Run, digits: int, most: int, mark: Mark) -> str:
    terms = list(expression.terms)
    rest = ""
    if len(terms) > most:
        values = [term.evaluate(run.values) for term in terms]
        order = sorted(range(len(terms)), key=lambda place: -abs(values[place]))
        total = sum(values[place] for place in order[most:])
        rest = f" + {number(total, digits)} ({len(terms) - most} more)".replace(f"+ {MINUS}", f"{MINUS} ")
        terms = [terms[place] for place in order[:most]]
    return " + ".join(written(term, run, digits, most, mark) for term in terms).replace(f"+ {MINUS}", f"{MINUS} ") + rest


def _factor(expression: Expression, run: Run, digits: int, most: int, mark: Mark) -> str:
    text = written(expression, run, digits, most, mark)
    bare = isinstance(expression, Ref | Call | Constant) and not (isinstance(expression, Ref) and text.startswith(MINUS))
    return text if bare and " " not in text.split("(")[0] else f"({text})"
