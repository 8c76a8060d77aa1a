"""Why a count is wrong: the mistakes that give exactly that number, one or two at once, where chance is ruled out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from glassformer.answers.asked.counting_conventions import totals_by_convention
from glassformer.answers.asked.counts import asked_pieces
from glassformer.answers.claimed import Number
from glassformer.answers.judging.verdict import Finding
from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.mistakes.counting import RULES, rewrites
from glassformer.answers.mistakes.pieces import Pieces, Setting, total
from glassformer.answers.questions import Question
from glassformer.spec.reading import Request

# Two mistakes at once are offered only where a number cannot fit by accident: expected chance hits below this.
CHANCE = 0.02
# Mistakes by a whole factor: only these show through a slip in the arithmetic. Others move a count by little, and fit by chance.
MULTIPLIES = (
    "heads_times_full_width one_head_vs_all_heads one_layer_only shared_layers_multiplied tied_weights_twice ffn_one_or_twice "
    "sequence_length_in_parameters"
).split()
COARSE = 100  # a number whose rounding is more than a hundredth of it fits too much: 340M is BERT-large's as well
NEAR = 0.01  # relative: close enough to a mistake's value that the rest may be arithmetic


def count_findings(question: Question, asked: Request, claim: Number) -> list[Finding]:
    """Single mistakes first; with something left out besides, or two at once, only where chance is ruled out."""
    if claim.room * COARSE > abs(claim.value):
        return []
    pieces, setting = asked_pieces(question, asked), Setting(asked.spec, asked.batch, asked.t)
    singles = list(rewrites(pieces, setting))
    exact = [Finding((CATALOGUE[r.code],), (r.what,), (), total(r.pieces)) for r in singles]
    found = [finding for finding in exact if claim.allows(finding.value)]
    if found:
        return found
    if claim.exact:
        found = list(_with_left_outs(singles, claim)) or list(_slips(pieces, claim)) or list(_pairs(pieces, setting, claim))
    return found or _near(exact, claim, total(pieces))


def _with_left_outs(singles: list[Any], claim: Number) -> Iterator[Finding]:
    values: set[int] = set()
    matched: list[Finding] = []
    for rewrite in singles:
        for words, value in totals_by_convention(rewrite.pieces):
            values.add(value)
            if words and claim.allows(value):
                matched.append(Finding((CATALOGUE[rewrite.code],), (rewrite.what,), words, value))
    if _chance(values, claim) <= CHANCE:
        yield from matched


def _pairs(pieces: Pieces, setting: Setting, claim: Number) -> Iterator[Finding]:
    order = list(RULES)
    values: set[int] = set()
    matched: list[Finding] = []
    for first in rewrites(pieces, setting):
        for second in rewrites(first.pieces, setting):
            if order.index(second.code) <= order.index(first.code):
                continue
            for words, value in totals_by_convention(second.pieces):
                values.add(value)
                if claim.allows(value):
                    both = (CATALOGUE[first.code], CATALOGUE[second.code])
                    matched.append(Finding(both, (first.what, second.what), words, value))
    if _chance(values, claim) <= CHANCE:
        yield from matched


def _chance(values: set[int], claim: Number) -> float:
    """How many of the values would hit the claim by accident, were they spread evenly around it."""
    low, high = claim.value / 2, claim.value * 2
    if claim.value <= 0:
        return 1.0
    around = sum(1 for value in values if low <= value <= high)
    return float(around / (high - low))


def _slips(pieces: Pieces, claim: Number) -> Iterator[Finding]:
    """Digits exchanged, or a zero lost, in the right value or one under a usual convention."""
    digits = str(int(claim.value)) if claim.value.denominator == 1 else ""
    for words, value in totals_by_convention(pieces):
        text = str(value)
        swapped = {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)} - {text}
        if len(text) > 3 and digits in swapped:
            yield Finding((CATALOGUE["digits_exchanged"],), (f"{digits} for {text}",), words, int(digits))
        if len(text) > 2 and digits and (digits == text + "0" or digits + "0" == text):
            yield Finding((CATALOGUE["zero_lost"],), (f"{digits} for {text}",), words, int(digits))


def _near(exact: list[Finding], claim: Number, truth: int) -> list[Finding]:
    """A single mistake whose value lies within a hundredth of the claim, far from the truth, and no other does."""
    if claim.value <= 0 or not claim.exact or abs(claim.value - truth) <= truth * 5 * NEAR:
        return []
    large = [finding for finding in exact if finding.codes[0] in MULTIPLIES]
    close = [finding for finding in large if abs(finding.value - claim.value) <= claim.value * Fraction(str(NEAR))]
    if len({finding.codes for finding in close}) != 1:
        return []
    best = min(close, key=lambda finding: abs(finding.value - claim.value))
    return [Finding(best.mistakes, best.what, best.left_out, best.value, near=True)]
