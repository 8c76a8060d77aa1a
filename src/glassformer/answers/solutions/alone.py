"""Sentences that can be judged by themselves, `BERT-base has 110M parameters`, and questions with their answers behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from glassformer.answers.claimed import Number
from glassformer.answers.documents import CheckedDocument, Question
from glassformer.answers.judging import Diagnosis, check_alone
from glassformer.answers.judging.sentences import claims_in
from glassformer.answers.solutions.graded import Graded
from glassformer.spec import GlassformerError

MOST_JUDGED = 200
MOST_TRIED = 2_000
REACH = 4  # lines from a question to its answer
NEAR = 0.05  # a rounded number that near is published loosely more often than it is wrong: nothing is said of it,
NEAR_UNEXPLAINED = 0.1  # and of one that no mistake explains, even if it is twice as far: ALBERT-xxlarge's 235M are 223M

_MARKS = re.compile(r"^[\s>#*+-]*(?:\(?[0-9a-zA-Z]{1,2}[.)]\s+)?|\*\*|__|`|\\(?:text|textbf|emph)\b|[{}$]")
_SENTENCE = re.compile(r"(?<=[a-z0-9)\]%])[.!;]\s+(?=[A-Z0-9(])")
_ASKED = re.compile(
    r"(?:^|.*?[.!]\s+)?(?:(?:Q|Question|Problem|Exercise)\s*\d*\s*[:.)]\s*)?(?P<question>[A-Z][^?]{8,380}\?)\s*(?P<rest>.*)$"
)
_ANSWER = re.compile(r"^(?:A|Ans|Answer|Solution|Correct answer)\s*\d*\s*[:.)=]\s*(?P<answer>.+)$", re.I)
_VALUE = re.compile(
    r"(?:it is |it's |there are |that is |about |approximately |roughly |~ ?|≈ ?)*"
    r"(?P<value>O\([^()]*\)|[\[(]?\d+(?:\s*(?:[x×,]|by)\s*\d+)+[\])]?(?![\d,.])|\d[\d,]*(?:\.\d+)?(?:\s?(?:million|billion|[KMB](?!\w)|%|[KMG]i?B))?)"
    r"(?P<unit>(?:\s+(?:[a-z-]+)){0,3})\s*[.!]?\s*$",
    re.I,
)


def judged_alone(document: CheckedDocument, taken: set[int]) -> Iterator[Graded]:
    """Every claim that needs nothing else of the document and is understood; of the rest nothing is said, and nothing counted."""
    found = 0
    for tried, (line, question, claim) in enumerate(_said(document)):
        if tried >= MOST_TRIED or found >= MOST_JUDGED:
            return
        if line in taken:
            continue
        diagnosis = _judged(question, claim)
        if diagnosis is not None and (diagnosis.right or _certain(diagnosis)):
            found += 1
            yield Graded(Question(line, (), question, claim), diagnosis)


@lru_cache(maxsize=256)  # a document says the same thing often
def _judged(question: str, claim: str) -> Diagnosis | None:
    with suppress(GlassformerError):
        return check_alone(question, claim)
    return None


def _certain(diagnosis: Diagnosis) -> bool:
    """Whether a wrong answer is wrong beyond doubt: nothing was taken for granted, and it is no loosely rounded figure."""
    claim, truth = diagnosis.claim, diagnosis.answer.value
    if diagnosis.answer.assumed or diagnosis.answer.reading != "whole":
        return False
    if isinstance(claim, Number) and not claim.exact and not isinstance(truth, tuple):
        near = NEAR if diagnosis.findings else NEAR_UNEXPLAINED
        return abs(float(claim.value) - truth) > near * abs(truth)
    return True


def _said(document: CheckedDocument) -> Iterator[tuple[int, str, str]]:
    """Line, question and claim: of sentences, and of questions whose answer follows."""
    lines = document.text.split("\n")
    fenced = False
    for number, raw in enumerate(lines, start=1):
        if raw.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or len(raw) > 2_000 or (not re.search(r"\d|O\(", raw) and "?" not in raw):
            continue
        text = " ".join(_MARKS.sub(" ", raw).split())
        asked = _ASKED.match(text)
        if asked:
            yield from _answered(asked, lines, number)
            continue
        for sentence in _SENTENCE.split(text):
            for said in claims_in(sentence):
                yield number, *said


def _answered(asked: re.Match[str], lines: list[str], number: int) -> Iterator[tuple[int, str, str]]:
    """The answer behind a question: on its line, or on one of the next that begins with `Answer:`."""
    texts = [(number, asked["rest"])]
    texts += [(at + 1, " ".join(_MARKS.sub(" ", lines[at]).split())) for at in range(number, min(len(lines), number + REACH))]
    for at, text in texts:
        marked = _ANSWER.match(text)
        answer = marked["answer"] if marked else text if at == number else ""
        if at != number and "?" in text:
            return
        value = _VALUE.match(answer)
        if value:
            yield at, asked["question"], value["value"].strip()
        if answer:
            return
