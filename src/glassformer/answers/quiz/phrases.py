"""Conceptual questions: options and phrases listed in the set, the reason, and the experiment that proves it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from glassformer.answers.quiz.claims import MOST_CHARACTERS
from glassformer.answers.quiz.marking import BY_HAND, RIGHT, Key, Marked, Section, Wrong, explained, unread
from glassformer.numbers.experiments import experiment

SHOWN_CHECKS = 4
ZERO = 1e-12  # smaller values are rounding errors
_SILENT = re.compile(r"\b(?:the|a|an|mathbb|mathrm|text|times|cdot)\b|[{}$_^,;.:!?'\"`()\[\]]")


@dataclass(frozen=True)
class Phrase(Key):
    """The key of a phrase: right phrases, the first of which is shown, and wrong ones with their mistakes."""

    answers: tuple[str, ...]
    listed: tuple[Wrong, ...] = ()
    because: str = ""
    proof: str = ""
    work: Key | None = None  # the by-hand problem that the phrase follows from
    wanted: str = "a few words"

    @property
    def text(self) -> str:
        return self.answers[0]

    @property
    def value(self) -> str:
        return squashed(self.text)

    def judge(self, claim: str) -> Marked:
        plain = squashed(claim) if len(claim) <= MOST_CHARACTERS else ""
        if not plain:
            return unread(self.wanted)
        if any(plain == squashed(answer) for answer in self.answers):
            return RIGHT
        known = [wrong for wrong in self.listed if plain == wrong.value]
        return explained(known) if known else BY_HAND

    def mistaken(self) -> Sequence[Wrong]:
        return self.listed

    def solution(self) -> tuple[Section, ...]:
        work = self.work.solution() if self.work else ()
        why: tuple[Section, ...] = (("why", (self.because,)),) if self.because else ()
        proof: tuple[Section, ...] = (("proof by experiment", proof_lines(self.proof)),) if self.proof else ()
        return (*work, *why, *proof)


@lru_cache(maxsize=32)
def proof_lines(name: str) -> tuple[str, ...]:
    """Run an experiment and return its claim, whether it holds, and its first checks with their numbers."""
    found = experiment(name)
    lines = [f"glassformer experiment {name}", found.claim]
    lines += [f"{check.says}: {_number(check.found)} (expected {check.rule})" for check in found.checks[:SHOWN_CHECKS]]
    verdict = "the claim holds" if found.holds else "the claim does not hold"
    return (*lines, f"{verdict}: {sum(check.holds for check in found.checks)} of {len(found.checks)} checks passed")


def squashed(text: str) -> str:
    """Return a phrase without case, spaces, underscores, LaTeX markup and articles, with the sides of an equation sorted."""
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).lower().replace("\\", " ").replace("−", "-")
    plain = "".join(_SILENT.sub(" ", plain).split())
    left, equals, right = plain.partition("=")
    return "=".join(sorted((left, right))) if equals and "=" not in right else plain


def _number(value: float) -> str:
    return f"< {ZERO:g}" if abs(value) <= ZERO else f"{value:.4g}"
