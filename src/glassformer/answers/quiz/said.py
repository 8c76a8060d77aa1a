"""Questions about ideas: typed phrases, written options, and the experiment that proves the right one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from glassformer.answers.quiz.keys import RIGHT, Judgement, Key, Section, Wrong, explained, unread
from glassformer.answers.quiz.notation import MOST_CHARACTERS
from glassformer.answers.quiz.template import WrittenOption
from glassformer.numbers.experiments import experiment

SHOWN_CHECKS = 4
DENIALS = {"not", "no", "never", "neither", "without", "isn", "doesn", "don", "cannot"}
UNTOLD = Judgement("unread", Fraction(0), "this cannot be told from its words alone: a person has to read it")
ZERO = 1e-12  # what is smaller is rounding


@dataclass(frozen=True)
class Said(Key):
    """A right phrase (with the other ways to say it) and wrong ones; the reason, and the experiment that shows it."""

    answers: tuple[str, ...]
    options: tuple[WrittenOption, ...] = ()
    because: str = ""
    proof: str = ""
    wanted: str = "a few words"

    @property
    def text(self) -> str:
        return self.answers[0]

    @property
    def value(self) -> str:
        return squashed(self.text)

    def judge(self, claim: str) -> Judgement:
        plain = squashed(claim) if len(claim) <= MOST_CHARACTERS else ""
        if not plain:
            return unread(self.wanted)
        if any(plain == squashed(answer) for answer in self.answers):
            return RIGHT
        known = [wrong for wrong in self.wrongs() if plain == wrong.value]
        if known:
            return explained(known)
        said = [answer for answer in self.answers if _within(answer, claim)]
        against = [wrong for wrong in self.wrongs() if _within(wrong.text, claim)]
        if said and not against and not _denies(claim, said):
            return RIGHT
        return explained(against) if against and not said else UNTOLD

    def wrongs(self) -> Sequence[Wrong]:
        return self._wrongs

    @cached_property
    def _wrongs(self) -> list[Wrong]:
        return [Wrong(o.says, squashed(o.says), o.code, o.why or o.says) for o in self.options if not o.right]

    def solution(self) -> tuple[Section, ...]:
        why = (("why", (self.because,)),) if self.because else ()
        return (*why, *((("proof by experiment", proof_lines(self.proof)),) if self.proof else ()))


@lru_cache(maxsize=32)
def proof_lines(name: str) -> tuple[str, ...]:
    """An experiment run: its claim, whether it holds, and its first checks with their numbers."""
    found = experiment(name)
    lines = [f"glassformer experiment {name}", found.claim]
    lines += [f"{check.says}: {_number(check.found)} (wanted {check.rule})" for check in found.checks[:SHOWN_CHECKS]]
    verdict = "the claim holds" if found.holds else "the claim does not hold"
    return (*lines, f"{verdict}: {sum(check.holds for check in found.checks)} of {len(found.checks)} checks passed")


def squashed(text: str) -> str:
    """A phrase without what people vary: case, blanks, underscores, LaTeX's signs, articles, the order round an equals sign."""
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).lower().replace("\\", " ").replace("−", "-")
    plain = re.sub(r"\b(?:the|a|an|mathbb|mathrm|text|times|cdot)\b|[{}$_^,;.:!?'\"`()\[\]]", " ", plain)
    plain = "".join(plain.split())
    left, equals, right = plain.partition("=")
    return "=".join(sorted((left, right))) if equals and "=" not in right else plain


def _within(phrase: str, claim: str) -> bool:
    """Whether a longer answer says the phrase, word for word."""
    words, said = _words(phrase), _words(claim)
    return 0 < len(words) <= len(said) and any(said[i : i + len(words)] == words for i in range(len(said) - len(words) + 1))


def _denies(claim: str, phrases: Sequence[str]) -> bool:
    """Whether the claim has a `not` that none of the phrases has."""
    return bool(DENIALS & set(_words(claim)) - {word for phrase in phrases for word in _words(phrase)})


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:_[^\W_]+)*", unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).lower())


def _number(value: float) -> str:
    return f"< {ZERO:g}" if abs(value) <= ZERO else f"{value:.4g}"
