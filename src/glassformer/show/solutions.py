"""How a checked solution looks: its lines with marks, then the remarks and the graded questions, then the count."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from glassformer.answers.documents import CheckedDocument, Finding
from glassformer.answers.solutions import CheckedSolution, Graded, Remark
from glassformer.show.answers import value_text
from glassformer.show.inert import markdown_literal
from glassformer.show.present import present
from glassformer.show.table import latex_text
from glassformer.spec import shown

MARKS = {"right": "✓", "wrong": "✗", "carried": "→", "unclear": "?"}
WORST = ("wrong", "unclear", "carried", "right")
LATEX_MARKS = {"✓": r"$\checkmark$", "✗": r"$\times$", "→": r"$\to$", "?": "?", "": ""}
COLOURS = {"✓": "#1a7f37", "✗": "#cf222e", "→": "#9a6700", "?": "#57606a"}
MOST_LINES = 400  # of a longer document only the lines with a mark are shown
LONGEST_LINE = 200
WIDTH = 110


@dataclass(frozen=True)
class Line:
    """A line of the document with the worst of its marks, and what is said below it."""

    place: str
    mark: str
    text: str
    said: tuple[tuple[str, str], ...]  # mark and sentence


@dataclass(frozen=True)
class Item:
    """A remark or a graded question: a mark, where, a heading, and lines below it."""

    mark: str
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class AnnotatedSolution:
    """The annotated solution as text, Markdown, LaTeX or HTML; whatever comes from the document is shown inert."""

    title: str
    lines: tuple[Line, ...]
    groups: tuple[tuple[str, tuple[Item, ...]], ...]
    closing: str

    def text(self) -> str:
        wide = max((len(line.place) for line in self.lines), default=0)
        page = [self.title, ""]
        for line in self.lines:
            page.append(f"{line.place:>{wide}} {line.mark or ' '} {line.text}".rstrip())
            page += [below for mark, said in line.said for below in _wrapped(f"{mark} ", said, wide + 5)]
        for heading, items in self.groups:
            page += ["", heading]
            for item in items:
                page += _wrapped(f"{item.mark} ", item.heading, 2)
                page += [below for said in item.lines for below in _wrapped("", said, 6)]
        return "\n".join([*page, "", self.closing])

    def markdown(self) -> str:
        page = [f"### {markdown_literal(self.title)}", "", "| | | |", "|---:|:---:|:---|"]
        for line in self.lines:
            said = "".join(f"<br>{mark} *{markdown_literal(sentence)}*" for mark, sentence in line.said)
            page.append(f"| {line.place} | {line.mark} | {markdown_literal(line.text)}{said} |")
        for heading, items in self.groups:
            page += ["", f"**{heading}**", ""]
            for item in items:
                page += [
                    f"- {item.mark} {markdown_literal(item.heading)}",
                    *(f"  - {markdown_literal(said)}" for said in item.lines),
                ]
        return "\n".join([*page, "", self.closing])

    def html(self) -> str:
        rows = "".join(
            f"<tr><td class=n>{html.escape(line.place)}</td><td>{_mark(line.mark)}</td><td><code>{html.escape(line.text)}</code>"
            + "".join(f"<div>{_mark(mark)} {html.escape(said)}</div>" for mark, said in line.said)
            + "</td></tr>"
            for line in self.lines
        )
        groups = "".join(
            f"<h4>{html.escape(heading)}</h4><ul>"
            + "".join(f"<li>{_mark(item.mark)} {html.escape(item.heading)}{_listed(item.lines)}</li>" for item in items)
            + "</ul>"
            for heading, items in self.groups
        )
        return (
            f"<div class=glassformer><h3>{html.escape(self.title)}</h3><table><tbody>{rows}</tbody></table>{groups}"
            f"<p>{html.escape(self.closing)}</p></div>"
        )

    def latex(self) -> str:
        page = [rf"\paragraph{{{latex_text(self.title)}}}", r"\begin{description}"]
        for line in self.lines:
            if line.said or line.mark:
                page.append(rf"  \item[{latex_text(line.place)} {LATEX_MARKS[line.mark]}] {latex_text(line.text)}")
                page += [rf"  \par {latex_text(said)}" for _, said in line.said]
        page.append(r"\end{description}")
        for heading, items in self.groups:
            page += [rf"\paragraph{{{latex_text(heading)}}}", r"\begin{itemize}"]
            page += [rf"  \item {latex_text(' '.join([item.heading, *item.lines]))}" for item in items]
            page.append(r"\end{itemize}")
        return "\n".join([*page, latex_text(self.closing)])


def _listed(lines: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _mark(mark: str) -> str:
    return f"<span style='color:{COLOURS[mark]}'>{mark}</span>" if mark in COLOURS else html.escape(mark)


def _wrapped(start: str, text: str, indent: int) -> list[str]:
    first, rest = " " * indent + start, " " * (indent + len(start))
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest) or [first.rstrip()]


@present.register
def _solution(found: CheckedSolution) -> AnnotatedSolution:
    document = found.document
    groups = []
    if found.remarks:
        groups.append(("Remarks", tuple(_remark(remark, document) for remark in found.remarks)))
    if found.graded:
        groups.append(("Questions", tuple(_question(one, document) for one in found.graded)))
    marks = {(remark.line, remark.verdict) for remark in found.remarks} | {(one.line, one.grade) for one in found.graded}
    return AnnotatedSolution(document.name, annotated(document, marks), tuple(groups), f"{found.summary()}.")


def annotated(document: CheckedDocument, marks: Iterable[tuple[int, str]] = ()) -> tuple[Line, ...]:
    """The lines of a document with the marks of its findings, and further ones by their lines."""
    besides: dict[int, set[str]] = {}
    for number, verdict in marks:
        besides.setdefault(number, set()).add("right" if verdict == "convention" else verdict)
    found: dict[int, list[Finding]] = {}
    for finding in document.claims:
        found.setdefault(finding.line, []).append(finding)
    lines = document.text.rstrip("\n").split("\n")
    cells = dict(document.cells)
    everything = len(lines) <= MOST_LINES
    page: list[Line] = []
    first, cell = 1, 0
    for number, text in enumerate(lines, start=1):
        if number in cells:
            first, cell = number, cells[number]
        here = found.get(number, [])
        verdicts = {finding.verdict for finding in here} | besides.get(number, set())
        if verdicts or everything:
            mark = next((MARKS[verdict] for verdict in WORST if verdict in verdicts), "")
            place = f"{cell}:{number - first + 1}" if cell else str(number)
            page.append(Line(place, mark, shown(text.expandtabs(4), limit=LONGEST_LINE), tuple(_said(here))))
    return tuple(page)


def _said(findings: list[Finding]) -> Iterator[tuple[str, str]]:
    """What is said below a line: everything but that something is right."""
    for finding in findings:
        if finding.verdict != "right" or finding.sentence:
            yield MARKS[finding.verdict], finding.sentence or finding.text


def _remark(remark: Remark, document: CheckedDocument) -> Item:
    mark = {"right": "✓", "wrong": "✗"}.get(remark.verdict, "!")
    lines = [f"So: {remark.corrected}"] if remark.corrected else []
    lines += [f"{document.place(total.line)} becomes {total.becomes}, not {total.claimed}" for total in remark.totals]
    return Item(mark, f"{document.place(remark.line)}: {remark.sentence} [{remark.code}]", tuple(lines))


def _question(one: Graded, document: CheckedDocument) -> Item:
    of = "" if one.question.question.endswith("?") else "of "
    of = f" {of}{' '.join(one.question.spec)}" if one.question.spec else ""
    asked = shown(f"{one.question.question}{of} = {one.question.claim}", limit=LONGEST_LINE)
    heading = f"{document.place(one.line)}: {asked}"
    found = one.diagnosis
    if found is None:
        return Item("?", heading, (f"Not understood: {one.problem}",))
    truth = value_text(found.answer.value)
    if found.verdict == "right":
        return Item("✓", heading, ())
    if found.verdict == "convention":
        return Item("✓", heading, (f"Right under a convention: {found.convention}. {found.beside(truth)}",))
    lines = [f"It is {truth} ({found.answer.convention})."]
    for finding in found.findings:
        names = " and ".join(f"{mistake.name} [{mistake.code}]" for mistake in finding.mistakes)
        besides = f", {', '.join(finding.left_out)} left out" if finding.left_out else ""
        lines.append(f"{names}: {'; '.join(finding.what)}{besides}")
        lines += [mistake.sentence for mistake in finding.mistakes]
    return Item("✗", heading, (*lines, *found.notes))
