"""A pocket calculator: what is rounded on the way, and how far it moves the result."""

import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.by_hand.rounding import rounded

FLYING = {"q": [0, 1], "k": [[1, 1], [0, -1]], "v": [[1, 1], [-1, -1]]}


def test_halves_go_away_from_zero():
    assert [rounded(value, 1) for value in (0.25, -0.25, 0.35, 2.449999)] == [0.3, -0.3, 0.4, 2.4]
    assert rounded(float("-inf"), 2) == float("-inf")


def test_every_intermediate_is_rounded_before_it_is_used():
    carried = solve(parse_problem(FLYING)).rounded(2)
    assert carried.values["scores"] == [0.71, -0.71]
    # e^0.71 = 2.03, e^−0.71 = 0.49, and 2.03 / 2.52 = 0.8056
    assert carried.values["weights"] == [0.81, 0.19]
    assert carried.values["output"] == [0.62, 0.62]


def test_the_result_states_the_effect_of_rounding():
    solution = solve(parse_problem(FLYING | {"ask": ["weights", "output"]}))
    moved = solution.moved(solution.rounded(2))
    assert moved["weights"] == pytest.approx(0.81 - 0.8044297, abs=1e-6)
    assert moved["output"] == pytest.approx(0.62 - 0.6088594, abs=1e-6)
    more = solution.moved(solution.rounded(6))
    assert more["output"] < 1e-5


def test_a_root_is_looked_up_and_an_eps_is_not_rounded_away():
    carried = solve(parse_problem({"layer_norm": [1, 2, 3, 4], "eps": 1e-3})).rounded(2)
    assert carried.values["std"] == 1.12
    assert carried.values["output"] == [-1.34, -0.45, 0.45, 1.34]


def test_given_numbers_stay_as_they_are_given():
    carried = solve(parse_problem({"A": [0.123], "B": [10]})).rounded(1)
    assert carried.values["A"] == [0.123]
    assert carried.values["output"] == 1.2


def test_work_beyond_a_calculator_is_refused():
    wide = [[0.5] * 64] * 64
    solution = solve(parse_problem({"A": wide, "B": wide}))
    with pytest.raises(GlassformerError, match="too large for rounded arithmetic"):
        solution.rounded(2)
