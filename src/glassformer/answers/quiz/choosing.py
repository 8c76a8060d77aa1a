"""Multiple choice: the right answer among the computed results of known mistakes, all distinct, in random order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glassformer.answers.quiz import claims
from glassformer.answers.quiz.draws import Draw
from glassformer.answers.quiz.marking import RIGHT, Key, Marked, Own, Section, Wrong, explained, unread
from glassformer.answers.quiz.phrases import squashed
from glassformer.answers.quiz.template import Option
from glassformer.errors import GlassformerError

LETTERS = "ABCDEFGH"
_LETTER = re.compile(r"\(?\s*(?:option|answer|choice)?\s*([A-Ha-h])\s*[).:]?\s*")
_LABEL = re.compile(r"^\s*\(?[A-Ha-h][).:]\s+")


@dataclass(frozen=True, eq=False)
class Chosen(Key):
    """The key of a multiple choice; `inner` is the key of the same question without options."""

    inner: Key
    options: tuple[Option, ...]

    @property
    def wanted(self) -> str:  # type: ignore[override]
        return f"a letter from {self.options[0].letter} to {self.options[-1].letter}"

    @property
    def right(self) -> Option:
        return next(option for option in self.options if option.right)

    @property
    def text(self) -> str:
        return f"{self.right.letter}) {self.right.text}"

    @property
    def value(self) -> Any:
        return self.right.letter

    def judge(self, claim: str) -> Marked:
        option = self.meant(claim)
        if option is None:
            return unread(self.wanted)
        if option.mistake is None:
            return RIGHT
        what = option.what if option.what != option.text else ""
        return explained([Wrong(option.text, option.letter, option.mistake, what)])

    def meant(self, claim: str) -> Option | None:
        """Return the option with this letter, text or value."""
        if len(claim) > claims.MOST_CHARACTERS:
            return None
        letter = _LETTER.fullmatch(claim.strip())
        if letter is not None:
            return next((option for option in self.options if option.letter == letter[1].upper()), None)
        plain, value = squashed(_LABEL.sub("", claim)), _value(claim)
        found = [option for option in self.options if squashed(option.text) == plain]
        found = found or [option for option in self.options if value is not None and _value(option.text) == value]
        return found[0] if len(found) == 1 else None

    def own(self, claim: str) -> Own | None:
        option = self.meant(claim)
        return self.inner.own(option.text) if option is not None else None

    def mistaken(self) -> Sequence[Wrong]:
        return [Wrong(one.letter, one.letter, one.mistake, one.what) for one in self.options if one.mistake is not None]

    def solution(self) -> tuple[Section, ...]:
        texts = {option.letter: option.text for option in self.options}
        traps = tuple(f"{wrong.text}) {texts[wrong.text]}: {wrong.mistake.name} [{wrong.code}]" for wrong in self.wrongs())
        return (*self.inner.solution(), ("the other options", traps))


def chosen(inner: Key, count: int, preferred: Sequence[str], draw: Draw) -> Chosen:
    """Return the key as a multiple choice of `count` options; mistakes that the question names come first."""
    order = {code: place for place, code in enumerate(preferred)}
    ranked = sorted(inner.wrongs(), key=lambda wrong: order.get(wrong.code, len(order)))
    picked: list[Wrong] = []
    for distinct in (True, False):  # first one option per mistake, then several for the same mistake
        for wrong in ranked:
            known = {one.code for one in picked}
            if len(picked) < count - 1 and not (distinct and wrong.code in known) and _new(wrong, inner, picked):
                picked.append(wrong)
    if len(picked) < count - 1:
        raise GlassformerError(
            f"choices = {count}, but only {len(picked)} mistakes give wrong options: lower choices, or add your own mistakes."
        )
    lines = draw.shuffled([Option(inner.text), *(Option(wrong.text, wrong.mistake, wrong.what) for wrong in picked)])
    return Chosen(inner, tuple(replace(option, letter=LETTERS[place]) for place, option in enumerate(lines)))


def _new(wrong: Wrong, inner: Key, picked: Sequence[Wrong]) -> bool:
    """Return whether neither the text nor the value of a wrong answer is already used."""
    texts = {inner.text, *(one.text for one in picked)}
    return wrong.text not in texts and not any(_same(wrong.value, value) for value in (inner.value, *(o.value for o in picked)))


def _same(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.all(np.isclose(one, other) if np.ndim(one) else one == other))


def _value(text: str) -> Any:
    """Return `64x32` as a shape, `4.7e6` as a number, and None for words."""
    numbers = claims.numbers(text)
    return claims.shapes(text) if len((claims.shapes(text) or [()])[0]) > 1 else numbers[0].value if numbers else None
