"""The report of a graded class: marks, statistics of each question, most common mistakes; as text, Markdown, HTML, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from glassformer.answers.quiz.grading import Graded
from glassformer.answers.quiz.marking import Marked
from glassformer.answers.quiz.regrading import Change, Regraded
from glassformer.answers.quiz.roster import FORMULA
from glassformer.answers.quiz.statistics import OUTCOMES
from glassformer.errors import shown
from glassformer.show.fragment import fragment
from glassformer.show.inert import clean
from glassformer.show.markup import Html, tags
from glassformer.show.present import present
from glassformer.show.quiz import markdown
from glassformer.show.table import Column, Table

SHOWN_MISTAKES = 12


@dataclass(frozen=True)
class Report:
    """The report of a graded class."""

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

    def html(self) -> Html:
        notes = [tags.p(note) for note in self.graded.notes]
        return fragment(tags.h2(self.headline), [table.markup() for table in self.tables], notes)

    def latex(self) -> str:
        from glassformer.show.quiz.latex import inline

        parts = [rf"\paragraph{{{inline(table.title)}}}" + "\n\n" + table.latex() for table in self.tables]
        return "\n\n".join([rf"\section*{{{inline(self.headline)}}}", *parts, *(inline(note) for note in self.graded.notes)])

    def csv(self) -> str:
        """Return one row per answer, without cells that a spreadsheet would run as formulas."""
        stream = io.StringIO()
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["student", "question", "answer", "verdict", "marks", "of", "right answer", "mistake", "why"])
        for sheet in self.graded.sheets:
            for a in sheet.answers:
                name, verdict = a.judged.name, "missing" if a.missing else a.verdict
                cells = [sheet.student.name, name, shown(a.judged.claim, limit=200), verdict, points(a.marks), points(a.of)]
                rows.writerow([inert(cell) for cell in (*cells, a.judged.truth, a.mistake, a.says)])
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
            [shown(sheet.student.name), points(sheet.marks), points(sheet.of), *(_short(answer) for answer in sheet.answers)]
            for sheet in self.graded.sheets
        ]
        return Table("Students", columns, rows)

    def _questions(self) -> Table:
        columns = [Column("question")] + [Column(title, right=True) for title in (*OUTCOMES[:-1], "marks won", "discrimination")]
        rows = []
        for q in self.graded.questions:
            numbers = [q.outcomes[title] for title in OUTCOMES[:-1]]
            apart = "·" if q.tells_apart is None else f"{q.tells_apart:.2f}"
            commonest = "".join(f"{mistake} ({count})" for mistake, count in list(q.mistakes.items())[:1])
            rows.append([q.question, *map(str, numbers), f"{100 * q.share:.0f} %", apart, commonest])
        return Table("Questions", [*columns, Column("most common mistake")], rows)

    def _mistakes(self) -> Table:
        columns = [Column("mistake"), Column("times", right=True), Column("students", right=True), Column("description")]
        rows = []
        for common in self.graded.mistakes[:SHOWN_MISTAKES]:
            rows.append([common.mistake, str(common.count), str(common.students), common.name])
        return Table("Most common mistakes", columns, rows)

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
                shown(sheet.student.name),
                a.judged.name,
                shown(a.judged.claim, limit=40),
                shown(a.judged.truth, limit=60),
                points(a.marks),
                a.says,
            ]
            for sheet in self.graded.sheets
            for a in sheet.answers
            if a.verdict != "right" and not a.missing
        ]
        return Table("Answers that are not right", columns, rows)


@dataclass(frozen=True)
class AgainReport(Report):
    """The report of a class graded again, with both marks."""

    again: Regraded

    @cached_property
    def tables(self) -> list[Table]:
        return [table for table in (self._both(), self._changes(), *super().tables) if table.rows]

    @property
    def headline(self) -> str:
        moved = self.again.moved
        students = len({change.student for change in moved})
        gone = f"; not in this grading: {shown(', '.join(self.again.gone), limit=200)}" if self.again.gone else ""
        return f"{super().headline}; {len(moved)} marks of {students} students changed{gone}"

    def _both(self) -> Table:
        """Return the marks of both gradings: `0 → 2` if a mark changed, `2` if not."""
        titles = [template.id for template in self.graded.quiz.questions]
        columns = [Column("student"), Column("before", right=True), Column("now", right=True)]
        rows = []
        for sheet in self.graded.sheets:
            own = [change for change in self.again.changes if change.student == sheet.student.name]
            before = sum((change.before.marks for change in own if change.before), Fraction(0))
            rows.append([shown(sheet.student.name), points(before), points(sheet.marks), *map(_moved, own)])
        return Table("Before and now", [*columns, *(Column(title, right=True) for title in titles)], rows)

    def _changes(self) -> Table:
        columns = [
            Column("student"),
            Column("question"),
            Column("answer"),
            Column("before", right=True),
            Column("now", right=True),
        ]
        rows = []
        for change in self.again.moved:
            before = points(change.before.marks) if change.before else "·"
            answer = shown(change.now.judged.claim, limit=40)
            rows.append([shown(change.student), change.now.judged.name, answer, before, points(change.now.marks), change.why])
        return Table("Marks that changed", [*columns, Column("why")], rows)


def points(marks: Fraction) -> str:
    """Return marks as text: `2`, `1.5`, `0.67`."""
    return str(marks.numerator) if marks.denominator == 1 else f"{float(marks):.2f}".rstrip("0")


def inert(cell: str) -> str:
    """Return a cell that a spreadsheet does not run as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _short(answer: Marked) -> str:
    return "·" if answer.missing else points(answer.marks)


def _moved(change: Change) -> str:
    before = points(change.before.marks) if change.before else "·"
    return f"{before} → {points(change.now.marks)}" if change.moved else points(change.now.marks)


def _unpiped(table: Table) -> str:
    """Return a table as Markdown whose cells are already escaped, without escaping pipes twice."""
    whole = [[cell.replace("\\|", "|") for cell in row] for row in table.rows]
    return replace(table, rows=whole).markdown()


@present.register
def _graded(graded: Graded) -> Report:
    return Report(graded)


@present.register
def _regraded(regraded: Regraded) -> AgainReport:
    return AgainReport(regraded.graded, regraded)


def listed(rows: Sequence[Sequence[str]]) -> Table:
    """Return the table of built-in sets."""
    return Table("", [Column("set"), Column("questions", right=True), Column("marks", right=True), Column("topics")], rows)
