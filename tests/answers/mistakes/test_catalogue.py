"""Each known mistake has its section in the docs, and each section its mistake."""

import re
from pathlib import Path

import pytest

from glassformer.answers.mistakes.catalogue import CATALOGUE, mistake, validated
from glassformer.answers.mistakes.counting import RULES
from glassformer.errors import GlassformerError

PAGE = Path(__file__).parents[3] / "docs" / "mistakes.md"
GOOD = {"counts": {"a": {"name": "n", "sentence": "S."}}, "numbers": {}, "slips": {}, "ideas": {}}


def test_the_docs_have_one_section_per_mistake():
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^### `(\w+)`$", text, flags=re.M) == list(CATALOGUE)
    for known in (*CATALOGUE.values(), *CATALOGUE.worked.values()):
        assert known.sentence in " ".join(text.split())


def test_codes_are_stable_words_and_sentences_are_sentences():
    assert all(re.fullmatch(r"[a-z0-9_]+", code) for code in CATALOGUE)
    assert all(known.sentence.endswith(".") and known.name for known in CATALOGUE.values())


def test_every_counting_rule_is_in_the_catalogue():
    assert set(RULES) <= set(CATALOGUE)


def test_numbers_worked_by_hand_have_their_own_wording():
    assert mistake("dv_dk_mixed") is CATALOGUE["dv_dk_mixed"]
    assert mistake("dv_dk_mixed", worked=True).name == "d_v used instead of d_k"
    assert mistake("no_scaling", worked=True) is CATALOGUE["no_scaling"]
    assert mistake("never_heard_of").name == "never heard of"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"counts": {}}, "the groups must be"),
        (GOOD | {"slips": {"b": {"name": "n", "sentence": "no full stop"}}}, "slips.b needs a name and a sentence"),
        (GOOD | {"ideas": {"a": {"name": "n", "sentence": "S."}}}, "ideas.a has an unknown key, or its code is used twice"),
        (GOOD | {"ideas": {"b": {"name": "n", "sentence": "S.", "more": 1}}}, "unknown key"),
    ],
)
def test_a_faulty_catalogue_is_refused(document, why):
    assert validated(GOOD) is GOOD
    with pytest.raises(GlassformerError, match=why):
        validated(document)
