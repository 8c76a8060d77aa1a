"""Each known mistake has its section in the docs, and each section its mistake."""

import re
from pathlib import Path

from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.mistakes.counting import RULES

PAGE = Path(__file__).parents[3] / "docs" / "mistakes.md"


def test_the_docs_have_one_section_a_mistake():
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## `(\w+)`$", text, flags=re.M) == list(CATALOGUE)
    for mistake in CATALOGUE.values():
        assert mistake.sentence in text


def test_codes_are_stable_words_and_sentences_are_sentences():
    assert all(re.fullmatch(r"[a-z0-9_]+", code) for code in CATALOGUE)
    assert all(mistake.sentence.endswith(".") and mistake.name for mistake in CATALOGUE.values())


def test_every_counting_rule_is_in_the_catalogue():
    assert set(RULES) <= set(CATALOGUE)
