"""A question in prose is graded where its encoder is described in full, and only there."""

import pytest

from glassformer.answers.solutions.check import check_text

ASKED = """How many parameters does a single Transformer encoder layer have?

Input dimension: 64

Number of heads in multi-head attention: 4

Dimension of each head: 16

Dimension of feed-forward network: 120

{answer}
"""


@pytest.mark.parametrize(
    ("answer", "grade"), [("32,440", "right"), ("27648", "convention"), ("Answer: 27648", "convention"), ("31000", "wrong")]
)
def test_the_answer_is_graded(answer, grade):
    found = check_text(ASKED.format(answer=answer))
    assert [one.grade for one in found.graded] == [grade]


@pytest.mark.parametrize(
    "text",
    [
        ASKED.replace("Dimension of feed-forward network: 120", "").format(answer="27648"),
        ASKED.replace("encoder layer", "decoder").format(answer="27648"),
        ASKED.replace("Dimension of each head: 16", "Input dimension: 128").format(answer="27648"),
        ASKED.format(answer="see the book"),
    ],
)
def test_nothing_is_judged_where_something_is_missing(text):
    assert check_text(text).graded == ()
