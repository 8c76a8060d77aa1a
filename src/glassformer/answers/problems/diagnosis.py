"""Claims about worked numbers judged: right, right under a convention, carried forward, or wrong and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glassformer.algebra import Result
from glassformer.answers.problems.carried import Earlier
from glassformer.answers.problems.claims import Claimed, problem_and_claims, read_claims
from glassformer.answers.problems.conventions import ALSO_CALLED, conventions
from glassformer.answers.problems.findings import Finding, correction, mistake
from glassformer.answers.problems.fitting import WHOLE, fitted, lined_up, near_whole, readings, recovered
from glassformer.answers.problems.implied import implied
from glassformer.answers.problems.search import Found, Hit, Search
from glassformer.answers.problems.work import Work
from glassformer.numbers.by_hand import Problem, Solution, solve
from glassformer.numbers.explain import number

Verdict = Literal["right", "convention", "carried", "wrong"]
TRUNCATED = "the last digit is cut off or off by one, not rounded"


@dataclass(frozen=True)
class Judged:
    """One claim and what it is. `follows`: the wrong claims that it follows from."""

    name: str
    claim: str
    verdict: Verdict
    truth: Any
    convention: str = ""
    findings: tuple[Finding, ...] = ()
    follows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    digits: int = 4  # decimals to show, as many as were claimed

    @property
    def right(self) -> bool:
        return self.verdict in ("right", "convention")

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "claim": self.claim,
            "verdict": self.verdict,
            "right": self.right,
            "truth": self.truth,
            "convention": self.convention,
            "findings": [finding.to_dict() for finding in self.findings],
            "follows": list(self.follows),
            "notes": list(self.notes),
        }


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
        """The claims with an error of their own; those that only carry one forward are not among them."""
        return tuple(found for found in self.judged if found.verdict == "wrong")

    def __getitem__(self, name: str) -> Judged:
        return next(found for found in self.judged if found.name == name)

    def to_dict(self) -> dict[str, Any]:
        verdict = "wrong" if not self.right else "convention" if any(j.verdict == "convention" for j in self.judged) else "right"
        return {
            "title": self.title,
            "verdict": verdict,
            "right": self.right,
            "claims": [found.to_dict() for found in self.judged],
        }


def check_worked(
    problem: Problem | Mapping[str, Any] | str | Path, claims: Mapping[str, Any] | Sequence[str] | None = None
) -> Checked:
    """Judge what somebody worked out: `check_worked(problem, {"weights": "[0.6225, 0.3775]"})`.

    A problem is a `Problem`, a file, or what stands in one; claims come from its `claims` table where none are given.
    """
    problem, own = problem_and_claims(problem)
    solution = solve(problem)
    work = Work.of(solution, problem)
    claimed = read_claims(solution, own if claims is None else claims)
    names = {claim.quantity for claim in claimed}
    earlier = Earlier(work)
    judged = []
    for claim in claimed:
        found, hits = _Judge(solution, work, claim, names, earlier).judge()
        earlier.note(claim, wrong=not found.right, place=hits[0].reading.place if hits else None)
        judged.append(found)
    return Checked(solution.title, tuple(judged))


@dataclass(frozen=True, eq=False)
class _Judge:
    """One claim before the bench."""

    solution: Solution
    work: Work
    claim: Claimed
    claimed: set[str]  # quantities
    earlier: Earlier

    def judge(self) -> tuple[Judged, tuple[Hit, ...]]:
        excused = self._right() or self._whole(WHOLE) or self._carried()
        if excused:
            return excused, ()
        found = Search(self.claim.figures, self.work, self.claim.quantity, self._labels, self._rounded_before()).run()
        excused = None if found.hits else self._whole(0.5) or self._shorter()
        if excused:
            return excused, ()
        notes: tuple[str, ...] = ()
        if not found.hits:
            later, names = self._after_wrong_claims()
            if later.hits:
                found, notes = later, (f"from {_and(names)} as claimed, this has an error of its own",)
        return self._wrong(found, notes), found.hits

    @property
    def _labels(self) -> Mapping[str, tuple[str, ...]]:
        return self.solution.labels

    def _verdict(self, verdict: Verdict, **more: Any) -> Judged:
        tensor, value = self.work.program.tensors[self.work.names[self.claim.quantity]], self.work.values
        truth = self.solution.written(tensor, value[tensor.name]).tolist()
        return Judged(self.claim.said, self.claim.figures.text, verdict, truth, digits=self._digits, **more)

    def _right(self) -> Judged | None:
        """Right as it stands, in another layout, or under a convention that the question leaves open."""
        for name, works in (("exact", [("", self.work)]), ("truncated", [("", self.work)]), ("exact", None), ("truncated", None)):
            for text, work in conventions(self.work) if works is None else works:
                for reading in readings(work, self.claim.quantity, self._labels):
                    if fitted(self.claim.figures, reading.value) == name:
                        return self._fits(", ".join(filter(None, (text, reading.layout))), truncated=name == "truncated")
        for quantity, text in ALSO_CALLED.get(self.claim.quantity, {}).items():
            if quantity in self.work.names and quantity not in self.claimed:
                for reading in readings(self.work, quantity, self._labels):
                    if fitted(self.claim.figures, reading.value):
                        return self._fits(", ".join(filter(None, (text, reading.layout))))
        return None

    def _fits(self, convention: str, *, truncated: bool = False) -> Judged:
        notes = (TRUNCATED,) if truncated else ()
        return self._verdict("convention" if convention else "right", convention=convention, notes=notes)

    def _carried(self) -> Judged | None:
        """What follows from wrong claims before it has no error of its own."""
        follows, layout = self.earlier.leads_to(self.claim, self._labels)
        if not follows:
            return None
        return self._verdict("carried", follows=follows, convention=layout)

    def _rounded_before(self) -> tuple[Any, ...]:
        return self.earlier.as_rounded(self.claim)

    def _after_wrong_claims(self) -> tuple[Found, tuple[str, ...]]:
        supposed, names = self.earlier.supposed(self.claim)
        if supposed is None or supposed.quantity(self.claim.quantity) is None:
            return Found(), ()
        return Search(self.claim.figures, supposed, self.claim.quantity, self._labels).run(), names

    def _whole(self, large: float) -> Judged | None:
        """Right in whole numbers; `large`: how far numbers from 5 on may be off, once no mistake explains them."""
        right = readings(self.work, self.claim.quantity, self._labels)
        if any(near_whole(self.claim.figures, reading.value, large=large) for reading in right):
            return self._verdict("right", notes=("rounded to whole numbers",))
        return None

    def _shorter(self) -> Judged | None:
        """Right but for zeros at the end, which say more than is so."""
        shorter = self.claim.figures.without_zeros()
        right = readings(self.work, self.claim.quantity, self._labels)
        if shorter is None or fitted(shorter, right[0].value) != "exact":
            return None
        places = round(-float(np.log10(shorter.units.max())))
        return self._verdict("right", notes=(f"right to {places} places: the zeros after them are not right",))

    def _wrong(self, found: Found, notes: tuple[str, ...]) -> Judged:
        findings = tuple(self._findings(found.hits))
        said = list(notes)
        if len(findings) > 1:
            said.append("several mistakes give these numbers: which one it was cannot be told from them alone")
        if not findings and found.untold:
            said.append(
                f"it cannot be told why: so few digits fit {len(found.untold)} known mistake{'s' * (len(found.untold) > 1)}, "
                "and may do so by accident; more digits would tell"
            )
        elif not findings:
            said.append("no known mistake gives these numbers")
        if not findings:
            claimed = recovered(self.claim.figures, self.work, self.claim.quantity)
            said += implied(self.claim.figures, claimed, self.work, self.claim.quantity, self._labels)
            said += self._would_be()
            said += self._closeness()
        return self._verdict("wrong", findings=findings, notes=tuple(said))

    def _findings(self, hits: Sequence[Hit]) -> list[Finding]:
        """One finding for each way of naming the mistakes; several ways of making the same one stand in it together."""
        merged: dict[tuple[str, ...], list[Hit]] = {}
        for hit in hits:
            merged.setdefault(hit.codes, []).append(hit)
        return [self._finding(codes, same) for codes, same in merged.items()]

    def _finding(self, codes: tuple[str, ...], hits: list[Hit]) -> Finding:
        first = hits[0]
        what = first.what if len(codes) > 1 else (" or ".join(dict.fromkeys(hit.what[0] for hit in hits)),)
        names = [made.step for made in first.rewrites] or [self.work.names[self.claim.quantity]]
        steps = [correction(self.solution, name, self._digits) for name in dict.fromkeys(names)]
        value = self.claim.figures.values if first.slip else first.reading.value
        return Finding(
            tuple(mistake(code) for code in codes),
            what,
            first.reading.layout,
            value.tolist(),
            tuple(step for step in steps if step is not None),
            first.near,
        )

    @property
    def _digits(self) -> int:
        units = self.claim.figures.units
        finest = float(units[units > 0].min(initial=1.0))
        return max(4, min(8, round(-float(np.log10(finest)))))

    def _would_be(self) -> list[str]:
        """What wrong claims before this one lead to, where it is not this one."""
        supposed, names = self.earlier.supposed(self.claim)
        right = readings(supposed, self.claim.quantity, self._labels) if supposed else []
        return [f"from {_and(names)} as claimed it would be {_numbers(right[0].value.tolist(), self._digits)}"] if right else []

    def _closeness(self) -> list[str]:
        """Said where the claim is off by little: the method may well be right."""
        right = lined_up(self.claim.figures, readings(self.work, self.claim.quantity, self._labels)[0].value)
        if right is None or not np.isfinite(right).all() or not np.abs(right).max(initial=0.0):
            return []
        off = float(np.abs(self.claim.figures.values - right).max() / np.abs(right).max())
        return [f"it is off by at most {off:.1%} of the largest number: the method may be right"] if off < 0.03 else []


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def _numbers(value: Any, digits: int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_numbers(item, digits) for item in value)}]"
    return number(float(value), digits)
