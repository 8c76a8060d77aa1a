"""`check_formula`: every shape of a formula, and whether it fits, fails, or fits but means something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from glassformer.algebra import Result
from glassformer.algebra.formulas.form import Changes, formed, swapped
from glassformer.algebra.formulas.formula import Statement, no_matrix, read_formula, statements
from glassformer.algebra.formulas.given import Given, Written, read_given, sizes_of
from glassformer.algebra.formulas.inference import Inference
from glassformer.algebra.formulas.names import Known, Names
from glassformer.algebra.formulas.reading import axis_words, reading, remarks
from glassformer.algebra.formulas.repair import Failure, failure, plain_sizes
from glassformer.algebra.formulas.trace import Row, Trace
from glassformer.algebra.formulas.trap import Trap
from glassformer.algebra.formulas.traps import find_traps
from glassformer.algebra.formulas.writing import statement_text
from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.expressions.plain import plain
from glassformer.expressions.tree import Node

Verdict: TypeAlias = Literal["fits", "fails", "trap"]
MOST_REPAIRS = 4


@dataclass(frozen=True, repr=False)
class FormulaShapes(Result):
    """The shapes of a formula, from the given matrices to the result."""

    statements: tuple[Statement, ...]
    trace: Trace
    traps: tuple[Trap, ...]
    failure: Failure | None
    meant: tuple[Statement, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return "fails" if self.failure else "trap" if self.traps else "fits"

    @property
    def total(self) -> int:
        """The number of matrix products."""
        return self.trace.products

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self.trace.rows)

    def __getitem__(self, text: str) -> tuple[int | str, ...]:
        """Return the shape of an expression, by the text of its row or its name."""
        rows = [row for row in self.rows if row.text == text or row.text.startswith(f"{text} = ")]
        if not rows:
            known = [row.text.partition(" = ")[0] for row in self.rows]
            raise GlassformerError(
                f"'{shown(text)}' is not in this formula.{nearest(str(text), known)} Expressions: {listed(known)}."
            )
        return self.shape(rows[-1])

    def shape(self, row: Row) -> tuple[int | str, ...]:
        return tuple(plain_sizes(self.trace.sizes(row.axes)))

    @property
    def reading(self) -> tuple[str, ...]:
        """A description of the formula in words, if nothing is wrong with it."""
        return tuple(reading(self.trace)) if self.verdict == "fits" else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(remarks(self.trace)) if self.verdict == "fits" else ()

    @property
    def meant_text(self) -> str | None:
        return "; ".join(statement_text(statement) for statement in self.meant) or None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Statements that were not evaluated, because an earlier one fails."""
        return tuple(statement_text(statement) for statement in self.trace.left_out)

    def to_dict(self) -> dict[str, Any]:
        return {
            "formula": "; ".join(statement_text(statement) for statement in self.statements),
            "verdict": self.verdict,
            "trap": self.traps[0].code if self.traps and not self.failure else None,
            "traps": [{"code": trap.code, "sentence": trap.sentence} for trap in self.traps],
            "failure": self.failure.to_dict() if self.failure else None,
            "meant": self.meant_text,
            "reading": list(self.reading),
            "remarks": list(self.remarks),
            "total": self.total,
            "left_out": list(self.left_out),
            "rows": [self._row(row) for row in self.rows],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        return {
            "expression": row.text,
            "latex": row.latex,
            "kind": row.kind,
            "shape": list(self.shape(row)) or None,
            "formula": " × ".join(str(size) for size in (axis.size for axis in row.axes)) or None,
            "axes": axis_words(row.axes, row.roles, self.trace) or None,
            "operands": [plain_sizes(tuple(size.put_in(self.trace.known) for size in sizes)) for sizes in row.operands],
        }


def check_formula(formula: str, shapes: Iterable[str] | Mapping[str, Written] = ()) -> FormulaShapes:
    """Derive the shapes of a formula: `check_formula("Q = W_Q X", ["X=768x6", "W_Q=64x768"])`."""
    lines, declared = read_formula(formula)
    given = read_given(shapes)
    for name, shape in declared.items():
        given.add(name, sizes_of(shape, name))
    answer = follow(statements(lines, given.shapes), given)
    if not answer.rows:
        raise no_matrix(formula)
    return answer


def follow(statements: tuple[Statement, ...], given: Given) -> FormulaShapes:
    """Judge a formula and suggest a corrected one; corrections are checked before they are suggested."""
    answer = judge(statements, given)
    if answer.verdict == "fits":
        return answer
    meant = corrected(answer, given)
    pairs = zip(statements, meant or statements, strict=True)
    changed = [after for before, after in pairs if statement_text(after) != statement_text(before)]
    return replace(answer, meant=tuple(changed))


def judge(statements: tuple[Statement, ...], given: Given) -> FormulaShapes:
    trace = Inference(given).run(statements)
    failed = failure(trace) if trace.failed else None
    return FormulaShapes(statements, trace, tuple(find_traps(trace)), failed)


def corrected(answer: FormulaShapes, given: Given) -> tuple[Statement, ...] | None:
    """Return the formula with its errors corrected one by one, if the result fits and has no trap."""
    for _ in range(MOST_REPAIRS):
        if answer.verdict == "fits":
            return answer.statements
        failed = answer.failure.options if answer.failure else ()
        options = [answer.traps[0].changes] if answer.traps else list(failed)
        tried = [judge(mended(answer.statements, changes), given) for changes in options if changes]
        clean = [other for other in tried if other.verdict == "fits"]
        if clean:
            return clean[0].statements if len(clean) == 1 else None
        if len(tried) != 1:
            return None
        answer = tried[0]
    return None


def mended(statements: Sequence[Statement], changes: Changes) -> tuple[Statement, ...]:
    return tuple(replace(statement, body=swapped(statement.body, changes)) for statement in statements)


def shapes_of(node: Node, given: Mapping[str, Sequence[int | str]]) -> tuple[int | str, ...]:
    """Return the shape of an expression of given matrices: (5, 7) for `Q K^T` with Q 5 × 64 and K 7 × 64."""
    answer = _fitting(node, given)
    return answer.shape(answer.rows[-1])


def products_of(node: Node, given: Mapping[str, Sequence[int | str]]) -> int:
    """Return the multiply-adds of the matrix products in an expression; a repeated product counts once."""
    answer, total = _fitting(node, given), 0
    for row in answer.rows:
        sizes = [size.put_in(answer.trace.known).number for shape in row.operands for size in shape]
        if None in sizes:
            raise GlassformerError(f"the cost of {row.text} needs a number for every size, as in A=512 x 768.")
        if sizes:
            rows, inner, _, columns = (int(size or 0) for size in sizes)
            total += rows * inner * columns
    return total


def _fitting(node: Node, shapes: Mapping[str, Sequence[int | str]]) -> FormulaShapes:
    given = read_given(dict(shapes))
    answer = judge((Statement(formed(node, Known(Names(given.shapes)))),), given)
    if answer.failure is not None:
        raise GlassformerError(answer.failure.sentence)
    if not answer.rows:
        raise no_matrix(plain(node))
    return answer
