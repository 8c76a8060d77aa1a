"""Number words in English and French, and the bundled model that translates them."""

import random
import sys
from pathlib import Path

import pytest

import glassformer as gf
from glassformer.lab.pages.trace_models import HOME, bundled

ROOT = Path(__file__).parents[2]
CHECKED = {  # by hand, in the traditional spelling
    0: ("zero", "zéro"),
    1: ("one", "un"),
    11: ("eleven", "onze"),
    16: ("sixteen", "seize"),
    17: ("seventeen", "dix-sept"),
    20: ("twenty", "vingt"),
    21: ("twenty-one", "vingt et un"),
    22: ("twenty-two", "vingt-deux"),
    31: ("thirty-one", "trente et un"),
    60: ("sixty", "soixante"),
    61: ("sixty-one", "soixante et un"),
    70: ("seventy", "soixante-dix"),
    71: ("seventy-one", "soixante et onze"),
    72: ("seventy-two", "soixante-douze"),
    79: ("seventy-nine", "soixante-dix-neuf"),
    80: ("eighty", "quatre-vingts"),
    81: ("eighty-one", "quatre-vingt-un"),
    90: ("ninety", "quatre-vingt-dix"),
    91: ("ninety-one", "quatre-vingt-onze"),
    92: ("ninety-two", "quatre-vingt-douze"),
    99: ("ninety-nine", "quatre-vingt-dix-neuf"),
    100: ("one hundred", "cent"),
    101: ("one hundred and one", "cent un"),
    200: ("two hundred", "deux cents"),
    203: ("two hundred and three", "deux cent trois"),
    280: ("two hundred and eighty", "deux cent quatre-vingts"),
    321: ("three hundred and twenty-one", "trois cent vingt et un"),
    1000: ("one thousand", "mille"),
    1100: ("one thousand one hundred", "mille cent"),
    2080: ("two thousand and eighty", "deux mille quatre-vingts"),
    7300: ("seven thousand three hundred", "sept mille trois cents"),
    9999: ("nine thousand nine hundred and ninety-nine", "neuf mille neuf cent quatre-vingt-dix-neuf"),
}


@pytest.fixture
def words(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "recipes"))
    import number_words

    yield number_words
    sys.modules.pop("number_words")


def test_thirty_two_numbers_are_as_checked_by_hand(words):
    assert {number: (words.english(number), words.french(number)) for number in CHECKED} == CHECKED


def test_no_two_numbers_have_the_same_words(words):
    numbers = range(words.LARGEST + 1)
    assert len({words.english(number) for number in numbers}) == len({words.french(number) for number in numbers}) == 10_000


def test_every_number_is_in_one_group_and_the_number_of_the_tour_is_tested(words):
    groups = words.split(random.Random(0), 1000)
    assert sorted(number for group in groups.values() for number in group) == list(range(words.LARGEST + 1))
    assert {name: len(group) for name, group in groups.items()} == {"test": 1000, "validation": 500, "train": 8500}
    assert words.SHOWN in groups["test"]


def test_the_accuracy_of_the_bundled_model_is_as_stated(words):
    tested = words.split(random.Random(0), 1000)["test"]
    found = gf.translate(HOME / "numbers", [words.english(number) for number in tested]).texts
    right = sum(one == words.french(number) for one, number in zip(found, tested, strict=True))
    assert (right, found[tested.index(92)]) == (998, "quatre-vingt-douze")
    assert f"{right / len(tested):.1%} of 1,000" in bundled()["numbers"]["made"]


def test_the_bundled_model_has_at_most_200_kb():
    assert sum(file.stat().st_size for file in (HOME / "numbers").iterdir()) <= 200_000
