"""`check`: judge a relation between two expressions, each number at its own precision, and explain a wrong one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from glassformer.answers.mistakes.facts import with_facts
from glassformer.answers.quantities.answer import Answer, Found, plain_value
from glassformer.answers.quantities.asking import request_for, stated_sizes
from glassformer.answers.quantities.classes import Growth
from glassformer.answers.quantities.evaluation import Evaluation, as_number, is_leaf
from glassformer.answers.quantities.formulas import is_of_formula
from glassformer.answers.quantities.units import require_same_kind
from glassformer.answers.verdicts.causes import Causes, finding_of
from glassformer.answers.verdicts.claimed import ClaimedValue, is_plain
from glassformer.answers.verdicts.diagnosis import Diagnosis
from glassformer.answers.verdicts.every_size import any_model, holds_elsewhere
from glassformer.answers.verdicts.verdict import Finding, Judged, Verdict
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.arrays import Array
from glassformer.expressions.language import read, write
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import shown_value
from glassformer.expressions.tree import Converted, Name, Node, Quantity, Relation, walk

EXAMPLE = "write a relation, as in 'params = 110M' or 'params(ffn) > params(attention)'"
COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "≤": operator.le,
    "≥": operator.ge,
}
NO_CAUSE = "no known mistake gives this value"
TOO_COARSE = "too few digits to name the mistake: give the number with three digits or more"


def check(
    relation: str | Node, request: Request | None = None, *, claim: str | Node | None = None, files: bool = False
) -> Diagnosis:
    """Judge a relation: `check("params = 110M", request("bert-base"))`, or `check("params", …, claim="110M")`.

    `files` allows file paths after `@`; set it only for input that the user wrote.
    """
    node = read(relation) if isinstance(relation, str) else relation
    if claim is not None:
        claimed = read(claim) if isinstance(claim, str) else claim
        node = (
            Relation((node, *claimed.sides), ("=", *claimed.signs))
            if isinstance(claimed, Relation)
            else Relation((node, claimed), ("=",))
        )
    if not isinstance(node, Relation):
        raise GlassformerError(f"'{shown(write(node))}' is not a claim: {EXAMPLE}.")
    request = request_for(node, request, files=files)
    if request is None and is_about_every_encoder(node):
        return any_model(node, lambda model: _judged(node, model, files=files))
    return _judged(node, request, files=files)


def is_about_every_encoder(node: Relation) -> bool:
    """Return whether a relation is about every encoder: quantities or fields on both sides, and no model named."""
    sides = [[leaf for leaf in walk(side) if isinstance(leaf, Name | Quantity)] for side in node.sides]
    quantities = [leaf for leaves in sides for leaf in leaves if isinstance(leaf, Quantity)]
    named = any(leaf.model or is_of_formula(leaf) for leaf in quantities)
    known = [[leaf for leaf in leaves if is_leaf(leaf)] for leaves in sides]
    return all(known) and not named


def judge(answer: Answer, claim: str) -> Diagnosis:
    """Judge a claim about an answer that is already computed."""
    return check(answer.expression, answer.request, claim=claim)


def _judged(node: Relation, request: Request | None, *, files: bool) -> Diagnosis:
    """Compare the sides of a relation; the first link that does not hold decides."""
    evaluation = Evaluation(request, sizes=stated_sizes(node, request), files=files)
    sides = [side.inner if isinstance(side, Converted) else side for side in node.sides]
    if set(node.signs) <= {"=", "≈"}:  # a = b ≈ c: each side should equal the first, and be close to the one before it
        compared = [(sides[0], sign, side) for sign, side in zip(node.signs, sides[1:], strict=True)]
        compared += [(left, "≈", right) for left, right in pairwise(sides[1:])]
    else:
        compared = [(left, sign, right) for sign, (left, right) in zip(node.signs, pairwise(sides), strict=True)]
    links = [_Link(evaluation, *link) for link in compared]
    found = [link.judged() for link in links]
    worst = next((place for place, one in enumerate(found) if not one.right), None)
    if worst is None:
        worst = next((place for place, one in enumerate(found) if one.verdict == "convention"), len(found) - 1)
    link, judged = links[worst], found[worst]
    if len(links) > 1 and not judged.right:
        judged = replace(judged, notes=(*judged.notes, f"{plain(link.left)} is not {plain(link.right)}"))
    answer = Answer(link.subject, request, link.found)
    return Diagnosis(plain(node), answer, judged)


class _Link:
    """Two sides and the sign between them; the side with quantities is the subject, the other one the claim."""

    def __init__(self, evaluation: Evaluation, left: Node, sign: str, right: Node) -> None:
        self.evaluation, self.left, self.sign, self.right = evaluation, left, sign, right
        turned = sign in ("=", "≈", "≠") and is_plain(left) and not is_plain(right)
        self.subject, self.claim = (right, left) if turned else (left, right)
        self.found = evaluation.found(self.subject)
        if not isinstance(self.found.value, Growth):
            require_same_kind((self.subject, self.found.unit), (self.claim, evaluation.unit(self.claim)))

    def judged(self) -> Judged:
        if self.sign in COMPARED:
            return self._compared()
        claimed = ClaimedValue.read(self.claim, self.found.value, self.evaluation, loosely=self.sign == "≈")
        if self.sign == "≠":
            usual = (self.found.value, *(other.value for other in self.found.others if other.excuses))
            right = not any(claimed.is_(value) for value in usual)
            return self._verdict(
                "right" if right else "wrong",
                notes=() if right else ("the two sides are equal, or equal under a usual convention",),
            )
        if claimed.is_(self.found.value):
            return self._verdict("right", notes=self._for_every_size())
        for other in self.found.others:
            if other.excuses and claimed.is_(other.value) and not (claimed.rounded and "output" in other.left_out):
                named = [finding_of([other], claimed)] if other.code else []
                return self._verdict("convention", convention=other.convention, findings=named)
        findings = tuple(Causes(self.evaluation, self.subject, self.found, claimed).findings())
        notes = [f"{plain(self.claim)} is {shown_value(claimed.number)}"] if claimed.number is not None else []
        if not findings:
            notes += [claimed.implied_gap(self.subject) or (TOO_COARSE if claimed.coarse else NO_CAUSE)]
        return self._verdict("wrong", findings=findings, notes=notes)

    def _compared(self) -> Judged:
        sides = [self.evaluation.found(side) for side in (self.left, self.right)]
        one, two = (_exact(found, side) for found, side in zip(sides, (self.left, self.right), strict=True))
        if COMPARED[self.sign](one, two):
            return self._verdict("right")
        for words, one_less, two_less in () if is_plain(self.left) or is_plain(self.right) else _with_less(*sides):
            if COMPARED[self.sign](one_less, two_less):
                return self._verdict("convention", convention=f"without {', '.join(words)}")
        both = [f"{plain(side)} is {_shown(number)}" for side, number in ((self.left, one), (self.right, two))]
        return self._verdict("wrong", notes=both)

    def _for_every_size(self) -> tuple[str, ...]:
        """Return a note on whether a formula in the fields of the spec also holds at other sizes."""
        if self.evaluation.request is None or is_plain(self.claim) or not isinstance(self.found.value, int | Fraction):
            return ()
        return holds_elsewhere(self.subject, self.claim, self.evaluation)

    def _verdict(
        self, verdict: Verdict, *, convention: str = "", findings: Iterable[Finding] = (), notes: Iterable[str] = ()
    ) -> Judged:
        convention = convention or (self.found.convention if verdict == "right" else "")
        truth, request = plain_value(self.found.value), self.evaluation.request
        findings = tuple(findings) if request is None else with_facts(findings, request.spec)
        return Judged(plain(self.subject), plain(self.claim), verdict, truth, convention, findings, notes=tuple(notes))


def _with_less(one: Found, two: Found) -> Iterator[tuple[tuple[str, ...], Fraction, Fraction]]:
    """Yield both counts with the same parts left out by convention: without the table that only one of them contains."""
    less = [{other.left_out: other.value for other in found.others if other.excuses and other.left_out} for found in (one, two)]
    for words in dict.fromkeys([*less[0], *less[1]]):
        left, right = less[0].get(words, one.value), less[1].get(words, two.value)
        if isinstance(left, int) and isinstance(right, int):
            yield words, Fraction(left), Fraction(right)


def _shown(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):.6g}"


def _exact(found: Found, node: Node) -> Fraction:
    number = as_number(found.value, node)
    if isinstance(number, Array):
        raise GlassformerError(f"{shown(plain(node))} is a list: '<' and '>' compare single numbers.")
    return number.middle
