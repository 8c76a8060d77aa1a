"""Drawing from a seed."""

import pytest

from glassformer.answers.quiz.draws import Draw, check_choices, parameters
from glassformer.errors import GlassformerError


def test_a_key_gives_the_same_numbers_on_every_machine():
    draw = Draw("parameters", 7, "Ada", "layer", 0)
    assert [draw.below(1000) for _ in range(6)] == [2, 35, 681, 668, 442, 201]


def test_another_student_gets_other_numbers():
    assert [Draw("set", 7, "Ada").below(10**9)] != [Draw("set", 7, "Bo").below(10**9)]


def test_parts_of_a_key_do_not_run_into_each_other():
    assert Draw("ab", "c").below(10**9) != Draw("a", "bc").below(10**9)


def test_a_shuffle_keeps_every_item_and_reaches_every_order():
    orders = {tuple(Draw(seed).shuffled("abc")) for seed in range(200)}
    assert len(orders) == 6


def test_parameters_are_drawn_until_the_conditions_hold():
    choices = {"d": [64, 96, 100], "h": [2, 3, 4, 7], "x": {"from": -1, "to": 1, "shape": [2, 3]}}
    for seed in range(100):
        drawn = parameters(choices, ["mod(d, h) = 0", "h > 2"], Draw(seed))
        assert drawn["d"] % drawn["h"] == 0
        assert drawn["h"] > 2
        assert [len(row) for row in drawn["x"]] == [3, 3]
        assert {number for row in drawn["x"] for number in row} <= {-1, 0, 1}


def test_conditions_that_never_hold_are_reported():
    with pytest.raises(GlassformerError, match="no parameters satisfied d > 100"):
        parameters({"d": [1, 2]}, ["d > 100"], Draw(0))


@pytest.mark.parametrize(
    "given",
    [[], "64", {"from": 1}, {"from": 3, "to": 1}, {"from": 0, "to": 1, "shape": [100, 100]}, {"from": 0, "to": 1, "by": 2}],
)
def test_invalid_choices_are_refused(given):
    with pytest.raises(GlassformerError, match="parameter d"):
        check_choices("d", given)
