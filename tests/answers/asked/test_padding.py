"""Padding counted against a plain loop over every position and every pair."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check

LENGTHS = (12, 30, 18, 24)
BATCH = "Four reviews of 12, 30, 18 and 24 tokens are padded to the longest. "
REAL = [[place < length for place in range(max(LENGTHS))] for length in LENGTHS]
FLAGS = [flag for row in REAL for flag in row]
PAIRS = [query and key for row in REAL for query in row for key in row]


@pytest.mark.parametrize(
    ("asks", "value"),
    [
        ("How many padding tokens are there?", FLAGS.count(False)),
        ("How many real tokens are there?", FLAGS.count(True)),
        ("How many tokens are there after padding?", len(FLAGS)),
        ("What share of the positions is padding?", FLAGS.count(False) / len(FLAGS)),
        ("What share of the tokens is real?", FLAGS.count(True) / len(FLAGS)),
        ("How many attention scores are computed for nothing?", PAIRS.count(False)),
        ("With 8 heads, how many attention scores are computed for nothing?", 8 * PAIRS.count(False)),
        ("What share of the attention scores is wasted?", PAIRS.count(False) / len(PAIRS)),
    ],
)
def test_it_is_what_a_loop_counts(asks: str, value: float) -> None:
    assert ask(BATCH + asks).value == pytest.approx(value)


def test_the_shape_is_sentences_by_length() -> None:
    assert ask(BATCH + "What is the shape of input_ids?").value == (4, 30)


@pytest.mark.parametrize(("claim", "right"), [("36", True), ("84", False), ("120", False)])
def test_real_tokens_are_no_padding(claim: str, right: bool) -> None:
    assert check(BATCH + "How many padding tokens are there?", None, claim).right is right


def test_a_share_of_scores_answers_for_work_and_not_for_positions() -> None:
    share = f"{PAIRS.count(False) / len(PAIRS):.4f}"
    assert check(BATCH + "What fraction of the computation is wasted?", None, share).verdict == "convention"
    assert not check(BATCH + "What fraction of the positions is padding?", None, share).right
