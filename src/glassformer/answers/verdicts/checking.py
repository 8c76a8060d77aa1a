"""`check`: judge a relation between two expressions, each number at its own precision, and explain a wrong one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from glassformer.answers.mistakes.arithmetic import slips
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counted import CountClaim, count_findings
from glassformer.answers.mistakes.derivations import derivation_findings
from glassformer.answers.mistakes.facts import with_facts
from glassformer.answers.mistakes.implied import gap_behind
from glassformer.answers.mistakes.slips import Slip, pen_slips
from glassformer.answers.quantities.answer import Answer, Found, Other, Shape, Value, plain_value
from glassformer.answers.quantities.asking import request_for, stated_sizes
from glassformer.answers.quantities.classes import Growth, class_of
from glassformer.answers.quantities.context import resolve
from glassformer.answers.quantities.evaluation import Evaluation, as_number, is_leaf, meaning_of
from glassformer.answers.quantities.formulas import is_of_formula, symbolic_shape
from glassformer.answers.quantities.params import counted_pieces, setting_of
from glassformer.answers.quantities.units import require_same_kind
from glassformer.answers.verdicts.diagnosis import Diagnosis
from glassformer.answers.verdicts.every_size import any_model, holds_elsewhere, other_requests
from glassformer.answers.verdicts.other_specs import other_fields, other_parts
from glassformer.answers.verdicts.siblings import other_models
from glassformer.answers.verdicts.verdict import Finding, Judged, Verdict
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.arrays import Array
from glassformer.expressions.exact import Real
from glassformer.expressions.language import read, write
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import Figure, Figures, agrees, equal, last_significant, shown_value, written
from glassformer.expressions.tree import Converted, List, Measured, Name, Node, Number, Product, Quantity, Relation, walk

EXAMPLE = "write a relation, as in 'params = 110M' or 'params(ffn) > params(attention)'"
COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "≤": operator.le,
    "≥": operator.ge,
}
MOST_WAYS = 3  # ways to make one mistake that are listed
TELLING = 100  # fewer digits match too many fields
GENERAL = ("axes_exchanged", "size_replaced")  # named only if no mistake of the catalogue gives the value
COARSE = 200  # numbers of two digits match too many mistakes to name one
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
        turned = sign in ("=", "≈", "≠") and _plain(left) and not _plain(right)
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
                named = [_finding([other], claimed)] if other.code else []
                return self._verdict("convention", convention=other.convention, findings=named)
        findings = tuple(self._findings(claimed))
        notes = [f"{plain(self.claim)} is {shown_value(claimed.number)}"] if claimed.number is not None else []
        if not findings:
            notes += [claimed.implied_gap(self.subject) or (TOO_COARSE if claimed.coarse else NO_CAUSE)]
        return self._verdict("wrong", findings=findings, notes=notes)

    def _compared(self) -> Judged:
        sides = [self.evaluation.found(side) for side in (self.left, self.right)]
        one, two = (_exact(found, side) for found, side in zip(sides, (self.left, self.right), strict=True))
        if COMPARED[self.sign](one, two):
            return self._verdict("right")
        for words, one_less, two_less in () if _plain(self.left) or _plain(self.right) else _with_less(*sides):
            if COMPARED[self.sign](one_less, two_less):
                return self._verdict("convention", convention=f"without {', '.join(words)}")
        both = [f"{plain(side)} is {_shown(number)}" for side, number in ((self.left, one), (self.right, two))]
        return self._verdict("wrong", notes=both)

    def _for_every_size(self) -> tuple[str, ...]:
        """Return a note on whether a formula in the fields of the spec also holds at other sizes."""
        if self.evaluation.request is None or _plain(self.claim) or not isinstance(self.found.value, int | Fraction):
            return ()
        return holds_elsewhere(self.subject, self.claim, self.evaluation)

    def _verdict(
        self, verdict: Verdict, *, convention: str = "", findings: Iterable[Finding] = (), notes: Iterable[str] = ()
    ) -> Judged:
        convention = convention or (self.found.convention if verdict == "right" else "")
        truth, request = plain_value(self.found.value), self.evaluation.request
        findings = tuple(findings) if request is None else with_facts(findings, request.spec)
        return Judged(plain(self.subject), plain(self.claim), verdict, truth, convention, findings, notes=tuple(notes))

    def _findings(self, claimed: ClaimedValue) -> Iterator[Finding]:
        """Yield the causes of the first kind that gives this value; a cause of a formula gives its value at other sizes too."""
        for level in range(len(self.kinds(claimed))):
            if found := self._supported(self.kinds(claimed)[level](), level):
                yield from (replace(one, rounded=not (one.near or claimed.names(one.value))) for one in found)
                return
        yield from (one for one in self._slipped(claimed) if not (claimed.coarse and one.rounded))

    def kinds(self, claimed: ClaimedValue) -> list[Callable[[], list[Finding]]]:
        """Return the searches for causes, from the most specific to the most general."""
        if claimed.coarse:
            return [lambda: self._known(claimed)]
        counted = self._counted_otherwise if self._formula else self._counted
        searches = (self._known, self._of_another_model, counted, self._derived, self._of_another_part, self._with_another_field)
        return [partial(search, claimed) for search in searches]

    def _known(self, claimed: ClaimedValue) -> list[Finding]:
        """Return the mistakes that give exactly this value, each once, with the ways to make it."""
        wrongs = [*self.found.mistakes(), *(other for other in self.found.others if not other.excuses and other.code)]
        usual = {self.found.value, *(other.value for other in self.found.others if other.excuses)}
        fits = claimed.names if claimed.coarse else claimed.is_
        hits: dict[str, list[Other]] = {}
        for wrong in wrongs:
            if wrong.value not in usual and fits(wrong.value):
                hits.setdefault(wrong.code, []).append(wrong)
        kept = {code: alike for code, alike in hits.items() if code not in GENERAL} or hits
        return [_finding(alike, claimed) for alike in kept.values()]

    def _supported(self, found: list[Finding], level: int) -> list[Finding]:
        """Return the causes that also give the value of a claimed formula at other sizes."""
        for other in self._elsewhere if found else ():
            claimed = ClaimedValue.read(other.claim, other.found.value, other.evaluation, loosely=False)
            same = {said(one) for one in other.kinds(claimed)[level]()}
            found = [one for one in found if said(one) in same]
        different = list({(one.codes, str(one.value)): one for one in reversed(found)}.values())[::-1]
        if any(one.codes == ("another_part",) for one in different):  # the value of another part may be a mistake's too
            return [one for one in different if one.cost == min(other.cost for other in different)][:1]
        return different

    @property
    def _formula(self) -> bool:
        """Whether the claim is a formula, whose causes are compared at several sizes."""
        return self.evaluation.everywhere or bool(self._elsewhere)

    @cached_property
    def _elsewhere(self) -> list[_Link]:
        """Return the same relation at other sizes, if the claim is a formula in the fields of the spec."""
        if self.evaluation.request is None or _plain(self.claim) or self.evaluation.everywhere:
            return []
        links = []
        for request in other_requests(self.evaluation.request, self.subject, self.claim):
            there = Evaluation(request, sizes=self.evaluation.sizes, files=self.evaluation.files)
            there.everywhere = True
            try:
                links.append(_Link(there, self.subject, self.sign, self.claim))
            except GlassformerError:  # no such model, or no such part of it
                continue
        return links

    def _of_another_model(self, claimed: ClaimedValue) -> list[Finding]:
        request, claim = self.evaluation.request, claimed.one_number
        if request is None or claim is None or self.found.unit != "parameters" or not isinstance(self.found.value, int):
            return []
        return other_models(self.subject, request, claim, exact=claimed.exact_number)

    def _counted_otherwise(self, claimed: ClaimedValue) -> list[Finding]:
        """Find mistakes in a count that also leave something out, and other parts of the model that have this value."""
        return [*self._counted(claimed), *self._of_another_part(claimed)]

    def _counted(self, claimed: ClaimedValue) -> list[Finding]:
        """Find mistakes in a parameter count: one with something left out as well, or two at once."""
        subject = Quantity(self.subject.text) if isinstance(self.subject, Name) else self.subject
        claim = claimed.one_number
        if not isinstance(subject, Quantity) or self.found.unit != "parameters" or claim is None:
            return []
        if not isinstance(self.found.value, int) or not self.found.value:
            return []
        known = meaning_of(subject).options
        context = resolve(subject, self.evaluation.request, known, self.evaluation.overrides, files=self.evaluation.files)
        room = Fraction(0) if claimed.exact_number else claim.unit / 2
        count = CountClaim(claim.value, room, self.found.value)
        found = count_findings(counted_pieces(context), setting_of(context), count, certain=self._formula)
        simplest = {one.codes: one for one in sorted(found, key=lambda one: one.cost, reverse=True)}
        return sorted(simplest.values(), key=lambda one: one.cost)

    def _claimed_count(self, claimed: ClaimedValue) -> CountClaim | None:
        claim, value = claimed.one_number, self.found.value
        if claim is None or self.evaluation.request is None or not isinstance(value, int):
            return None
        return CountClaim(claim.value, Fraction(0) if claimed.exact_number else claim.unit / 2, value)

    def _derived(self, claimed: ClaimedValue) -> list[Finding]:
        """Find a line or a size of the derivation that was left out, counted twice or replaced."""
        claim, value, request = self._claimed_count(claimed), self.found.value, self.evaluation.request
        if claim is None or request is None or not isinstance(value, int) or not isinstance(self.subject, Name | Quantity):
            return []
        return derivation_findings(self.found.lines, value, claim, request.spec, request.t, certain=self._formula)

    def _of_another_part(self, claimed: ClaimedValue) -> list[Finding]:
        """Find another part of the model that has this value."""
        if not self._formula and not isinstance(self.found.value, Growth) and not (claimed.exact_number and _telling(claimed)):
            return []
        return other_parts(self.subject, self.evaluation, claimed.is_, certain=self._formula)

    def _with_another_field(self, claimed: ClaimedValue) -> list[Finding]:
        """Find another value of a field for which the value would be right."""
        claim, value = self._claimed_count(claimed), self.found.value
        if claim is None or not isinstance(value, int) or not claimed.exact_number or not _telling(claimed):
            return []
        return other_fields(self.subject, self.evaluation, value, claim)

    def _slipped(self, claimed: ClaimedValue) -> list[Finding]:
        """Find a slip in writing the number, or in the arithmetic of a numeric expression."""
        value = self.found.value
        if claimed.figure is None or isinstance(value, tuple | Growth):
            return []
        number = as_number(value, self.subject)
        if _plain(self.subject):
            found: Iterable[Slip] = slips(self.subject, number, claimed.figure, {})
        else:
            found = pen_slips(number, claimed.figure) if isinstance(number, Real) and isinstance(claimed.figure, Figure) else ()
        return [Finding((mistake(slip.code),), (slip.what,), slip.predicted, rounded=not slip.exact) for slip in found]


def _finding(alike: list[Other], claimed: ClaimedValue) -> Finding:
    """Return one finding for the ways to make one mistake that give the same value."""
    value = plain_value(alike[0].value, tuples=True)
    ways = list(dict.fromkeys(other.convention for other in alike))
    what = " or ".join(ways[:MOST_WAYS]) if isinstance(value, int) else ways[0]
    return Finding((mistake(alike[0].code),), (what,), value, rounded=not claimed.names(value))


def said(finding: Finding) -> tuple[str, ...]:
    """Return what a finding says, without its numbers, which differ at other sizes."""
    return (*finding.codes, *("".join(mark for mark in what if not mark.isdecimal() and mark != ",") for what in finding.what))


def _telling(claimed: ClaimedValue) -> bool:
    return claimed.one_number is not None and claimed.one_number.value >= TELLING


def _plain(node: Node) -> bool:
    """Return whether a side consists of numbers only."""
    return not any(isinstance(leaf, Name | Quantity) and is_leaf(leaf) for leaf in walk(node))


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


class ClaimedValue:
    """A claimed value: a written number or list at its own precision, a shape, a class, or the value of an expression."""

    def __init__(self, node: Node, *, loosely: bool) -> None:
        self.node, self.loosely = node, loosely
        self.figure: Figure | Figures | None = None
        self.sizes: Shape | None = None
        self.growth: Growth | None = None
        self.number: Real | Array | None = None

    @staticmethod
    def read(node: Node, due: Value, evaluation: Evaluation, *, loosely: bool) -> ClaimedValue:
        claimed = ClaimedValue(node, loosely=loosely)
        if isinstance(due, Growth):
            claimed.growth = class_of(node)
        elif isinstance(due, tuple):
            symbols = any(isinstance(size, str) for size in due)
            claimed.sizes = (symbolic_shape(node) if symbols else None) or _sizes(node, evaluation)
        elif (figure := written(node)) is not None:
            claimed.figure = figure
        else:
            claimed.number = evaluation.number(node)
        return claimed

    def is_(self, value: Value) -> bool:
        """Return whether a value is the claimed one."""
        if isinstance(value, Growth) or self.growth is not None:
            return self.growth == value
        if isinstance(value, tuple) or self.sizes is not None:
            return self.sizes == value
        number = as_number(value, self.node)
        if self.figure is not None:
            return agrees(number, self.figure, loosely=self.loosely) is not None
        assert self.number is not None
        return equal(number, self.number, loosely=self.loosely) is not None

    @property
    def one_number(self) -> Figure | None:
        """The claimed number, written out or as the whole value of an expression."""
        if isinstance(self.number, Real) and self.number.whole:
            return Figure(self.number.low, Fraction(1), text=str(self.number.low))
        return self.figure if isinstance(self.figure, Figure) else None

    @property
    def exact_number(self) -> bool:
        claim = self.one_number
        return claim is not None and claim.unit >= 1 and not claim.rounded and not self.loosely

    @property
    def rounded(self) -> bool:
        """Whether the claim is one rounded number."""
        return isinstance(self.figure, Figure) and not self.exact_number

    @property
    def coarse(self) -> bool:
        """Whether the claim has too few digits to distinguish mistakes."""
        if not isinstance(self.figure, Figure) or self.exact_number:
            return False
        return last_significant(self.figure) / 2 * COARSE > abs(self.figure.value)

    def implied_gap(self, subject: Node) -> str:
        """Return what wrong softmax weights of two scores say about the scores; empty for other claims."""
        return gap_behind(subject, self.figure, {}) if self.figure is not None and _plain(subject) else ""

    def names(self, value: Any) -> bool:
        """Whether a value is the claimed one to its last digit, not only when it is rounded."""
        if not isinstance(self.figure, Figure):
            return True
        return isinstance(value, int | Fraction | float) and Fraction(value) == self.figure.value


def _sizes(node: Node, evaluation: Evaluation) -> Shape:
    """Return the sizes of `768 x 768`, `[1, 5, 768]`, `t x d_model`, or of a quantity that is a shape."""
    match node:
        case Product(factors) if all(sign == "×" for sign, _ in factors[1:]):
            parts = [factor for _, factor in factors]
        case List(items):
            parts = list(items)
        case Number() | Measured():
            parts = [node]
        case Quantity() | Name():
            value = evaluation.found(node).value
            if isinstance(value, tuple):
                return value
            parts = [node]
        case _:
            raise NotUnderstoodError(f"'{shown(plain(node))}' is not a shape: write 64 x 32 or [1, 5, 768].")
    return tuple(_size(part, evaluation) for part in parts)


def _size(node: Node, evaluation: Evaluation) -> int:
    value = evaluation.number(node)
    if not isinstance(value, Real) or not value.whole:
        raise NotUnderstoodError(f"'{shown(plain(node))}' is not a size: write 64 x 32 or [1, 5, 768].")
    return int(value.low)
