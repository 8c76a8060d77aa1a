"""The causes of a wrong value: known mistakes, other models and parts, and slips, the most specific kind first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from glassformer.answers.mistakes.arithmetic import slips
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counted import CountClaim, count_findings
from glassformer.answers.mistakes.derivations import derivation_findings
from glassformer.answers.mistakes.finding import Finding
from glassformer.answers.mistakes.slips import Slip, pen_slips
from glassformer.answers.quantities.answer import Found, Other, plain_value
from glassformer.answers.quantities.classes import Growth
from glassformer.answers.quantities.context import resolve
from glassformer.answers.quantities.evaluation import Evaluation, as_number, meaning_of
from glassformer.answers.quantities.params import counted_pieces, setting_of
from glassformer.answers.verdicts.claimed import ClaimedValue, is_plain
from glassformer.answers.verdicts.every_size import other_requests
from glassformer.answers.verdicts.other_specs import other_fields, other_parts
from glassformer.answers.verdicts.siblings import other_models
from glassformer.errors import GlassformerError
from glassformer.expressions.exact import Real
from glassformer.expressions.precision import Figure
from glassformer.expressions.tree import Name, Node, Quantity

MOST_WAYS = 3  # ways to make one mistake that are listed
TELLING = 100  # smaller numbers match too many fields
GENERAL = ("axes_exchanged", "size_replaced")  # named only if no mistake of the catalogue gives the value


class Causes:
    """The search for what explains a claimed value of a quantity or an expression."""

    def __init__(self, evaluation: Evaluation, subject: Node, found: Found, claimed: ClaimedValue) -> None:
        self.evaluation, self.subject, self.found, self.claimed = evaluation, subject, found, claimed

    def findings(self) -> Iterator[Finding]:
        """Yield the causes of the first kind that gives this value; a cause of a formula gives its value at other sizes too."""
        for level in range(len(self.kinds())):
            if found := self._supported(self.kinds()[level](), level):
                yield from (replace(one, rounded=not (one.near or self.claimed.names(one.value))) for one in found)
                return
        yield from (one for one in self._slipped() if not (self.claimed.coarse and one.rounded))

    def kinds(self) -> list[Callable[[], list[Finding]]]:
        """Return the searches for causes, from the most specific to the most general."""
        if self.claimed.coarse:
            return [self._known]
        counted = self._counted_otherwise if self._formula else self._counted
        searches = (self._known, self._of_another_model, counted, self._derived, self._of_another_part, self._with_another_field)
        return [*searches]

    def _known(self) -> list[Finding]:
        """Return the mistakes that give exactly this value, each once, with the ways to make it."""
        wrongs = [*self.found.mistakes(), *(other for other in self.found.others if not other.excuses and other.code)]
        usual = {self.found.value, *(other.value for other in self.found.others if other.excuses)}
        fits = self.claimed.names if self.claimed.coarse else self.claimed.is_
        hits: dict[str, list[Other]] = {}
        for wrong in wrongs:
            if wrong.value not in usual and fits(wrong.value):
                hits.setdefault(wrong.code, []).append(wrong)
        kept = {code: alike for code, alike in hits.items() if code not in GENERAL} or hits
        return [finding_of(alike, self.claimed) for alike in kept.values()]

    def _supported(self, found: list[Finding], level: int) -> list[Finding]:
        """Return the causes that also give the value of a claimed formula at other sizes."""
        for other in self._elsewhere if found else ():
            same = {said(one) for one in other.kinds()[level]()}
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
    def _elsewhere(self) -> list[Causes]:
        """Return the same claim at other sizes, if the claim is a formula in the fields of the spec."""
        if self.evaluation.request is None or is_plain(self.claimed.node) or self.evaluation.everywhere:
            return []
        links = []
        for request in other_requests(self.evaluation.request, self.subject, self.claimed.node):
            there = Evaluation(request, sizes=self.evaluation.sizes, files=self.evaluation.files)
            there.everywhere = True
            try:
                there_found = there.found(self.subject)
                claimed = ClaimedValue.read(self.claimed.node, there_found.value, there, loosely=False)
            except GlassformerError:  # no such model, or no such part of it
                continue
            links.append(Causes(there, self.subject, there_found, claimed))
        return links

    @property
    def _telling(self) -> bool:
        return self.claimed.one_number is not None and self.claimed.one_number.value >= TELLING

    def _of_another_model(self) -> list[Finding]:
        request, claim = self.evaluation.request, self.claimed.one_number
        if request is None or claim is None or self.found.unit != "parameters" or not isinstance(self.found.value, int):
            return []
        return other_models(self.subject, request, claim, exact=self.claimed.exact_number)

    def _counted_otherwise(self) -> list[Finding]:
        """Find mistakes in a count that also leave something out, and other parts of the model that have this value."""
        return [*self._counted(), *self._of_another_part()]

    def _counted(self) -> list[Finding]:
        """Find mistakes in a parameter count: one with something left out as well, or two at once."""
        subject = Quantity(self.subject.text) if isinstance(self.subject, Name) else self.subject
        claim = self.claimed.one_number
        if not isinstance(subject, Quantity) or self.found.unit != "parameters" or claim is None:
            return []
        if not isinstance(self.found.value, int) or not self.found.value:
            return []
        known = meaning_of(subject).options
        context = resolve(subject, self.evaluation.request, known, self.evaluation.overrides, files=self.evaluation.files)
        room = Fraction(0) if self.claimed.exact_number else claim.unit / 2
        count = CountClaim(claim.value, room, self.found.value)
        found = count_findings(counted_pieces(context), setting_of(context), count, certain=self._formula)
        simplest = {one.codes: one for one in sorted(found, key=lambda one: one.cost, reverse=True)}
        return sorted(simplest.values(), key=lambda one: one.cost)

    def _claimed_count(self) -> CountClaim | None:
        claim, value = self.claimed.one_number, self.found.value
        if claim is None or self.evaluation.request is None or not isinstance(value, int):
            return None
        return CountClaim(claim.value, Fraction(0) if self.claimed.exact_number else claim.unit / 2, value)

    def _derived(self) -> list[Finding]:
        """Find a line or a size of the derivation that was left out, counted twice or replaced."""
        claim, value, request = self._claimed_count(), self.found.value, self.evaluation.request
        if claim is None or request is None or not isinstance(value, int) or not isinstance(self.subject, Name | Quantity):
            return []
        return derivation_findings(self.found.lines, value, claim, request.spec, request.t, certain=self._formula)

    def _of_another_part(self) -> list[Finding]:
        """Find another part of the model that has this value."""
        if not self._formula and not isinstance(self.found.value, Growth) and not (self.claimed.exact_number and self._telling):
            return []
        return other_parts(self.subject, self.evaluation, self.claimed.is_, certain=self._formula)

    def _with_another_field(self) -> list[Finding]:
        """Find another value of a field for which the value would be right."""
        claim, value = self._claimed_count(), self.found.value
        if claim is None or not isinstance(value, int) or not self.claimed.exact_number or not self._telling:
            return []
        return other_fields(self.subject, self.evaluation, value, claim)

    def _slipped(self) -> list[Finding]:
        """Find a slip in writing the number, or in the arithmetic of a numeric expression."""
        value = self.found.value
        if self.claimed.figure is None or isinstance(value, tuple | Growth):
            return []
        number = as_number(value, self.subject)
        if is_plain(self.subject):
            found: Iterable[Slip] = slips(self.subject, number, self.claimed.figure, {})
        else:
            found = (
                pen_slips(number, self.claimed.figure)
                if isinstance(number, Real) and isinstance(self.claimed.figure, Figure)
                else ()
            )
        return [Finding((mistake(slip.code),), (slip.what,), slip.predicted, rounded=not slip.exact) for slip in found]


def finding_of(alike: list[Other], claimed: ClaimedValue) -> Finding:
    """Return one finding for the ways to make one mistake that give the same value."""
    value = plain_value(alike[0].value, tuples=True)
    ways = list(dict.fromkeys(other.convention for other in alike))
    what = " or ".join(ways[:MOST_WAYS]) if isinstance(value, int) else ways[0]
    return Finding((mistake(alike[0].code),), (what,), value, rounded=not claimed.names(value))


def said(finding: Finding) -> tuple[str, ...]:
    """Return what a finding says, without its numbers, which differ at other sizes."""
    return (*finding.codes, *("".join(mark for mark in what if not mark.isdecimal() and mark != ",") for what in finding.what))
