"""The shapes of a formula as a table: one row per expression, then the verdict in words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from glassformer.algebra.formulas import FormulaShapes
from glassformer.algebra.formulas.reading import axis_words
from glassformer.algebra.formulas.trace import Row, shape_text
from glassformer.algebra.formulas.writing import statement_text
from glassformer.show.present import present
from glassformer.show.table import Column, Table, latex_text

VERDICTS = {
    "fits": "It fits.",
    "fails": "It does not fit.",
    "trap": "It fits, but it means something else",
}
WIDTH = 110


@dataclass(frozen=True)
class FormulaTable(Table):
    """A table whose expressions are set as mathematics in LaTeX."""

    formulas: tuple[str, ...] = ()

    def text(self) -> str:
        notes = [line for note in self.notes for line in textwrap.wrap(note, WIDTH) or [""]]
        return Table(self.title, self.columns, self.rows, notes).text()

    def markdown(self) -> str:
        rows = [[f"${formula}$", *row[1:]] for formula, row in zip(self.formulas, self.rows, strict=True)]
        notes = [line for note in self.notes if note for line in (note, "")]
        return Table(self.title, self.columns, rows, notes).markdown().rstrip()

    def latex(self) -> str:
        rows = [
            " & ".join([f"${formula}$", *map(latex_text, row[1:])]) + r" \\"
            for formula, row in zip(self.formulas, self.rows, strict=True)
        ]
        head = " & ".join(rf"\textbf{{{latex_text(column.title)}}}" for column in self.columns) + r" \\"
        notes = [rf"\par {latex_text(note)}" for note in self.notes if note]
        return "\n".join([rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}", head, r"\hline", *rows, r"\end{tabular}", *notes])


@present.register
def _formula(answer: FormulaShapes) -> FormulaTable:
    symbolic = any(axis.size.put_in(answer.trace.known) != axis.size for row in answer.rows for axis in row.axes)
    rows = [_row(row, answer, symbolic=symbolic) for row in answer.rows]
    titles = ["expression", "product of", *(["sizes"] if symbolic else []), "shape", "rows × columns"]
    bold = frozenset(i for i, row in enumerate(answer.rows) if row.kind in ("result", "failed"))
    return FormulaTable(
        "", [Column(title) for title in titles], rows, _notes(answer), bold, tuple(row.latex for row in answer.rows)
    )


def _row(row: Row, answer: FormulaShapes, *, symbolic: bool) -> list[str]:
    trace = answer.trace
    operands = " ".join(f"({shape_text(tuple(size.put_in(trace.known) for size in sizes))})" for sizes in row.operands)
    sizes = [shape_text(tuple(axis.size for axis in row.axes))] if symbolic else []
    if row.kind == "failed":
        return [row.text, operands, *([""] if symbolic else []), "does not fit", ""]
    words = "given" if row.kind == "given" and not row.operands else operands
    return [row.text, words, *sizes, trace.shape(row.axes), axis_words(row.axes, row.roles, trace)]


def _notes(answer: FormulaShapes) -> list[str]:
    notes = ["", _verdict(answer)]
    if answer.failure is not None:
        notes.append(answer.failure.sentence)
        notes += [answer.failure.explanation] if answer.failure.explanation else []
        if answer.failure.forms:
            notes.append(f"These would fit: {'; '.join(form.text for form in answer.failure.forms)}.")
    notes += [trap.sentence for trap in answer.traps]
    notes += [*answer.reading, *answer.remarks]
    if answer.meant:
        notes.append(f"Correction: {'; '.join(statement_text(statement) for statement in answer.meant)}")
    if answer.left_out:
        notes.append(f"Not evaluated: {'; '.join(answer.left_out)}")
    return notes


def _verdict(answer: FormulaShapes) -> str:
    if answer.verdict != "trap":
        return VERDICTS[answer.verdict]
    words = "It fits, but a stated shape is wrong" if all(trap.claim for trap in answer.traps) else VERDICTS["trap"]
    return f"{words}: {', '.join(trap.code for trap in answer.traps)}."
