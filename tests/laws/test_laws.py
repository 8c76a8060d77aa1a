"""The laws of encoders, on random specs, in every implementation; a few cases each here, five hundred in the slow tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from laws import book
from laws.cases import drawn
from laws.law import Law
from laws.ways import DOUBLE, PROGRAM, Way

FEW, MANY, TRIES = 12, 500, 12
EVERYTHING = [(law, way) for law in book.ALL.values() for way in law.ways]
NAMES = [f"{law.name}, {way.name}" for law, way in EVERYTHING]


def differences(law: Law, way: Way, count: int) -> list[float]:
    """The law in many cases to which it applies: random specs in turn, each repeated with other numbers when they run out."""

    def measured() -> Iterator[float]:
        for number in range(TRIES):
            for spec in drawn(3 * FEW if count == FEW else MANY):
                found = law.found(way, spec, number)
                if found is not None:
                    yield found

    return list(islice(measured(), count))


def assert_holds(law: Law, way: Way, count: int) -> float:
    """The worst difference, which keeps the bound."""
    found = differences(law, way, count)
    assert len(found) == count
    worst = (min if law.differs else max)(found)
    assert law.holds(way, worst), f"{law.name} in the {way.name}: {worst:g}, bound {law.bound(way):g}"
    return worst


@pytest.mark.parametrize(("law", "way"), EVERYTHING, ids=NAMES)
def test_a_law_holds(law, way):
    assert_holds(law, way, FEW)


def in_words(worst: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1g}" for name, value in worst.items())


def all_of(laws: list[Law], count: int) -> dict[str, float]:
    """The worst difference of laws that must be nothing, by implementation."""
    worst: dict[str, float] = {}
    for law in laws:
        for way in law.ways:
            found = assert_holds(law, way, count)
            if not law.differs:
                worst[way.name] = max(worst.get(way.name, 0.0), found)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("page", book.PAGES, ids=lambda page: page.__name__.rpartition(".")[2])
def test_five_hundred_cases_of_every_law(page, figure):
    laws = [law for law in book.LAWS.values() if law.measure.__module__ == page.__name__]
    worst = all_of(laws, MANY)
    name = page.__name__.rpartition(".")[2].replace("_", " ")
    said = (
        f"{len(laws)} laws {name}, {MANY} cases of each in every implementation: 0 broken; largest differences: {in_words(worst)}"
    )
    figure("P4", said, cases=MANY, part=name)


def test_a_law_can_fail():
    """Control: a model that adds a millionth to a bias breaks the laws that depend on it."""

    class Bent:
        name, single, positions = "bent", False, True

        def __call__(self, spec, weights, given):
            answer = DOUBLE(spec, weights, given)
            return answer._replace(tokens=tuple(part + 1e-9 * given.inputs.size for part in answer.tokens))

    broken = [
        law.name
        for law in (book.LAWS["a batch gives the same as its rows one by one"], book.LAWS["right padding changes nothing"])
        if not all(law.holds(Bent(), found) for found in differences(law, Bent(), FEW))
    ]
    assert len(broken) == 2


def test_every_law_has_cases_and_covers_both_implementations_if_possible():
    both = [law for law in book.LAWS.values() if PROGRAM in law.ways and DOUBLE in law.ways]
    assert len(both) >= 14
    assert len(book.LAWS) >= 14 + 12


def test_the_page_lists_every_law_and_witness_and_no_other():
    page = (Path(__file__).parents[2] / "docs" / "laws.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")]
    assert [row for row in rows if row not in ("law", "witness")] == list(book.ALL)
