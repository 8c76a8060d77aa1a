"""`check_worked`: judges claims about a worked problem: right, right under a convention, carried forward, or wrong and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.algebra import Result
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.search import Found
from glassformer.answers.problems.carried import Earlier
from glassformer.answers.problems.claims import Claimed, problem_and_claims, read_claims
from glassformer.answers.problems.conventions import ALSO_CALLED, conventions
from glassformer.answers.problems.corrections import correction
from glassformer.answers.problems.figures import WHOLE, Fit
from glassformer.answers.problems.implied import implied
from glassformer.answers.problems.layouts import Labels, Reading, readings, recovered
from glassformer.answers.problems.search import Hit, WorkedClaim
from glassformer.answers.problems.work import Rewrite, Work
from glassformer.answers.verdicts.verdict import Finding, Judged, Verdict
from glassformer.numbers.by_hand import Problem, Solution, solve
from glassformer.numbers.explain import number
from glassformer.program.axes import Array

TRUNCATED = "the last digit is truncated or off by one, not rounded"


@dataclass(frozen=True, repr=False)
class Checked(Result):
    """All claims about one problem."""

    title: str
    judged: tuple[Judged, ...] = field(default=())

    @property
    def right(self) -> bool:
        return all(found.right for found in self.judged)

    @property
    def wrong(self) -> tuple[Judged, ...]:
        """The claims with their own error, without those that only carry one forward."""
        return tuple(found for found in self.judged if found.verdict == "wrong")

    def __getitem__(self, name: str) -> Judged:
        return next(found for found in self.judged if found.name == name)

    def to_dict(self) -> dict[str, Any]:
        verdict = "wrong" if not self.right else "convention" if any(j.verdict == "convention" for j in self.judged) else "right"
        claims = [found.to_dict() for found in self.judged]
        return {"title": self.title, "verdict": verdict, "right": self.right, "claims": claims}


def check_worked(
    problem: Problem | Mapping[str, Any] | str | Path, claims: Mapping[str, Any] | Sequence[str] | None = None
) -> Checked:
    """Judge claims about a problem: `check_worked(problem, {"weights": "[0.6225, 0.3775]"})`.

    A problem is a `Problem`, a file, or the content of one; by default the claims come from its `claims` table.
    """
    problem, own = problem_and_claims(problem)
    solution = solve(problem)
    work = Work.of(solution, problem)
    claimed = read_claims(solution, own if claims is None else claims)
    names = {claim.quantity for claim in claimed}
    earlier = Earlier(work)
    judged = []
    for claim in claimed:
        judge = _Judge(solution, work, claim, names, earlier)
        found, hits = judge.judge()
        earlier.note(claim, wrong=not found.right, place=judge.places.get(hits[0].reading) if hits else None)
        judged.append(found)
    return Checked(solution.title, tuple(judged))


@dataclass(frozen=True, eq=False)
class _Judge:
    """Judges one claim."""

    solution: Solution
    work: Work
    claim: Claimed
    claimed: set[str]  # quantities
    earlier: Earlier

    def judge(self) -> tuple[Judged, tuple[Hit, ...]]:
        excused = self._right() or self._whole(WHOLE) or self._carried()
        if excused:
            return excused, ()
        found = self._explained(self.work, self.earlier.as_rounded(self.claim))
        excused = None if found.hits else self._whole(0.5) or self._shorter()
        if excused:
            return excused, ()
        notes: tuple[str, ...] = ()
        if not found.hits:
            supposed, names = self.earlier.supposed(self.claim)
            later = self._explained(supposed) if supposed else Found[Rewrite, Array]()
            if later.hits:
                found, notes = later, (f"from {' and '.join(names)} as claimed, this contains another error",)
        return self._wrong(found, notes), found.hits

    @property
    def _labels(self) -> Labels:
        return self.solution.labels

    @property
    def places(self) -> dict[str, Any]:
        """The index of the numbers of each layout in the whole tensor."""
        return {reading.layout: reading.place for reading in self._readings()}

    def _readings(self, work: Work | None = None) -> list[Reading]:
        return readings(work or self.work, self.claim.quantity, self._labels)

    def _explained(self, work: Work, extra: tuple[Rewrite, ...] = ()) -> Found[Rewrite, Array]:
        if work.quantity(self.claim.quantity) is None:
            return Found()
        return WorkedClaim(self.claim.figures, work, self.claim.quantity, self._labels, extra).explained()

    def _verdict(self, verdict: Verdict, **more: Any) -> Judged:
        tensor = self.work.program.tensors[self.work.names[self.claim.quantity]]
        truth = self.solution.written(tensor, self.work.values[tensor.name]).tolist()
        return Judged(self.claim.said, self.claim.figures.text, verdict, truth, **more)

    def _right(self) -> Judged | None:
        """Return the verdict if the claim is right, also in another layout or under a convention that the question allows."""
        fits: tuple[Fit, ...] = ("exact", "truncated")
        for others in (False, True):
            works = list(conventions(self.work)) if others else [("", self.work)]
            for fit in fits:
                for text, work in works:
                    for reading in self._readings(work):
                        if self.claim.figures.fitted(reading.value) == fit:
                            return self._fits(text, reading.layout, truncated=fit == "truncated")
        for quantity, text in ALSO_CALLED.get(self.claim.quantity, {}).items():
            if quantity in self.work.names and quantity not in self.claimed:
                for reading in readings(self.work, quantity, self._labels):
                    if self.claim.figures.fitted(reading.value):
                        return self._fits(text, reading.layout)
        return None

    def _fits(self, *conventions: str, truncated: bool = False) -> Judged:
        convention = ", ".join(filter(None, conventions))
        notes = (TRUNCATED,) if truncated else ()
        return self._verdict("convention" if convention else "right", convention=convention, notes=notes)

    def _carried(self) -> Judged | None:
        """Return the verdict if the claim follows from earlier wrong claims."""
        follows, layout = self.earlier.leads_to(self.claim, self._labels)
        return self._verdict("carried", follows=follows, convention=layout) if follows else None

    def _whole(self, large: float) -> Judged | None:
        """Return the verdict if the claim is right in whole numbers; `large` is the tolerance for numbers from 5 on."""
        if any(self.claim.figures.near_whole(reading.value, large=large) for reading in self._readings()):
            return self._verdict("right", notes=("rounded to whole numbers",))
        return None

    def _shorter(self) -> Judged | None:
        """Return the verdict if the claim is right except for trailing zeros, which claim too much precision."""
        shorter = self.claim.figures.without_zeros()
        if shorter is None or shorter.fitted(self._readings()[0].value) != "exact":
            return None
        places = round(-float(np.log10(shorter.units.max())))
        return self._verdict("right", notes=(f"right to {places} decimals; the trailing zeros are not right",))

    def _wrong(self, found: Found[Rewrite, Array], notes: tuple[str, ...]) -> Judged:
        findings = tuple(self._findings(found.hits))
        return self._verdict("wrong", findings=findings, notes=(*notes, *self._notes(len(findings), len(found.untold))))

    def _notes(self, findings: int, untold: int) -> Iterator[str]:
        """Yield notes on several findings, or on a claim without one."""
        if findings > 1:
            yield "several mistakes give these numbers, which do not show which one it was"
        if findings:
            return
        if untold:
            yield (
                f"the cause is uncertain: {untold} known mistake{'s match' if untold > 1 else ' matches'} so few digits, "
                "possibly by chance; give more digits"
            )
        else:
            yield "no known mistake gives these numbers"
        claimed = recovered(self.claim.figures.values, self.work, self.claim.quantity)
        yield from implied(self.claim.figures, claimed, self.work, self.claim.quantity, self._labels)
        supposed, names = self.earlier.supposed(self.claim)
        for reading in self._readings(supposed)[:1] if supposed else ():
            yield f"from {' and '.join(names)} as claimed it would be {self._numbers(reading.value.tolist())}"
        right = self.claim.figures.lined_up(self._readings()[0].value)
        if right is not None and np.isfinite(right).all() and np.abs(right).max(initial=0.0):
            off = float(np.abs(self.claim.figures.values - right).max() / np.abs(right).max())
            if off < 0.03:
                yield f"the error is at most {off:.1%} of the largest number: the method may be right"

    def _findings(self, hits: Sequence[Hit]) -> Iterator[Finding]:
        """Yield one finding per combination of codes; several ways to make the same mistake are merged."""
        merged: dict[tuple[str, ...], list[Hit]] = {}
        for hit in hits:
            merged.setdefault(hit.codes, []).append(hit)
        for codes, same in merged.items():
            first = same[0]
            what = first.what if len(codes) > 1 else (" or ".join(dict.fromkeys(hit.what[0] for hit in same)),)
            names = dict.fromkeys(made.step for made in first.made)
            steps = [correction(self.solution, name, self.claim.figures.places) for name in names]
            yield Finding(
                tuple(mistake(code, worked=True) for code in codes),
                what,
                first.value.tolist(),
                layout=first.reading,
                near=first.near,
                corrections=tuple(step for step in steps if step is not None),
            )

    def _numbers(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self._numbers(item) for item in value)}]"
        return number(float(value), self.claim.figures.places)
