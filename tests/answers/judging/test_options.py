"""The letter of an option stands for its text, and is called wrong only where another option is right."""

import pytest

from glassformer.answers.judging import check
from glassformer.answers.judging.options import chosen, options_in
from glassformer.spec import GlassformerError

QUESTION = "How many layers does BERT-large have? A) 12 B) 24 C) 36"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (QUESTION, {"A": "12", "B": "24", "C": "36"}),
        ("What is d_k?\na) 8\nb) 64", {"A": "8", "B": "64"}),
        ("What is d_k? (A) 8 (B) 64", {"A": "8", "B": "64"}),
        ("What is its shape?\n- A) (9 × 4)\n- B) (9 × 9)", {"A": "(9 × 4)", "B": "(9 × 9)"}),
        ("What is d_k?\n- A) `8`\n- B) `64`", {"A": "8", "B": "64"}),
        ("What is d_k?", {}),
        ("What is d_k? A) 8", {}),
        ("What is d_k? B) 8 C) 64", {}),
    ],
)
def test_options_are_found_by_their_letters(question, options):
    assert options_in(question) == options


@pytest.mark.parametrize(
    ("claim", "letter"), [("B", "B"), ("(b)", "B"), ("option C", "C"), ("B) 24", "B"), ("24", ""), ("d_model", ""), ("3 d", "")]
)
def test_a_letter_is_a_choice(claim, letter):
    assert chosen(claim) == letter


def test_the_option_is_judged_and_not_the_letter():
    assert check(QUESTION, None, "B").right
    assert not check(QUESTION, None, "(a)").right
    assert check(QUESTION, None, "24").right


@pytest.mark.parametrize("claim", ["A", "B", "C", "D", "E"])
def test_a_letter_alone_is_no_number(claim):
    with pytest.raises(GlassformerError, match="letter of an option"):
        check("How many layers does BERT-large have?", None, claim)


def test_two_options_that_conventions_make_right_are_not_told_apart():
    question = "How many parameters does multi-head attention with d_model=96 have? A) 36,864 B) 37,248"
    assert check(question, None, "B").right
    with pytest.raises(GlassformerError, match="cannot be told"):
        check(question, None, "A")


def test_where_no_option_is_right_none_is_called_wrong():
    with pytest.raises(GlassformerError, match="cannot be told"):
        check("How many layers does BERT-large have? A) 11 B) 13", None, "A")
