"""One search finds mistakes alone, under a convention and in pairs, and names none that changes nothing."""

from dataclasses import dataclass
from typing import NamedTuple

from glassformer.answers.mistakes.search import Tried, Ways, search


class Made(NamedTuple):
    code: str
    what: str
    factors: tuple[int, ...]


@dataclass(frozen=True)
class Exactly:
    value: int
    expected: float = 0.0

    def allows(self, value):
        return value == self.value

    def nearly(self, value):
        return abs(value - self.value) <= 2

    def expected_hits(self, values):
        return self.expected if values else 0.0


def forgotten(factors):
    for place, factor in enumerate(factors):
        yield Made("forgotten", f"{factor} was left out", (*factors[:place], *factors[place + 1 :]))


def doubled(factors):
    yield Made("doubled", "taken twice", (2, *factors))


def readings(factors):
    product = 1
    for factor in factors:
        product *= factor
    yield "", product
    yield "half of it", product // 2


WAYS = Ways((1, 7, 11), (forgotten, doubled), lambda made: made.factors, readings)


def codes(found):
    return [(hit.codes, hit.reading) for hit in found.hits]


def test_single_mistakes_under_each_reading():
    assert codes(search(Exactly(11), [[Tried(WAYS.singles())]])) == [(("forgotten",), "")]
    assert codes(search(Exactly(5), [[Tried(WAYS.singles())]])) == [(("forgotten",), "half of it")]


def test_two_mistakes_are_of_different_rules_in_order():
    assert codes(search(Exactly(22), [[Tried(WAYS.pairs())]])) == [(("forgotten", "doubled"), "")]
    assert codes(search(Exactly(1), [[Tried(WAYS.pairs())]])) == []  # both factors left out is the same mistake twice


def test_a_mistake_that_changes_nothing_is_never_a_candidate():
    assert "1 was left out" not in [one.what[0] for one in WAYS.singles()]
    assert ("1 was left out", "taken twice") not in [one.what for one in WAYS.pairs()]


def test_later_stages_are_tried_only_where_earlier_ones_find_nothing():
    def stages():
        yield [Tried(WAYS.singles())]
        raise AssertionError("the second stage was not needed")

    assert search(Exactly(11), stages()).hits


def test_possible_chance_matches_are_not_named_but_reported():
    found = search(Exactly(11, expected=0.5), [[Tried(WAYS.singles(), most=0.05)]])
    assert found.hits == () and [one.codes for one in found.untold] == [("forgotten",)]
    assert search(Exactly(12_345, expected=0.5), [[Tried(WAYS.singles(), most=0.05)]]).untold == ()


def test_a_near_hit_says_so():
    (hit,) = search(Exactly(13), [[Tried(WAYS.singles(), near=True)]]).hits
    assert (hit.value, hit.near) == (11, True)
