"""A checked solution for the page: its lines cut at every claim, and what each mark opens, hint first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from glassformer.answers.documents import CheckedDocument, Finding
from glassformer.answers.judging import Diagnosis
from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.quiz.misconceptions import mistake
from glassformer.answers.solutions import CheckedSolution, Graded, Remark
from glassformer.show import present
from glassformer.show.answers import value_text

MOST_LINES = 2_000  # lines of a document that the page shows
WORST = ("wrong", "unclear", "carried", "right", "note")
HINTS = {
    "arithmetic": "The two sides are not equal. Work the left side out once more.",
    "total": "The items above do not add up to this. Add them again.",
    "shape": "This is not the shape that comes out. Write the sizes of each factor side by side.",
    "carried": "The arithmetic is right for the numbers in it, but one of them is wrong further up.",
    "unclear": "This could not be read as a claim, so nothing is said about it.",
}


def annotated(found: CheckedSolution) -> dict[str, Any]:
    """The document line by line, the remarks and questions at their lines, and the count in the command line's words."""
    document = found.document
    notes: dict[int, list[dict[str, Any]]] = {}
    for finding in document.claims:
        notes.setdefault(finding.line, []).append(_finding(finding, document))
    for remark in found.remarks:
        notes.setdefault(remark.line, []).append(_remark(remark, document))
    for one in found.graded:
        notes.setdefault(one.line, []).append(_question(one))
    lines = document.text.rstrip("\n").split("\n")
    return {
        "lines": [
            {
                "number": number,
                "place": document.place(number),
                "parts": parts,
                "mark": _worst({note["verdict"] for note in notes.get(number, [])}),
                "notes": notes.get(number, []),
            }
            for number, parts in enumerate(_cut(document, lines[:MOST_LINES]), start=1)
        ],
        "left_out": max(0, len(lines) - MOST_LINES),
        "counts": found.counts,
        "summary": f"{found.summary()}.",
    }


def _cut(document: CheckedDocument, lines: list[str]) -> Iterator[list[tuple[str, str]]]:
    """Each line as pieces of text, each with the verdict of the claim that it belongs to."""
    start, claims = 0, document.claims
    for text in lines:
        end = start + len(text)
        own = [finding for finding in claims if finding.start < end and finding.end > start]
        edges = sorted({start, end, *(min(max(edge, start), end) for finding in own for edge in (finding.start, finding.end))})
        parts = []
        for left, right in pairwise(edges):
            verdicts = {finding.verdict for finding in own if finding.start <= left and finding.end >= right}
            parts.append((document.text[left:right], _worst(verdicts)))
        yield parts
        start = end + 1


def _worst(verdicts: set[Any]) -> str:
    return next((verdict for verdict in WORST if verdict in verdicts), "")


def _note(verdict: str, name: str, code: str, hint: str, answer: list[str]) -> dict[str, Any]:
    return {"verdict": verdict, "name": name, "code": code, "hint": hint, "answer": [line for line in answer if line]}


def _finding(finding: Finding, document: CheckedDocument) -> dict[str, Any]:
    """An equality: the slip by its name, a hint that gives nothing away, then the value that was due."""
    if finding.verdict == "right":
        return _note("right", finding.sentence or "right", "", "", [])
    slip = finding.slips[0] if finding.slips else None
    kind = finding.verdict if finding.verdict in HINTS else finding.kind
    hint = HINTS.get(kind, HINTS["arithmetic"])
    if finding.sources:
        hint += f" Look at {', '.join(document.place(line) for line in finding.sources)}."
    said = {"wrong": "wrong", "carried": "an error carried forward", "unclear": "not understood"}[finding.verdict]
    name = mistake(slip.code).name if slip else said
    return _note(finding.verdict, name, slip.code if slip else "", hint, [finding.sentence or finding.text, finding.implied])


def _remark(remark: Remark, document: CheckedDocument) -> dict[str, Any]:
    """A remark: the mistake by its name and what is so in general, then the sentence with the numbers and the step done right."""
    if remark.verdict != "wrong":
        return _note(remark.verdict, remark.sentence, remark.code, "", [])
    known = CATALOGUE.get(remark.code)
    name = known.name if known else remark.code.replace("_", " ")
    hint = known.sentence if known else "Write the shape of each factor below it: which axes meet, and which are left?"
    answer = [remark.sentence, f"So: {remark.corrected}" if remark.corrected else ""]
    answer += [f"{document.place(total.line)} becomes {total.becomes}, not {total.claimed}" for total in remark.totals]
    return _note("wrong", name, remark.code, hint, answer)


def _question(one: Graded) -> dict[str, Any]:
    if one.diagnosis is None:
        return _note("unclear", "not understood", "", one.problem, [])
    found = judged(one.diagnosis)
    verdict = "right" if one.grade == "convention" else one.grade
    name = found["headline"] if verdict == "right" else found["mistakes"][0]["name"] if found["mistakes"] else "wrong"
    code = " and ".join(found["mistakes"][0]["codes"]) if found["mistakes"] else ""
    hint = " ".join(found["mistakes"][0]["sentences"]) if found["mistakes"] else "no known mistake gives this number"
    if verdict == "right":
        return _note(verdict, name, code, "", [])
    return _note(verdict, name, code, hint, [found["truth"], *[what for each in found["mistakes"] for what in each["what"]]])


def judged(found: Diagnosis) -> dict[str, Any]:
    """A diagnosis in levels: what it is, the mistakes by name, then the truth and its derivation."""
    truth = value_text(found.answer.value)
    page: Any = present(found)
    derivation = [line for heading, lines in page.groups if heading == "derivation" for line in lines]
    if found.verdict != "wrong":
        headline = f"right under a convention: {found.convention}. {found.beside(truth)}"
        return {
            "verdict": found.verdict,
            "headline": headline if found.verdict == "convention" else "right",
            "mistakes": [],
            "truth": f"convention: {found.convention}",
            "derivation": derivation or _derived(found),
            "notes": list(found.notes),
        }
    return {
        "verdict": "wrong",
        "headline": "wrong",
        "mistakes": [
            {
                "name": " and ".join(mistake.name for mistake in finding.mistakes),
                "codes": list(finding.codes),
                "sentences": [mistake.sentence for mistake in finding.mistakes],
                "what": [f"{'; '.join((*finding.what, *_left_out(finding.left_out)))}: {value_text(finding.value)}"],
                "near": finding.near,
            }
            for finding in found.findings
        ],
        "truth": f"It is {truth} ({found.answer.convention}).",
        "derivation": derivation or _derived(found),
        "notes": list(found.notes),
    }


def _left_out(words: tuple[str, ...]) -> list[str]:
    return [f"{word} left out" for word in words]


def _derived(found: Diagnosis) -> list[str]:
    page: Any = present(found.answer)
    return [line for heading, lines in page.groups if heading == "derivation" for line in lines]
