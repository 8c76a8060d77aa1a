"""A checked document: its lines with marks and remarks, the claims about a spec, then the count."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.answers.documents import CheckedDocument, Found
from glassformer.errors import shown
from glassformer.show.answers import value_text
from glassformer.show.fragment import fragment
from glassformer.show.inert import markdown_literal
from glassformer.show.markup import Child, Html, tags
from glassformer.show.present import present
from glassformer.show.table import latex_text

MARKS = {"right": "✓", "convention": "✓", "wrong": "✗", "carried": "→", "unclear": "?"}
WORST = "✗?→✓!"
LATEX_MARKS = {"✓": r"$\checkmark$", "✗": r"$\times$", "→": r"$\to$", "?": "?", "!": "!", "": ""}
COLOURS = {"✓": "#1a7f37", "✗": "#cf222e", "→": "#9a6700", "?": "#57606a"}
ONLY_WRITTEN = "The written statements were checked; whether they are the right calculation is judged only for recognised parts."
MOST_LINES = 400  # longer documents show only the lines with a mark
LONGEST_LINE = 200
WIDTH = 110


@dataclass(frozen=True)
class Line:
    """A line of the document with its most severe mark, and the remarks below it."""

    place: str
    mark: str
    text: str
    said: tuple[tuple[str, str], ...]  # mark and sentence


@dataclass(frozen=True)
class Item:
    """A claim about a spec: a mark, where, a heading, and lines below it."""

    mark: str
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class AnnotatedDocument:
    """The annotated document as text, Markdown, LaTeX or HTML; text of the document is escaped."""

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

    def html(self) -> Html:
        rows = [
            tags.tr(
                tags.td(line.place, class_="n"),
                tags.td(_mark(line.mark)),
                tags.td(tags.code(line.text), [tags.div(_mark(mark), f" {said}") for mark, said in line.said]),
            )
            for line in self.lines
        ]
        groups = [
            [tags.h4(heading), tags.ul([tags.li(_mark(item.mark), f" {item.heading}", _listed(item.lines)) for item in items])]
            for heading, items in self.groups
        ]
        return fragment(tags.h3(self.title), tags.table(tags.tbody(rows), class_="lines"), groups, tags.p(self.closing))

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


def _listed(lines: tuple[str, ...]) -> Html | None:
    return tags.ul([tags.li(line) for line in lines]) if lines else None


def _mark(mark: str) -> Child:
    return tags.span(mark, style=f"color:{COLOURS[mark]}") if mark in COLOURS else mark


def _wrapped(start: str, text: str, indent: int) -> list[str]:
    first, rest = " " * indent + start, " " * (indent + len(start))
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest) or [first.rstrip()]


@present.register
def _document(document: CheckedDocument) -> AnnotatedDocument:
    questions = tuple(_question(found, document) for found in document.questions)
    groups = (("Questions", questions),) if questions else ()
    closing = f"{document.summary()}." + ("" if document.counts["wrong"] else f" {ONLY_WRITTEN}")
    return AnnotatedDocument(document.name, tuple(_lines(document)), groups, closing)


def _lines(document: CheckedDocument) -> Iterator[Line]:
    """Return the lines of a document with their most severe mark; of a long document only those with a mark."""
    found: dict[int, list[Found]] = {}
    for one in document.findings:
        found.setdefault(one.line, []).append(one)
    lines = document.text.rstrip("\n").split("\n")
    cells = dict(document.cells)
    first, cell = 1, 0
    for number, text in enumerate(lines, start=1):
        if number in cells:
            first, cell = number, cells[number]
        here = found.get(number, [])
        if here or len(lines) <= MOST_LINES:
            marks = {_mark_of(one) for one in here}
            mark = next((sign for sign in WORST if sign in marks), "")
            place = f"{cell}:{number - first + 1}" if cell else str(number)
            said = [
                (_mark_of(one), _said(one)) for one in here if one.kind != "question" and (one.verdict != "right" or one.sentence)
            ]
            yield Line(place, mark, shown(text.expandtabs(4), limit=LONGEST_LINE), tuple(said))


def _mark_of(found: Found) -> str:
    return "!" if found.kind == "note" else MARKS[found.verdict]


def _said(found: Found) -> str:
    """The remarks below a line, with the mistake's code if a remark names one."""
    code = f" [{found.codes[0]}]" if found.kind in ("remark", "note") and found.codes else ""
    return f"{found.sentence or found.text}{code}"


def _question(found: Found, document: CheckedDocument) -> Item:
    judged = found.judged
    heading = f"{document.place(found.line)}: {shown(f'{judged.name} = {judged.claim}', limit=LONGEST_LINE)}"
    if judged.verdict == "unclear":
        return Item("?", heading, judged.notes)
    truth = value_text(judged.truth)
    if judged.verdict == "right":
        return Item("✓", heading, ())
    if judged.verdict == "convention":
        return Item("✓", heading, (f"Right under a convention: {judged.convention}. The full value is {truth}.",))
    lines = [f"It is {truth}."]
    for finding in judged.findings:
        names = " and ".join(f"{mistake.name} [{mistake.code}]" for mistake in finding.mistakes)
        besides = f", {', '.join(finding.left_out)} left out" if finding.left_out else ""
        lines.append(f"{names}: {'; '.join(finding.what)}{besides}")
        lines += [mistake.sentence for mistake in finding.mistakes]
    return Item("✗", heading, (*lines, *judged.notes))
