"""The mistakes that give exactly a wrong parameter count, if a chance match is ruled out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.chance import Evidence
from glassformer.answers.mistakes.conventions import totals_by_convention
from glassformer.answers.mistakes.counting import RULES, Rewrite, Rule
from glassformer.answers.mistakes.finding import Finding
from glassformer.answers.mistakes.pieces import Pieces, Setting
from glassformer.answers.mistakes.search import Candidate, Tried, Ways, search
from glassformer.answers.mistakes.slips import pen_slips
from glassformer.expressions import Figure, exactly

CHANCE = 0.02  # expected chance matches above which a mistake under a convention, or two mistakes at once, are not named
COARSE = 100  # numbers rounded more coarsely than 1% match too much: 340M is also the count of BERT-large
NEAR = Fraction(1, 100)  # relative distance to a mistake's value within which the rest may be an arithmetic error
FAR = Fraction(1, 20)  # relative distance to the right count beyond which a mistake that is only near may explain a claim
SIMPLE = (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(3), Fraction(4))  # no arithmetic errors
SLIPS = ("digits_exchanged", "zero_lost", "zero_added")
# Mistakes that multiply a count: only these can be recognised in spite of an arithmetic slip. Others change a count too little.
MULTIPLIES = (
    "heads_times_full_width one_head_vs_all_heads one_layer_only shared_layers_multiplied tied_weights_twice ffn_one_or_twice "
    "sequence_length_in_parameters"
).split()


@dataclass(frozen=True)
class CountClaim:
    """A claimed count, its tolerance (0 for an exact number), and the right count."""

    value: Fraction
    room: Fraction
    truth: int

    def allows(self, value: int) -> bool:
        return abs(value - self.value) <= self.room

    def nearly(self, value: int) -> bool:
        return abs(value - self.value) <= self.value * NEAR

    def expected_hits(self, values: Sequence[int]) -> float:
        numbers = (np.array([float(self.value)]), np.array([2 * float(self.room)]), np.array([float(self.truth)]))
        return Evidence(*numbers, whole=not self.room).expected_hits(np.array([float(value)]) for value in {*values})


def count_findings(pieces: Pieces, setting: Setting, claim: CountClaim, *, certain: bool = False) -> list[Finding]:
    """Find single mistakes, then mistakes under a convention, slips, two mistakes, and mistakes that are only near.

    `certain`: the caller rules chance out for single mistakes, by looking for the same ones at other sizes.
    """
    if claim.room * COARSE > abs(claim.value):
        return []
    rules = [partial(_made, code, rule, setting) for code, rule in RULES.items()]
    ways: Ways[Pieces, Rewrite, int] = Ways(pieces, rules, lambda made: made.pieces, totals_by_convention)
    singles = list(ways.singles())
    plain = [one for one in singles if not one.reading]
    found = search(claim, [[Tried(plain)]])
    if claim.room == 0 and not found.hits:
        found = search(claim, [[Tried(singles, math.inf if certain else CHANCE)]])
        slips = [] if found.hits else list(_slips(pieces, claim))
        if slips:
            return slips
        found = found if found.hits else search(claim, _unsure(ways, plain, claim))
    return [_finding(hit) for hit in found.hits]


def _unsure(
    ways: Ways[Pieces, Rewrite, int], plain: list[Candidate[Rewrite, int]], claim: CountClaim
) -> Iterator[list[Tried[Rewrite, int]]]:
    yield [Tried((one for one in ways.pairs() if not _cancels(ways.thing, *one.made)), CHANCE)]
    close = [one for one in plain if one.codes[0] in MULTIPLIES and claim.nearly(one.value)]
    far = abs(claim.value - claim.truth) > claim.truth * FAR and claim.value / claim.truth not in SIMPLE
    if far and len({one.codes for one in close}) == 1:
        yield [Tried([min(close, key=lambda one: abs(one.value - claim.value))], near=True)]


def _cancels(right: Pieces, first: Rewrite, second: Rewrite) -> bool:
    """Return whether one mistake adds what the other leaves out: together they change less than either says."""
    changes = [Counter(piece.size for piece in one) for one in (right, first.pieces, second.pieces)]
    removed = [changes[0] - changes[1], changes[1] - changes[2]]
    added = [changes[1] - changes[0], changes[2] - changes[1]]
    return bool(removed[0] & added[1] or added[0] & removed[1])


def _made(code: str, rule: Rule, setting: Setting, pieces: Pieces) -> Iterator[Rewrite]:
    return (Rewrite(code, what, changed) for what, changed in rule(pieces, setting))


def _slips(pieces: Pieces, claim: CountClaim) -> Iterator[Finding]:
    """Find swapped digits, or a missing or extra zero, in the right count or in one under a usual convention."""
    for left_out, value in totals_by_convention(pieces):
        for slip in pen_slips(exactly(value), Figure(claim.value, Fraction(1), text=f"{int(claim.value)}")):
            if slip.code in SLIPS and value > 999:
                yield Finding((mistake(slip.code),), (f"{int(claim.value)} instead of {value}",), int(claim.value), left_out)


def _finding(hit: Candidate[Rewrite, int]) -> Finding:
    return Finding(tuple(mistake(code) for code in hit.codes), hit.what, hit.value, hit.reading, near=hit.near)
