"""How a graded class looks: marks, what each question did, the commonest mistakes; as text, Markdown, HTML, LaTeX or CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from glassformer.answers.quiz.grading import Graded, Marked
from glassformer.answers.quiz.misconceptions import mistake
from glassformer.show.inert import clean
from glassformer.show.present import present
from glassformer.show.quiz import markdown
from glassformer.show.table import Column, Table
from glassformer.spec import shown

SHOWN_MISTAKES = 12
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Report:
    """A graded class on paper."""

    graded: Graded

    @cached_property
    def tables(self) -> list[Table]:
        return [table for table in (self._students(), self._questions(), self._mistakes(), self._answers()) if table.rows]

    @property
    def headline(self) -> str:
        found = self.graded.summary
        of = points(Fraction(found.of).limit_denominator(1000))
        numbers = f"mean {found.mean:.2f}, median {found.median:g}, from {found.lowest:g} to {found.highest:g} of {of}"
        return f"{self.graded.quiz.title}, seed {self.graded.seed}: {found.students} students, {numbers}"

    def text(self) -> str:
        return clean("\n\n".join([self.headline, *(table.text() for table in self.tables), *self.graded.notes]))

    def markdown(self) -> str:
        safe = [replace(table, rows=[[markdown.plain(cell) for cell in row] for row in table.rows]) for table in self.tables]
        notes = [markdown.plain(note) for note in self.graded.notes]
        return "\n\n".join([f"# {markdown.plain(self.headline)}", *(_unpiped(table) for table in safe), *notes])

    def html(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.graded.notes)
        tables = "".join(table.html() for table in self.tables)
        return f"<div class=glassformer><h2>{html.escape(self.headline)}</h2></div>{tables}<div class=glassformer>{notes}</div>"

    def latex(self) -> str:
        from glassformer.show.quiz.latex import inline

        parts = [rf"\paragraph{{{inline(table.title)}}}" + "\n\n" + table.latex() for table in self.tables]
        return "\n\n".join([rf"\section*{{{inline(self.headline)}}}", *parts, *(inline(note) for note in self.graded.notes)])

    def csv(self) -> str:
        """One row an answer; no cell is a formula."""
        stream = io.StringIO()
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["student", "question", "answer", "verdict", "marks", "of", "right answer", "mistake", "why"])
        for sheet in self.graded.sheets:
            for a in sheet.answers:
                found = a.judgement
                cells = [sheet.student, a.question, shown(a.claim, limit=200), found.verdict, points(a.marks), points(a.of)]
                rows.writerow([inert(cell) for cell in (*cells, a.truth, found.mistake, found.says)])
        return stream.getvalue().rstrip("\n")

    def _students(self) -> Table:
        titles = [template.id for template in self.graded.quiz.questions]
        columns = [
            Column("student"),
            Column("marks", right=True),
            Column("of", right=True),
            *(Column(t, right=True) for t in titles),
        ]
        rows = [
            [shown(sheet.student), points(sheet.marks), points(sheet.of), *(_short(answer) for answer in sheet.answers)]
            for sheet in self.graded.sheets
        ]
        return Table("Students", columns, rows)

    def _questions(self) -> Table:
        columns = [Column("question")] + [
            Column(title, right=True)
            for title in ("answered", "right", "carried", "partly", "wrong", "unread", "marks won", "tells apart")
        ]
        rows = []
        for q in self.graded.questions:
            numbers = [q.answered, q.right, q.carried, q.partly, q.wrong, q.unread]
            apart = "·" if q.tells_apart is None else f"{q.tells_apart:.2f}"
            commonest = f"{q.mistakes[0][0]} ({q.mistakes[0][1]})" if q.mistakes else ""
            rows.append([q.question, *map(str, numbers), f"{100 * q.share:.0f} %", apart, commonest])
        return Table("Questions", [*columns, Column("commonest mistake")], rows)

    def _mistakes(self) -> Table:
        columns = [Column("mistake"), Column("times", right=True), Column("students", right=True), Column("what it is")]
        rows = []
        for common in self.graded.mistakes[:SHOWN_MISTAKES]:
            names = (" and " if " and " in common.mistake else " or ").join(mistake(code).name for code in common.codes)
            rows.append([common.mistake, str(common.count), str(common.students), names])
        return Table("The commonest mistakes", columns, rows)

    def _answers(self) -> Table:
        columns = [
            Column("student"),
            Column("question"),
            Column("answer"),
            Column("right"),
            Column("marks", right=True),
            Column("why"),
        ]
        rows = [
            [
                shown(sheet.student),
                a.question,
                shown(a.claim, limit=40),
                shown(a.truth, limit=60),
                points(a.marks),
                a.judgement.says,
            ]
            for sheet in self.graded.sheets
            for a in sheet.answers
            if a.judgement.verdict not in ("right", "missing")
        ]
        return Table("Answers that are not right", columns, rows)


def points(marks: Fraction) -> str:
    """`2`, `1.5`, `0.67`."""
    return str(marks.numerator) if marks.denominator == 1 else f"{float(marks):.2f}".rstrip("0")


def inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(DANGEROUS) else cell


def _short(answer: Marked) -> str:
    return points(answer.marks) if answer.judgement.verdict != "missing" else "·"


def _unpiped(table: Table) -> str:
    """Markdown of a table whose cells are escaped already: a pipe is not escaped twice."""
    whole = [[cell.replace("\\|", "|") for cell in row] for row in table.rows]
    return replace(table, rows=whole).markdown()


@present.register
def _graded(graded: Graded) -> Report:
    return Report(graded)


def listed(rows: Sequence[Sequence[str]]) -> Table:
    """The sets that ship."""
    return Table(
        "", [Column("set"), Column("questions", right=True), Column("marks", right=True), Column("what it is about")], rows
    )
