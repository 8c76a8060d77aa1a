"""Which token gets the largest weight: the right one by the numbers, the others by what somebody may have looked at instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.quiz.marking import RIGHT, Key, Marked, Section, Wrong, explained, unread
from glassformer.answers.quiz.phrases import squashed
from glassformer.answers.quiz.worked import Worked
from glassformer.program.axes import Floats
from glassformer.spec import GlassformerError


@dataclass(frozen=True, eq=False)
class Largest(Key):
    """The key (token) with the largest weight in one row of weights."""

    work: Worked
    wanted: str = "one of the tokens"

    @cached_property
    def weights(self) -> Floats:
        found = self.work.value
        if found.ndim != 1 or found.size < 3:
            raise GlassformerError("'pick = largest' needs one row of at least three weights: give the problem a query.")
        ranked = np.sort(found)
        if ranked[-1] - ranked[-2] < 0.05:
            raise GlassformerError("two tokens get the largest weight: choose other parameters.")
        return found

    @cached_property
    def labels(self) -> tuple[str, ...]:
        given = self.work.solution_.labels.get("s")
        return given or tuple(f"token {place + 1}" for place in range(self.weights.size))

    @property
    def value(self) -> str:
        return self.labels[int(self.weights.argmax())]

    @property
    def text(self) -> str:
        return self.value

    def judge(self, claim: str) -> Marked:
        plain = squashed(claim)
        if plain == squashed(self.value):
            return RIGHT
        known = [wrong for wrong in self.wrongs() if squashed(wrong.text) == plain]
        return explained(known) if known else unread(self.wanted)

    def wrongs(self) -> Sequence[Wrong]:
        return self._wrongs

    @cached_property
    def _wrongs(self) -> list[Wrong]:
        values = self.work.solution_.run.values
        seen: list[tuple[str, str, int]] = []
        if "k" in values and values["k"].ndim == 2:
            longest = int(np.linalg.norm(values["k"], axis=-1).argmax())
            seen.append(("longest_key", "the key with the largest length, whatever its direction", longest))
        if self.work.solution_.problem.option("query") in self.labels:
            own = self.labels.index(self.work.solution_.problem.option("query"))
            seen.append(("query_attends_to_itself", "the query's own token", own))
        seen.append(("sign_of_scores", "the smallest score taken for the largest", int(self.weights.argmin())))
        middle = [place for place in range(self.weights.size) if place not in {place for *_, place in seen}]
        seen += [("scores_not_compared", "neither the largest score nor the largest weight", place) for place in middle]
        found: dict[str, Wrong] = {}
        for code, what, place in seen:
            label = self.labels[place]
            if label != self.value:
                found.setdefault(label, Wrong(label, label, mistake(code), what))
        return list(found.values())

    def solution(self) -> tuple[Section, ...]:
        pairs = zip(self.labels, self.weights, strict=True)
        listed = ", ".join(f"{label} {weight:.3f}" for label, weight in pairs)
        return (*self.work.solution(), ("largest", (f"weights: {listed}; the largest is that of {self.value}",)))
