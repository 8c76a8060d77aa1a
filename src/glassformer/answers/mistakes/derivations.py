"""Mistakes in any derivation: a line left out or counted twice, a size left out or taken for another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counted import CHANCE, CountClaim
from glassformer.answers.mistakes.finding import Finding
from glassformer.answers.mistakes.other_sizes import sizes_of
from glassformer.answers.quantities.answer import Line
from glassformer.spec import EncoderSpec

DIGITS = 1000  # a claim needs at least four digits, or three that are rounded
AMBIGUOUS = (2, 4)  # twice or a quarter of the right number has many explanations
LARGEST_RATIO = 16  # up to this, a whole ratio may have several
FEW_TERMS = 6  # lines of which one may be taken for all
MOST_TERMS = 30  # lines of a derivation in which each size is also changed alone
NOT_SIZES = frozenset(("bytes", "parameters", "2", "4"))  # factors that other mistakes are about
KEYS_AND_VALUES = "(d_k + d_v)"  # of a cache: twice the width of a head, if keys and values have the same width
GROUPS: dict[str, tuple[str, ...]] = {
    "": (),
    "biases left out": ("b_",),
    "biases and norms left out": ("b_", "gamma", "beta"),
}


class Term(NamedTuple):
    """A line of a derivation as a product: `layers.*.ffn.W_1 = layers · d_model · d_ff`."""

    name: str
    factors: tuple[tuple[str, int], ...]

    @property
    def symbol(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def size(self) -> int:
        return math.prod(size for _, size in self.factors)

    def without(self, *labels: str) -> Term:
        return self._replace(factors=tuple(factor for factor in self.factors if factor[0] not in labels))

    def put(self, label: str, size: int) -> Term:
        return self._replace(factors=tuple((one, size if one == label else old) for one, old in self.factors))


Terms = tuple[Term, ...]
Changed = tuple[str, str, Terms]  # code, what was done, the terms it leaves


def derivation_findings(
    lines: Sequence[Line], value: int, claim: CountClaim, spec: EncoderSpec, t: int | None, *, certain: bool = False
) -> list[Finding]:
    """Return the change of the derivation that gives a claimed number, if there is one and a chance match is ruled out.

    `certain`: the caller rules chance out, by looking for the same change at other sizes; then every change is returned.
    """
    terms = terms_of(lines, value)
    if not terms or claim.value < DIGITS or claim.room * DIGITS > claim.value:
        return []
    tried: dict[int, dict[str, str]] = {}  # what was done, with its code, by the number that it gives
    for said, starts in GROUPS.items():
        kept = tuple(term for term in terms if not term.symbol.startswith(starts)) if starts else terms
        for code, what, changed in _changes(kept, sizes_of(spec, t)) if kept and (not starts or kept != terms) else ():
            total = sum(term.size for term in changed)
            tried.setdefault(total, {}).setdefault(f"{what}, {said}" if said else what, code)
    fitting = {total: made for total, made in tried.items() if claim.allows(total) and total != value}
    if not certain and fitting and claim.expected_hits(list(tried)) > CHANCE:
        return []
    found = []
    for total, made in fitting.items():
        ratio = max(Fraction(total, value), Fraction(value, total or 1))
        if certain or not (ratio in AMBIGUOUS or (len(made) > 1 and ratio in range(LARGEST_RATIO + 1))):
            found += [Finding((mistake(code),), (what,), total) for what, code in made.items()]
    return found if certain else found[:1]


def terms_of(lines: Sequence[Line], value: int) -> Terms:
    """Return the lines as products; empty if the derivation is not the sum of such lines."""
    found = []
    for line in lines:
        labels, numbers = line.symbols.split(" · "), line.numbers.split(" · ")
        if KEYS_AND_VALUES in labels and len(labels) == len(numbers):
            place = labels.index(KEYS_AND_VALUES)
            labels[place : place + 1] = ["2", "d_k"]
            numbers[place : place + 1] = ["2", str(int(numbers[place]) // 2)]
        if len(labels) != len(numbers) or not all(number.isdecimal() for number in numbers):
            return ()
        found.append(Term(line.what, tuple(zip(labels, map(int, numbers), strict=True))))
    return tuple(found) if sum(term.size for term in found) == value else ()


def _changes(terms: Terms, sizes: Mapping[str, int]) -> Iterator[Changed]:
    for place, term in enumerate(terms if len(terms) > 1 else ()):
        yield "line_left_out", f"{term.name} left out", (*terms[:place], *terms[place + 1 :])
        yield "line_twice", f"{term.name} counted twice", (*terms, term)
    if 1 < len(terms) <= FEW_TERMS:
        for size in dict.fromkeys(term.size for term in terms):
            only = [term for term in terms if term.size == size]
            yield "line_left_out", f"only {' or '.join(term.name for term in only)} counted", (only[0],)
    alike = _alike(terms)
    for labels in alike:
        yield from _one_size(terms, labels, sizes, lambda _: True, "")
    for term in terms if 1 < len(terms) <= MOST_TERMS else ():
        for labels in _alike((term,)) if len(term.factors) > 1 else ():
            yield from _one_size(terms, labels, sizes, lambda one, term=term: one is term, f" in {term.name}")  # type: ignore[misc]
    for one, two in combinations(alike, 2):
        left = tuple(term.without(one[0], two[0]) for term in terms)
        yield "size_left_out", f"{' or '.join(one)} and {' or '.join(two)} left out", left


def _alike(terms: Terms) -> list[list[str]]:
    """Return the labels of sizes, those together that always have the same size in the same terms, such as t and s."""
    found: dict[tuple[int, ...], list[str]] = {}
    for label in dict.fromkeys(label for term in terms for label, _ in term.factors if label not in NOT_SIZES):
        found.setdefault(tuple(dict(term.factors).get(label, 0) for term in terms), []).append(label)
    return [*found.values()]


def _one_size(
    terms: Terms, labels: Sequence[str], sizes: Mapping[str, int], chosen: Callable[[Term], bool], where: str
) -> Iterator[Changed]:
    def everywhere(change: Callable[[Term], Term]) -> Terms:
        return tuple(change(term) if chosen(term) else term for term in terms)

    label, said = labels[0], " or ".join(labels)
    yield "size_left_out", f"{said} left out{where}", everywhere(lambda term: term.without(label))
    for name, size in sizes.items():
        changed = everywhere(lambda term, size=size: term.put(label, size))  # type: ignore[misc]
        if changed != terms:
            yield "size_replaced", f"{name} ({size:,}) taken for {said}{where}", changed
