"""Presentation of checked claims about problems by hand: the verdict, the right value, the mistake, the correct step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glassformer.answers.problems import Checked
from glassformer.answers.problems.figures import read_figures
from glassformer.answers.verdicts import Finding, Judged
from glassformer.numbers.explain import number
from glassformer.show.answers import Paragraphs
from glassformer.show.present import present

MOST_NUMBERS = 64
MOST_EXPLAINED = 3  # for each of this many mistakes, the correct step is shown
VERDICTS = {
    "right": "right",
    "convention": "right under a convention",
    "carried": "carried forward",
    "wrong": "wrong",
}


@present.register
def _checked(found: Checked) -> Paragraphs:
    groups = [group for judged in found.judged for group in _groups(judged)]
    return Paragraphs(f"{found.title}: {_summary(found)}", tuple(groups))


def _summary(found: Checked) -> str:
    counts = {verdict: sum(judged.verdict == verdict for judged in found.judged) for verdict in VERDICTS}
    if len(found.judged) == 1:
        return VERDICTS[found.judged[0].verdict]
    return ", ".join(f"{count} {VERDICTS[verdict]}" for verdict, count in counts.items() if count)


def _groups(judged: Judged) -> Iterator[tuple[str, tuple[str, ...]]]:
    lines: list[str] = []
    digits = read_figures(judged.claim).places  # as many decimals as in the claim
    if judged.convention:
        lines.append(judged.convention)
    if judged.verdict == "carried":
        lines.append(f"it follows from {' and '.join(judged.follows)} as claimed: no new error")
    if judged.verdict != "right":
        lines.append(f"{'as the problem writes it' if judged.right else 'it is'} {value_text(judged.truth, digits)}")
    yield f"{VERDICTS[judged.verdict]}. {judged.name} = {judged.claim}", (*lines, *judged.notes)
    for finding in judged.findings:
        full = len(judged.findings) <= MOST_EXPLAINED
        names = " and ".join(f"{mistake.name} [{mistake.code}]" for mistake in finding.mistakes)
        yield f"{judged.name}: {names}", tuple(_explained(finding, digits, full=full))


def _explained(finding: Finding, digits: int, *, full: bool) -> Iterator[str]:
    fits = "close to these numbers; the last digit is off" if finding.near else "this gives exactly these numbers"
    where = f" ({finding.layout})" if finding.layout else ""
    yield f"{'; '.join(finding.what)}{where}: {fits}"
    yield from (mistake.sentence for mistake in finding.mistakes)
    for step in finding.corrections if full else ():
        yield f"done right: {step.rule}"
        yield from step.numbers
        yield f"{step.name} = {value_text(step.value, digits)}"


def value_text(value: Any, digits: int = 4) -> str:
    """Nested lists of numbers in brackets; a large one is cut."""
    if not isinstance(value, list):
        return number(float(value), digits)
    if _size(value) > MOST_NUMBERS:
        return f"a matrix of {_size(value)} numbers"
    return f"[{', '.join(value_text(item, digits) for item in value)}]"


def _size(value: Any) -> int:
    return sum(map(_size, value)) if isinstance(value, list) else 1
