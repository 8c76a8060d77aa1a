"""The search for mistakes that give exactly the claimed numbers; what may be accident is not reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from glassformer.answers.problems.chance import ONE, SLIP, TWO, WHOLE, chance, freedom
from glassformer.answers.problems.figures import Figures
from glassformer.answers.problems.fitting import Labels, Reading, fitted, lined_up, readings, within
from glassformer.answers.problems.rules import pairs, rewrites
from glassformer.answers.problems.slips import Slip, rounding, signs, written_slips
from glassformer.answers.problems.work import Rewrite, Work
from glassformer.program.axes import Array

MOST_CELLS = 1500  # of a program in which pairs of mistakes are tried


class Hit(NamedTuple):
    """Mistakes (or one slip of the pen) that give the claim, and the layout in which they do."""

    rewrites: tuple[Rewrite, ...]
    reading: Reading
    slip: Slip | None = None
    near: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        return (self.slip.code,) if self.slip else tuple(made.code for made in self.rewrites)

    @property
    def what(self) -> tuple[str, ...]:
        return (self.slip.what,) if self.slip else tuple(made.what for made in self.rewrites)


@dataclass(frozen=True)
class Found:
    """What the search found, or how many mistakes fit that so few digits cannot tell apart from accident."""

    hits: tuple[Hit, ...] = ()
    untold: tuple[str, ...] = ()  # codes


@dataclass(frozen=True, eq=False)
class Search:
    """One claim about one quantity of a work. `extra`: further slips to try, such as rounded results carried on."""

    figures: Figures
    work: Work
    quantity: str
    labels: Labels
    extra: tuple[Rewrite, ...] = field(default=())

    def run(self) -> Found:
        """Single mistakes and slips; then those that miss a last digit; then two mistakes at once."""
        right = readings(self.work, self.quantity, self.labels)
        truth = right[0].value
        single, extra = self._tried(self._single(), right), self._tried(self.extra, right)
        rounded = self._tried(rounding(self.work, self.quantity), right)
        signed = self._tried(signs(self.work, self.quantity), right)
        every = [*single, *rounded, *signed]
        hits = [Hit((), right[0], slip) for slip in written_slips(self.figures, truth)]
        untold: list[str] = []
        one = WHOLE if self.figures.whole else ONE
        for tried, known, most in ((single, single, one), (extra, extra, ONE), (rounded, every, SLIP), (signed, every, SLIP)):
            fit = [Hit(made, reading) for made, reading in tried if fitted(self.figures, reading.value) == "exact"]
            harmless = tried is rounded and bool(hits)  # a lesser fault that fits as well must not be kept back
            if fit and (harmless or chance(self.figures, truth, [reading.value for _, reading in known]) <= most):
                hits += fit
            else:
                untold += [code for hit in fit for code in hit.codes]
        if not hits and not untold:
            hits = [*self._near(truth, single)] or [*self._pairs(truth, right)]
        return Found(tuple(_simplest(hits)), () if hits else tuple(dict.fromkeys(untold)))

    def _single(self) -> Iterator[Rewrite]:
        """Mistakes in a step that leads to this quantity; those that solve the problem anew may have other steps."""
        own = self.work.names[self.quantity]
        for made in rewrites(self.work):
            if made.work.pristine or made.step == own or own in self.work.after([made.step]):
                yield made

    def _tried(self, made: Iterable[Rewrite], right: list[Reading]) -> list[tuple[tuple[Rewrite, ...], Reading]]:
        return [((one,), reading) for one in made for reading in self._changed(one.work, right)]

    def _changed(self, made: Work, right: list[Reading]) -> list[Reading]:
        """The quantity in another work, in every layout that the claim could be in, where it differs from the right one."""
        found = []
        # The output goes by its own name, too: a mistake that puts another step last leaves that name where it was.
        # So do others: the heads' outputs are called `mix`, which is what a work with one wide head calls its own.
        own_name = self.work.names[self.quantity]
        called = [name for name, tensor in self.work.names.items() if tensor == own_name]
        names = {made.names[name]: name for name in (own_name, self.quantity, *called) if name in made.names}
        for reading in [one for name in names.values() for one in readings(made, name, self.labels)]:
            own = lined_up(self.figures, reading.value)
            same = next((other.value for other in right if other.layout == reading.layout), None)
            if own is not None and not _alike(own, None if same is None else lined_up(self.figures, same)):
                found.append(reading)
        return found

    def _near(self, truth: Array, tried: Sequence[tuple[tuple[Rewrite, ...], Reading]]) -> Iterator[Hit]:
        """One mistake and a last digit that is off, where there are digits enough to be sure of the mistake."""
        units = self.figures.units
        told = freedom(self.figures, truth) > 1 and bool((units > 0).all()) and float(units.max()) <= 1e-3
        if told and 9 ** freedom(self.figures, truth) * chance(self.figures, truth, [r.value for _, r in tried]) <= TWO:
            for made, reading in tried:
                if within(self.figures, reading.value, units):
                    yield Hit(made, reading, near=True)

    def _pairs(self, truth: Array, right: list[Reading]) -> list[Hit]:
        """Two mistakes at once: only where several numbers of several digits rule accident out."""
        cells = sum(step.output.size for step in self.work.program.steps)
        if lined_up(self.figures, truth) is None or freedom(self.figures, truth) < 2 or self.figures.whole or cells > MOST_CELLS:
            return []
        tried = [(pair, reading) for pair in pairs(self.work) for reading in self._changed(pair[1].work, right)[:1]]
        hits = [Hit(pair, reading) for pair, reading in tried if fitted(self.figures, reading.value) == "exact"]
        return hits if hits and chance(self.figures, truth, [reading.value for _, reading in tried]) <= TWO else []


def _alike(one: Array, other: Array | None) -> bool:
    return other is not None and bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))


def _simplest(hits: Iterable[Hit]) -> list[Hit]:
    """As written rather than in another layout; fewest mistakes; one hit for each way of naming them."""
    ranked = sorted(hits, key=lambda hit: (len(hit.codes), bool(hit.reading.layout)))
    if not ranked:
        return []
    best = (len(ranked[0].codes), bool(ranked[0].reading.layout))
    seen: dict[tuple[tuple[str, ...], tuple[str, ...]], Hit] = {}
    for hit in ranked:
        if (len(hit.codes), bool(hit.reading.layout)) == best:
            seen.setdefault((hit.codes, hit.what), hit)
    return list(seen.values())
