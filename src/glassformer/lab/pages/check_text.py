"""A checked solution for the page: its lines cut at every claim, and what each mark opens, hint first."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import pairwise
from typing import Any

from glassformer.answers.documents import CheckedDocument, Found
from glassformer.answers.verdicts import Diagnosis, Finding
from glassformer.lab.documents import check as documents
from glassformer.show import present
from glassformer.show.answers import value_text

MOST_LINES = 2_000  # lines of a document that the page shows
WORST: tuple[documents.Verdict, ...] = ("wrong", "unclear", "carried", "right", "note")
HINTS = {
    "arithmetic": "The two sides are not equal. Compute the left side again.",
    "total": "The items above do not add up to this. Add them again.",
    "shape": "This is not the resulting shape. Write the sizes of each factor side by side.",
    "remark": "Write the shape of each factor below it: which axes are summed over, and which remain?",
    "question": "no known mistake gives this number",
    "carried": "The arithmetic is right for the numbers in it, but one of them is wrong in an earlier line.",
    "unclear": "This could not be read as a claim, so it was not checked.",
}
NAMES = {"wrong": "wrong", "carried": "error carried forward", "unclear": "not understood"}


def annotated(document: CheckedDocument) -> documents.Checked:
    """The document line by line with what was found in each, and the count in the command line's words."""
    notes: dict[int, list[documents.Note]] = {}
    for found in document.findings:
        notes.setdefault(found.line, []).append(_note(found, document))
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
        "counts": document.counts,
        "summary": f"{document.summary()}.",
    }


def _cut(document: CheckedDocument, lines: list[str]) -> Iterator[list[tuple[str, documents.Verdict]]]:
    """Each line as pieces of text, each with the verdict of the claim that it belongs to."""
    start = 0
    for text in lines:
        end = start + len(text)
        own = [found for found in document.findings if found.start < end and found.end > start]
        edges = sorted({start, end, *(min(max(edge, start), end) for found in own for edge in (found.start, found.end))})
        parts = []
        for left, right in pairwise(edges):
            verdicts = {_verdict(found) for found in own if found.start <= left and found.end >= right}
            parts.append((document.text[left:right], _worst(verdicts)))
        yield parts
        start = end + 1


def _worst(verdicts: Set[documents.Verdict]) -> documents.Verdict:
    return next((verdict for verdict in WORST if verdict in verdicts), "")


def _verdict(found: Found) -> documents.Verdict:
    if found.kind == "note":
        return "note"
    return "right" if found.judged.right or found.verdict == "convention" else found.verdict


def _note(found: Found, document: CheckedDocument) -> documents.Note:
    """The mistake by its name, a hint that gives nothing away, then what is said about it."""
    verdict, judged = _verdict(found), found.judged
    if verdict in ("right", "note"):
        said = f"right under a convention: {judged.convention}" if judged.convention else found.sentence
        return {"verdict": verdict, "name": said or "right", "code": " and ".join(found.codes[:1]), "hint": "", "answer": []}
    first = judged.findings[0] if judged.findings else None
    sentences = [mistake.sentence for mistake in first.mistakes] if first and found.kind in ("remark", "question") else []
    hint = " ".join(sentences) or HINTS.get(verdict, HINTS.get(found.kind, HINTS["arithmetic"]))
    if found.sources:
        hint += f" Look at {', '.join(document.place(line) for line in found.sources)}."
    answer = [found.sentence or found.text]
    if found.kind == "question" and judged.truth is not None:
        whats = [what for finding in judged.findings for what in finding.what]
        answer = [f"It is {value_text(judged.truth)}.", *whats, *judged.notes]
    name = " and ".join(mistake.name for mistake in first.mistakes) if first else NAMES.get(verdict, verdict)
    code = " and ".join(first.codes) if first else ""
    return {"verdict": verdict, "name": name, "code": code, "hint": hint, "answer": [line for line in answer if line]}


def judged(found: Diagnosis) -> documents.Diagnosed:
    """A diagnosis in levels: what it is, the mistakes by name, then the truth and its derivation."""
    truth = value_text(found.answer.exact)
    page: Any = present(found.answer)
    wrong = found.verdict == "wrong"
    convention = f"right under a convention: {found.convention}. The full value is {truth}."
    return {
        "verdict": found.verdict,
        "headline": convention if found.verdict == "convention" else found.verdict,
        "mistakes": [_mistake(finding) for finding in found.findings] if wrong else [],
        "truth": f"It is {truth} ({found.answer.convention})." if wrong else f"convention: {found.convention}",
        "derivation": [line for heading, lines in page.groups if heading == "derivation" for line in lines],
        "notes": list(found.notes),
    }


def _mistake(finding: Finding) -> documents.ClaimMistake:
    left_out = [f"{word} left out" for word in finding.left_out]
    return {
        "name": " and ".join(mistake.name for mistake in finding.mistakes),
        "codes": list(finding.codes),
        "sentences": [mistake.sentence for mistake in finding.mistakes],
        "what": [f"{'; '.join((*finding.what, *left_out))}: {value_text(finding.value)}"],
        "near": finding.near,
    }
