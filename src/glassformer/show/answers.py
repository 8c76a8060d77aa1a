"""How answers and diagnoses look: the value first, then why, then the other conventions."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from glassformer.answers.asked import Answer, Numbers
from glassformer.answers.judging import Diagnosis
from glassformer.show.inert import clean, markdown_text
from glassformer.show.present import present
from glassformer.show.table import latex_text

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

    def html(self) -> str:
        parts = [f"<h3>{html.escape(self.title)}</h3>"]
        for heading, items in self.groups:
            listed = "".join(f"<li>{html.escape(item)}</li>" for item in items)
            parts.append((f"<h4>{html.escape(heading)}</h4>" if heading else "") + f"<ul>{listed}</ul>")
        return f"<div class=glassformer>{''.join(parts)}</div>"


def value_text(value: Any) -> str:
    """A number with its thousands set apart, a shape, or a class as it is written."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 10**6 else f"{value:,.6g}"
    if isinstance(value, Numbers):
        return f"[{', '.join(_cell(part) for part in value)}]"
    return " × ".join(str(size) for size in value) if isinstance(value, tuple) else f"{value:,}"


def _cell(part: Any) -> str:
    """A number of a vector, with four decimals where it is not whole; a row as a vector."""
    return value_text(part) if isinstance(part, tuple) else f"{part:.4f}" if isinstance(part, float) else str(part)


def _asked(answer: Answer) -> str:
    """`params of bert-base:`; a whole sentence stands before the encoder as it is, and alone where it gives the numbers."""
    text = answer.question.text
    if answer.question.kind in ("worked", "reckoned"):
        return text if text.endswith("?") else f"{text.rstrip('.')}:"
    return f"{text} {answer.asked.label}:" if text.endswith("?") else f"{text} of {answer.asked.label}:"


@present.register
def _answer(answer: Answer) -> Paragraphs:
    title = f"{_asked(answer)} {value_text(answer.value)}"
    if answer.unit not in ("shape", ""):
        title += f" {answer.unit}"
    return Paragraphs(title, (("", (f"convention: {answer.convention}",)), *_derivation(answer), *_others(answer)))


def _derivation(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    lines = [
        " = ".join(part for part in (line.what, line.symbols, line.numbers, value_text(line.value)) if part)
        for line in answer.lines
    ]
    if len(lines) > 1 and answer.unit != "elements" and answer.question.kind != "worked":
        lines.append(f"sum = {value_text(answer.value)}")
    if len(lines) > SHOWN_LINES:
        lines = [*lines[: SHOWN_LINES - 1], f"… and {len(lines) - SHOWN_LINES} more", lines[-1]]
    return [("derivation", tuple(lines))]


def _others(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    items = tuple(f"{other.convention}: {value_text(other.value)}" for other in answer.others[:SHOWN_OTHERS])
    return [("under other conventions", items)] if items else []


@present.register
def _diagnosis(found: Diagnosis) -> Paragraphs:
    subject = f"{_asked(found.answer)} {found.claim.text}"
    if found.verdict == "right":
        return Paragraphs(f"right. {subject}", (("", (f"convention: {found.convention}",)),))
    truth = value_text(found.answer.value)
    if found.verdict == "convention":
        said = (f"{found.convention}. {found.beside(truth)}",)
        sentences = tuple(mistake.sentence for finding in found.findings for mistake in finding.mistakes)
        return Paragraphs(f"right under a convention. {subject}", (("", (*said, *sentences)),))
    groups: list[tuple[str, tuple[str, ...]]] = [("", (f"it is {truth} ({found.answer.convention})",))]
    for finding in found.findings:
        close = "close to what this mistake gives; the rest is arithmetic" if finding.near else "this gives exactly that number"
        besides = f", {', '.join(finding.left_out)} left out" if finding.left_out else ""
        lines = [f"{'; '.join(finding.what)}{besides}: {value_text(finding.value)} ({close})"]
        lines += [mistake.sentence for mistake in finding.mistakes]
        groups.append((" and ".join(f"{mistake.name} [{mistake.code}]" for mistake in finding.mistakes), tuple(lines)))
    if found.notes:
        groups.append(("", found.notes))
    if found.findings:
        groups += _derivation(found.answer)
    return Paragraphs(f"wrong. {subject}", tuple(groups))
