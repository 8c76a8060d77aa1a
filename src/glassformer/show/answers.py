"""Presentation of answers and diagnoses: the value, then its derivation, then other conventions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glassformer.answers.quantities import Answer, Line, Table
from glassformer.answers.quantities.classes import Growth
from glassformer.answers.verdicts import Diagnosis
from glassformer.expressions.arrays import Array
from glassformer.expressions.evaluate import unit_factor
from glassformer.expressions.exact import Real, exactly, shown_number
from glassformer.expressions.precision import shown_value
from glassformer.expressions.readings import Reading
from glassformer.expressions.vocabulary import BYTES
from glassformer.show.fragment import fragment
from glassformer.show.inert import clean, markdown_text
from glassformer.show.markup import Html, tags
from glassformer.show.present import present
from glassformer.show.table import Column, latex_text
from glassformer.show.table import Table as Grid

SHOWN_LINES = 40
SHOWN_OTHERS = 8


@dataclass(frozen=True)
class Paragraphs:
    """A heading and lines of text in groups, as text, Markdown, LaTeX or HTML."""

    title: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    def text(self) -> str:
        lines = [self.title]
        for heading, items in self.groups:
            lines += ["", heading, *(f"  {item}" for item in items)] if heading else ["", *items]
        return clean("\n".join(lines))

    def markdown(self) -> str:
        lines = [f"### {markdown_text(self.title)}"]
        for heading, items in self.groups:
            bold = [f"**{markdown_text(heading)}**", ""] if heading else []
            lines += ["", *bold, *(f"- {markdown_text(item)}" for item in items)]
        return "\n".join(lines)

    def latex(self) -> str:
        lines = [rf"\paragraph{{{latex_text(self.title)}}}"]
        for heading, items in self.groups:
            body = [rf"  \item {latex_text(item)}" for item in items]
            lines += [latex_text(heading), r"\begin{itemize}", *body, r"\end{itemize}"] if body else []
        return "\n".join(lines)

    def html(self) -> Html:
        groups = [
            [tags.h4(heading) if heading else None, tags.ul([tags.li(item) for item in items])] for heading, items in self.groups
        ]
        return fragment(tags.h3(self.title), groups)


def value_text(value: Any, digits: int | None = None) -> str:
    """Return a value as text: a number with thousands separators, a list, a shape, or a complexity class."""
    if isinstance(value, str):
        return value
    if isinstance(value, Growth):
        return value.text
    if isinstance(value, bool | int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return " × ".join(map(str, value))
    if isinstance(value, list):
        return f"[{', '.join(value_text(part, 4 if digits is None else digits) for part in value)}]"
    if isinstance(value, Array):
        return shown_value(value if digits is None else value.each(lambda cell: _rounded(cell, digits or 0)))
    return _number_text(value if isinstance(value, Real) else exactly(Fraction(value)), digits)


def _number_text(value: Real, digits: int | None) -> str:
    if digits is not None:
        return shown_number(value, decimals=digits)
    if value.whole or abs(value.middle) >= 10**6:
        return f"{round(value.middle):,}"
    return f"{float(value.middle):,.6g}"


def _rounded(cell: Real, digits: int) -> Real:
    return exactly(Fraction(round(cell.middle * 10**digits), 10**digits))


def _asked(answer: Answer) -> str:
    """Return `params of bert-base`, or only the expression if it names its models or needs none."""
    return f"{answer.text} of {answer.label}" if answer.label and f"@ {answer.label}" not in answer.text else answer.text


@present.register
def _answer(answer: Answer) -> Paragraphs:
    title = f"{_asked(answer)}: {value_text(answer.scaled, answer.digits)}"
    if answer.unit not in ("shape", ""):
        title += answer.unit if answer.unit == "%" else f" {answer.unit}"
    return Paragraphs(title, (("", (f"convention: {answer.convention}",)), *_derivation(answer), *_others(answer)))


@present.register
def _table(table: Table) -> Grid:
    first = table.rows[0][1]
    rows = tuple((*sizes, value_text(answer.scaled, answer.digits)) for sizes, answer in table.rows)
    unit = f", {first.unit}" if first.unit not in ("", "shape") else ""
    name = next(iter(first.label.split()), "")
    title = f"{table.text} of {name}{unit}" if name else f"{table.text}{unit}"
    return Grid(
        title, [*(Column(size, right=True) for size in table.sizes), Column("value", right=True)], rows, (first.convention,)
    )


def _derivation(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    lines = [" = ".join(_parts(line)) for line in answer.lines]
    summed = len(lines) > 1 and isinstance(answer.exact, int) and answer.exact == sum(_whole(line.value) for line in answer.lines)
    if summed:
        lines.append(f"sum = {value_text(answer.exact)}")
    if len(lines) > SHOWN_LINES:
        lines = [*lines[: SHOWN_LINES - 1], f"… and {len(lines) - SHOWN_LINES} more", lines[-1]]
    return [("derivation", tuple(lines))] if lines else []


def _parts(line: Line) -> list[str]:
    """Return the description, symbols, numbers and result of a line, without repetitions."""
    return list(dict.fromkeys(part for part in (line.what, line.symbols, line.numbers, value_text(line.value)) if part))


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _others(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    items = tuple(
        f"{other.convention}: {value_text(answer.in_unit(other.value), answer.digits)}{'%' * (answer.unit == '%')}"
        for other in answer.others[:SHOWN_OTHERS]
    )
    return [("under other conventions", items)] if items else []


def _in_claimed_unit(found: Diagnosis) -> str:
    """Return the value in the unit of the claim, as in `2.00 GiB = `, where that is one of bytes."""
    unit, value = found.claim.rpartition(" ")[2], found.answer.exact
    if found.answer.unit != "bytes" or unit not in BYTES or not isinstance(value, int | Fraction):
        return ""
    factor = unit_factor(unit, Reading())
    return f"{float(value / factor):,.2f} {unit} = " if factor > 1 else ""


@present.register
def _diagnosis(found: Diagnosis) -> Paragraphs:
    subject = f"{found.relation}" + (f", {found.answer.label}" if found.answer.label else "")
    notes = [("", found.notes)] if found.notes else []
    if found.verdict == "right":
        return Paragraphs(f"right. {subject}", (("", (f"convention: {found.convention}",)), *notes))
    truth = _in_claimed_unit(found) + value_text(found.answer.exact)
    if found.verdict == "convention":
        value = "On its own it is" if found.convention.startswith("with ") else "The full value is"
        said = (f"{found.convention}. {value} {truth}.",)
        sentences = tuple(mistake.sentence for finding in found.findings for mistake in finding.mistakes)
        return Paragraphs(f"right under a convention. {subject}", (("", (*said, *sentences)), *notes))
    groups: list[tuple[str, tuple[str, ...]]] = [("", (f"it is {truth} ({found.answer.convention})",))]
    for finding in found.findings:
        close = "rounded, this gives that value" if finding.rounded else "this gives exactly that value"
        close = "close to this value, apart from an arithmetic error" if finding.near else close
        besides = f", {', '.join(finding.left_out)} left out" if finding.left_out else ""
        lines = [f"{'; '.join(finding.what)}{besides}: {value_text(finding.value)} ({close})"]
        lines += [mistake.sentence for mistake in finding.mistakes if mistake.sentence]
        groups.append((" and ".join(f"{mistake.name} [{mistake.code}]" for mistake in finding.mistakes), tuple(lines)))
    groups += [*notes, *_derivation(found.answer)]
    return Paragraphs(f"wrong. {subject}", tuple(groups))
