"""Names are compared without the words that add nothing, and never without those that tell."""

import pytest

from glassformer.answers.questions.glossary import PART_NAMES, SETTINGS, TENSOR_NAMES
from glassformer.answers.questions.name_matching import looked_up, loosely


@pytest.mark.parametrize(
    ("name", "table", "meant"),
    [
        ("output tensor after applying self-attention", TENSOR_NAMES, "attention.out"),
        ("output tensor", TENSOR_NAMES, "out"),
        ("flattened patch vector dimension", SETTINGS, "patch"),
        ("final linear classifier of the model", PART_NAMES, "head.classify"),
        ("output after max pooling", TENSOR_NAMES, None),
        ("attention of the decoder", PART_NAMES, None),
        ("tensor after applying", TENSOR_NAMES, None),
    ],
)
def test_idle_words_are_left_out(name, table, meant):
    assert loosely(name, table) == meant


def test_a_setting_needs_more_than_one_telling_word():
    assert loosely("size of the model", SETTINGS, fewest=2) is None


def test_a_name_is_first_looked_up_as_it_is():
    assert looked_up("hidden layer in the ffn", TENSOR_NAMES) == "ffn.hidden"
