"""The search for the mistakes that explain a wrong claim about a worked problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from glassformer.answers.mistakes.chance import Evidence
from glassformer.answers.mistakes.search import Candidate, Found, Tried, Ways, search
from glassformer.answers.problems.figures import Figures
from glassformer.answers.problems.layouts import Labels, readings
from glassformer.answers.problems.rules import RULES
from glassformer.answers.problems.slips import rounding, signs, written_slips
from glassformer.answers.problems.work import Rewrite, Rule, Work
from glassformer.program.axes import Array

MOST_CELLS = 1500  # the largest program for which pairs of mistakes are tried
ONE = 0.05  # expected chance matches above which no single mistake is named
WHOLE = 0.25  # the same for claims in whole numbers, which few mistakes give
SLIP = 0.02  # the same for slips, of which there are many more
TWO = 0.001  # the same for two mistakes at once

Hit: TypeAlias = Candidate[Rewrite, Array]


@dataclass(frozen=True, eq=False)
class WorkedClaim:
    """One claim about one quantity of a work. `extra` are further slips to try, such as rounded earlier results."""

    figures: Figures
    work: Work
    quantity: str
    labels: Labels
    extra: tuple[Rewrite, ...] = ()

    def allows(self, value: Array) -> bool:
        return self.figures.fitted(value) == "exact"

    def nearly(self, value: Array) -> bool:
        return self.figures.within(value, self.figures.units)

    def expected_hits(self, values: Sequence[Array]) -> float:
        return self._evidence.expected_hits(values)

    def explained(self) -> Found[Rewrite, Array]:
        """Return the simplest hits: fewest mistakes, preferably in the layout of the problem, without duplicates."""
        found = search(self, self._stages())
        if not found.hits:
            return found
        best = min((len(hit.codes), bool(hit.reading)) for hit in found.hits)
        seen: dict[tuple[tuple[str, ...], tuple[str, ...]], Hit] = {}
        for hit in found.hits:
            if (len(hit.codes), bool(hit.reading)) == best:
                seen.setdefault((hit.codes, hit.what), hit)
        return Found(tuple(seen.values()))

    @cached_property
    def _truth(self) -> Array:
        return readings(self.work, self.quantity, self.labels)[0].value

    @cached_property
    def _evidence(self) -> Evidence:
        return self.figures.evidence(self._truth)

    def _stages(self) -> Iterator[list[Tried[Rewrite, Array]]]:
        """Yield single mistakes and slips; then those that miss a last digit; then two mistakes at once."""
        single = self._tried(*(self._relevant(rule) for rule in RULES))
        rounded = self._tried(lambda work: rounding(work, self.quantity))
        signed = self._tried(lambda work: signs(work, self.quantity))
        every = [*single, *rounded, *signed]
        yield [
            Tried(self._written()),
            Tried(single, WHOLE if self.figures.whole else ONE),
            Tried(self._tried(lambda _: self.extra), ONE),
            Tried(rounded, SLIP, among=every, lesser=True),
            Tried(signed, SLIP, among=every),
        ]
        freedom, units = self._evidence.freedom, self.figures.units
        if freedom > 1 and units.min() > 0 and units.max() <= 1e-3:
            yield [Tried(single, TWO / 9**freedom, near=True)]
        cells = sum(step.output.size for step in self.work.program.steps)
        if freedom > 1 and not self.figures.whole and cells <= MOST_CELLS and self.figures.lined_up(self._truth) is not None:
            ways = dataclasses.replace(self._ways(*(self._relevant(rule) for rule in RULES)), values=self._as_written)
            yield [Tried(ways.pairs(), TWO)]

    def _written(self) -> list[Hit]:
        own = self.work.names[self.quantity]
        slips = written_slips(self.figures, self._truth)
        return [Candidate((Rewrite(slip.code, slip.what, own, self.work),), "", self.figures.values) for slip in slips]

    def _ways(self, *rules: Rule) -> Ways[Work, Rewrite, Array]:
        return Ways(self.work, rules, lambda made: made.work, self._values, _alike)

    def _tried(self, *rules: Rule) -> list[Hit]:
        return list(self._ways(*rules).singles())

    def _relevant(self, rule: Rule) -> Rule:
        """Return the rule without mistakes in steps that this quantity does not depend on."""
        own = self.work.names[self.quantity]
        before, given = self.work.before(own), self.work.given.get(own)

        def relevant(made: Rewrite) -> bool:
            return made.work.pristine or made.step in before or made.work.given.get(own) is not given

        return lambda work: filter(relevant, rule(work))

    def _values(self, work: Work) -> Iterator[tuple[str, Array]]:
        """Yield the quantity in every layout that the claim can have."""
        # A rewritten work may use other names for a tensor: another step may be the output, and with one wide head the
        # outputs of the heads are `mix`. So every name of the tensor in the right work is tried.
        own = self.work.names[self.quantity]
        called = [name for name, tensor in self.work.names.items() if tensor == own]
        names = {work.names[name]: name for name in (own, self.quantity, *called) if name in work.names}
        for name in names.values():
            for reading in readings(work, name, self.labels):
                lined = self.figures.lined_up(reading.value)
                if lined is not None:
                    yield reading.layout, lined

    def _as_written(self, work: Work) -> Iterable[tuple[str, Array]]:
        return [(layout, value) for layout, value in self._values(work) if not layout]


def _alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))
