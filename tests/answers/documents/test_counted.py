"""A labelled product that counts as a known mistake would is wrong, and no other product is."""

import random

import pytest
from solution_texts import COUNTED_TWICE, RIGHT

from glassformer.answers.documents import check_text

GIVEN = "Hidden size 512, 8 heads, 6 layers, d_ff = 2048, d_k = 64, and 20 tokens.\n\n"


def codes(text):
    return [(found.codes[0], found.put_right) for found in check_text(text).remarks if found.verdict == "wrong"]


@pytest.mark.parametrize(
    ("line", "code", "due"),
    [
        ("query, key and value matrices per layer: 3 × 512 × 512 × 8 = 6,291,456", "heads_times_full_width", "786,432"),
        ("output matrix per layer: 512 × 512 × 8 = 2,097,152", "heads_times_full_width", "262,144"),
        ("Query parameters: (512 × 512 + 512) × 8 = 2,101,248", "heads_times_full_width", "262,656"),
        ("Query, key and value weights: 3 · 512^2 · 8 = 6,291,456", "heads_times_full_width", "786,432"),
        ("Query, key and value weights: 8 × 3 × (512 × 512) = 6,291,456", "heads_times_full_width", "786,432"),
        ("feed-forward matrices: 512 × 2048 = 1,048,576", "ffn_one_or_twice", "2,097,152"),
        ("the attention matrix is 20 × 64 = 1,280 numbers", "feature_by_feature", "400"),
        ("attention matrix: 512 × 512 = 262,144 entries", "feature_by_feature", "400"),
    ],
)
def test_a_known_mistake_makes_its_line_wrong(line, code, due):
    assert codes(GIVEN + line) == [(code, due)]
    (found,) = check_text(GIVEN + line).findings
    assert found.verdict == "wrong"


@pytest.mark.parametrize(
    "lines",
    [
        "query, key and value matrices per layer: 3 × 512 × 512 = 786,432",
        "query weights in all layers: 6 × 512 × 512 = 1,572,864",
        "W_Q of one head: 512 × 64 = 32,768 weights",
        "W_Q by heads: 512 × 64 × 8 = 262,144 weights",
        "feed-forward matrices: 2 × 512 × 2048 = 2,097,152",
        "first feed-forward matrix: 512 × 2048 = 1,048,576",
        "feed-forward weights: 512 × 2048 = 1,048,576\nand twice that: 2 × 1,048,576 = 2,097,152",
        "feed-forward weights in: 512 × 2048 = 1,048,576\nfeed-forward weights out: 2048 × 512 = 1,048,576",
        "the attention matrix is 20 × 20 = 400 numbers",
        "attention scores of all heads: 8 × 20 × 20 = 3,200",
        "the scores cost 20 × 64 = 1,280 multiplications a row",
        "Q: 20 × 64 = 1,280 numbers",
        "It is a mistake to count the query weights as 512 × 512 × 8 = 2,097,152.",
        "query projection FLOPs: 20 × 512 × 512 = 5,242,880",
    ],
)
def test_right_counts_are_not_called_wrong(lines):
    assert check_text(GIVEN + lines).wrong == 0


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_document_has_no_errors(name):
    found = check_text(RIGHT[name])
    assert [remark for remark in found.remarks if remark.verdict != "right"] == []
    assert found.wrong == 0


@pytest.mark.parametrize("heads", ["8 heads", "8 attention heads", "number of heads: 8", "h = 8", "heads = 8", "eight heads"])
def test_the_heads_are_found_however_they_are_written(heads):
    text = f"d_model = 512, {heads}.\n\nQuery, key and value weights: 3 × 512 × 512 × 8 = 6,291,456\n"
    assert codes(text) == [("heads_times_full_width", "786,432")]


def test_a_factor_that_may_be_layers_is_wrong_only_if_the_result_is_called_one_layers_or_multiplied_by_the_layers():
    found = [("heads_times_full_width", "1,769,472"), ("heads_times_full_width", "589,824")]
    assert codes(COUNTED_TWICE) == found
    multiplied = COUNTED_TWICE.replace("- one layer:", "- together:")
    assert codes(multiplied) == found
    called_one = COUNTED_TWICE.replace("- all 8 layers: $23,444,584 \\times 8 = 187,556,672$\n", "")
    assert codes(called_one) == found
    neither = called_one.replace("- one layer:", "- together:")
    assert codes(neither) == []


def test_results_of_a_miscount_are_carried_forward_and_corrected():
    found = {one.line: one for one in check_text(COUNTED_TWICE).findings}
    assert [(found[line].verdict, found[line].put_right) for line in (16, 20, 21, 23)] == [
        ("wrong", "2,359,296"), ("carried", "7,077,888"), ("carried", "56,623,104"), ("carried", "87,737,856"),
    ]  # fmt: skip


def test_the_arithmetic_of_a_miscount_is_still_judged():
    found = next(one for one in check_text(COUNTED_TWICE).findings if one.line == 14)
    assert found.due == "14,155,776"
    assert "14,155,776, not 14,155,008" in found.sentence


def right_lines(pick):
    """A model at random, and its weights as people write them."""
    heads, d_k, layers = pick.choice([2, 4, 6, 8, 12, 16]), pick.choice([16, 32, 64, 80]), pick.choice([1, 2, 4, 6, 8, 12, 24])
    d, d_ff, t = heads * d_k, pick.choice([2, 3, 4]) * heads * d_k, pick.choice([5, 20, 77, 128, 512])
    lines = {
        "query, key and value matrices per layer": ([3, d, d], 1),
        "query, key and value weights by heads": ([3, d, d_k, heads], 1),
        "output matrix in all layers": ([d, d, layers], 1),
        "W_Q, W_K, W_V and W_O weights": ([4, d, d], 1),
        "query weights of one head": ([d, d_k], 1),
        "key parameters": ([d, d], 1),
        "feed-forward matrices": ([2, d, d_ff], 1),
        "feed-forward weights of all layers": ([2, d, d_ff, layers], 1),
        "the first feed-forward matrix": ([d, d_ff], 1),
        "the attention matrix of one head": ([t, t], 1),
        "attention scores of all heads": ([heads, t, t], 1),
        "queries of one head": ([t, d_k], 1),
    }
    sizes = f"Hidden size {d}, {heads} heads, {layers} layers, d_ff = {d_ff}, {t} tokens.\n\n"
    for label, (factors, _) in lines.items():
        pick.shuffle(factors)
        value = 1
        for factor in factors:
            value *= factor
        yield f"{sizes}{label}: {' × '.join(map(str, factors))} = {value:,}"


@pytest.mark.parametrize("seed", range(40))
def test_right_counts_of_random_models_are_not_called_wrong(seed):
    for text in right_lines(random.Random(seed)):
        assert check_text(text).wrong == 0, text
