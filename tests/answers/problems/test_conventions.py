"""Choices that a question leaves open are not mistakes: layouts, eps, sines first, GELU by tanh, one row, truncated digits."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked
from glassformer.numbers.by_hand import parse_problem, solve

ATTENTION = {"Q": [[2, 0], [0, 2], [1, 3]], "K": [[0, 2], [2, 0], [1, 1]], "V": [[2, 1], [0, 2], [1, 1]]}
NORM = {"kind": "layer_norm", "x": [2, "7/3", "4/3", 1]}


def values(problem, name="output"):
    return np.array(solve(parse_problem(problem)).values[name])


def judged(problem, name, claim):
    return check_worked(problem, {name: np.round(claim, 4).tolist() if isinstance(claim, np.ndarray) else claim}).judged[0]


@pytest.mark.parametrize("name", ["output", "weights", "q"])
def test_the_column_layout_is_right(name):
    found = judged(ATTENTION, name, values(ATTENTION, name).T)
    assert (found.verdict, found.convention) == ("convention", "transposed, tokens as columns")


@pytest.mark.parametrize("name", ["dot", "scores"])
def test_keys_times_queries_for_queries_times_keys_is_named(name):
    found = judged(ATTENTION, name, values(ATTENTION, name).T)
    assert (found.verdict, [finding.codes for finding in found.findings]) == ("wrong", [("queries_keys_exchanged",)])


def test_the_row_layout_of_a_problem_in_columns_is_right():
    columns = {name: np.transpose(value).tolist() for name, value in ATTENTION.items()} | {"convention": "columns"}
    assert judged(columns, "output", values(ATTENTION).T).verdict == "right"
    assert judged(columns, "output", values(ATTENTION)).convention == "transposed, tokens as rows"


def test_one_query_is_right_and_its_row_is_named():
    problem = {**ATTENTION, "tokens": ["a", "b", "c"]}
    row = judged(problem, "output", values(problem)[2])
    assert row.verdict == "convention"
    assert row.convention.startswith("the row of ")


def test_all_queries_are_right_if_one_was_requested():
    found = judged({**ATTENTION, "query": 1}, "output", values(ATTENTION))
    assert (found.verdict, found.convention) == ("convention", "for all queries, although one was asked for")


def test_n_minus_1_is_the_mistake_unless_the_question_says_so():
    unbiased = "[0.5477, 1.0954, -0.5477, -1.0954]"
    for problem in (NORM, {**NORM, "variance": "biased"}):
        found = judged(problem, "output", unbiased)
        assert (found.verdict, [finding.codes for finding in found.findings]) == ("wrong", [("layernorm_variance",)])
    assert judged({**NORM, "variance": "unbiased"}, "output", unbiased).verdict == "right"
    assert judged({**NORM, "variance": "unbiased"}, "output", "[0.6325, 1.2649, -0.6325, -1.2649]").verdict == "wrong"


def test_eps_is_a_convention_if_the_question_does_not_set_it():
    small = {**NORM, "x": [0.01, 0.02, 0.03, 0.04]}
    with_eps = values({**small, "eps": 1e-5})
    assert judged(small, "output", with_eps).convention == "eps = 1e-05 under the root"
    outside = values({**small, "eps": 0.01, "eps_place": "outside"})
    assert judged({**small, "eps": 0.01}, "output", outside).convention == "eps outside the root"
    fixed = judged({**small, "eps": 0.01, "eps_place": "inside"}, "output", outside)
    assert [finding.codes for finding in fixed.findings] == [("layernorm_variance",)]


def test_sines_first_is_a_convention_if_the_question_does_not_set_it():
    table = {"kind": "positions", "positions": 3, "d_model": 6}
    halves = values({**table, "layout": "halves"})
    assert judged(table, "pe", halves).convention.startswith("all sines in the first half")
    fixed = judged({**table, "layout": "interleaved"}, "pe", halves)
    assert [finding.codes for finding in fixed.findings] == [("positional_index",)]


def test_rotary_pairs_and_gelu_have_two_usual_forms():
    rotary = {"kind": "rope", "x": [[1, 2, 3, 4], [4, 3, 2, 1]]}
    assert judged(rotary, "output", values({**rotary, "pairs": "halves"})).verdict == "convention"
    gelu = {"kind": "activation", "x": [1.5, -1.2, 0.7], "activation": "gelu"}
    assert judged(gelu, "output", values({**gelu, "activation": "gelu_tanh"})).convention == "GELU by its tanh approximation"


def test_scores_may_mean_the_dot_products_unless_both_are_claimed():
    dot = values(ATTENTION, "dot")
    alone = judged(ATTENTION, "scores", dot)
    assert (alone.verdict, alone.convention) == ("convention", "the dot products before they are scaled")
    both = check_worked(ATTENTION, {"dot": dot.tolist(), "scores": dot.tolist()})
    assert both["dot"].right and not both["scores"].right
    assert [finding.codes for finding in both["scores"].findings] == [("no_scaling",)]


def test_one_head_and_concatenated_heads_are_layouts_of_the_same_result():
    problem = {"X": [[1, 0, 2, 1], [0, 3, 1, 2]], "heads": 2, "W_Q": "identity", "W_K": "identity", "W_V": "identity"}
    weights, heads = values(problem, "weights"), values(problem, "heads")
    assert judged(problem, "weights", weights[1]).convention == "only head 2"
    assert judged(problem, "heads", np.concatenate(heads, axis=-1)).convention == "heads side by side"
    assert judged(problem, "output", heads).convention == "head by head"


def test_a_truncated_last_digit_is_right():
    truth = values(ATTENTION)
    cut = np.trunc(truth * 1000) / 1000
    found = judged(ATTENTION, "output", [[f"{number:.3f}" for number in row] for row in cut])
    assert found.verdict == "right"
    assert found.notes == ("the last digit is truncated or off by one, not rounded",)


def test_a_last_digit_that_is_off_by_two_is_not():
    found = judged(ATTENTION, "output", [[f"{number + 0.0021:.3f}" for number in row] for row in values(ATTENTION)])
    assert found.verdict == "wrong"


def test_trailing_zeros_that_claim_too_much_precision_are_noted_but_right():
    found = judged({"kind": "sigmoid", "x": [1, -1]}, "output", "[0.7300, 0.2700]")
    assert (found.verdict, found.notes) == ("right", ("right to 2 decimals; the trailing zeros are not right",))
    assert judged({"softmax": [0.01, 0]}, "output", "[0.5000, 0.5000]").verdict == "wrong"  # every key the same


def test_masked_scores_may_be_written_as_any_very_low_number():
    problem = {**ATTENTION, "mask": "causal"}
    rows = [["-inf" if number == -np.inf else f"{number:.4f}" for number in row] for row in values(problem, "masked")]
    assert judged(problem, "masked", rows).verdict == "right"
    assert judged(problem, "masked", [["-1e9" if cell == "-inf" else cell for cell in row] for row in rows]).verdict == "right"
    assert judged(problem, "masked", [["0" if cell == "-inf" else cell for cell in row] for row in rows]).verdict == "wrong"


def test_whole_numbers_are_exact_if_a_mistake_gives_them_and_rounded_otherwise():
    best_alone = judged({"softmax": [3, 2.5]}, "output", "[1, 0]")
    assert [finding.codes for finding in best_alone.findings] == [("hard_or_uniform_attention",)]
    assert judged({"softmax": [9, 0, 0]}, "output", "[1, 0, 0]").notes == ("rounded to whole numbers",)
    found = judged({"A": [[12.4, 7.7]], "B": [[1], [1]]}, "output", "20")
    assert (found.verdict, found.notes) == ("right", ("rounded to whole numbers",))
