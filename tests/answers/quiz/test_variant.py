"""A set for one student: errors are carried forward, other conventions and roundings earn their share."""

from fractions import Fraction

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set, variant
from glassformer.errors import GlassformerError

PAPER = variant(parse_set(CARRYING, "carrying"), 0)
LAYER = 4 * 64 * 64 + 2 * 64 * 100
WEIGHTS = "[0.3302, 0.6698]"


def judged(**answers):
    return PAPER.judge(answers)


def test_the_right_numbers():
    assert [item.key.text for item in PAPER.items[:4]] == [f"{LAYER:,}", f"{6 * LAYER:,}", "[0.707, 1.414]", "[0.330, 0.670]"]


def test_a_wrong_layer_carried_through_the_stack_earns_the_second_mark():
    found = judged(layer="20000", all="120,000")
    assert (found["layer"].verdict, found["layer"].credit) == ("wrong", 0)
    assert (found["all"].verdict, found["all"].credit) == ("carried", 1)
    assert found["all"].says == f"follows from your own answer to layer; the right answer is {6 * LAYER:,}"


def test_a_new_error_on_top_of_a_carried_one_earns_nothing():
    assert judged(layer="20000", all="120001")["all"].verdict == "wrong"


def test_the_right_answer_is_right_whatever_came_before():
    assert judged(layer="20000", all=str(6 * LAYER))["all"].verdict == "right"


def test_nothing_is_carried_from_a_missing_answer():
    assert judged(all="120000")["all"].verdict == "wrong"
    assert judged(layer="no idea", all="120000")["all"].verdict == "wrong"


def test_unscaled_scores_are_named_and_what_follows_is_carried():
    found = judged(scores="[1, 2]", weights="[0.269, 0.731]", output="[1.076, 2.924]")
    assert found["scores"].codes == ("no_scaling",)
    assert found["weights"].verdict == "carried"
    assert found["output"].verdict == "carried"


def test_rounded_numbers_may_be_carried_as_they_were_written():
    found = judged(scores="[0.7, 1.4]", weights=WEIGHTS, output="[1.32, 2.68]")
    assert found["scores"].verdict == "convention"
    assert found["weights"].verdict == "right"
    assert found["output"].verdict in ("right", "convention", "carried")


def test_the_same_weights_without_the_wrong_scores_are_a_mistake():
    assert judged(weights="[0.269, 0.731]")["weights"].codes == ("no_scaling",)


def test_a_rounded_count_earns_half():
    found = judged(layer="29.2k")["layer"]
    assert (found.verdict, found.credit) == ("convention", Fraction(1, 2))


def test_another_convention_earns_half_and_is_named():
    everything = LAYER + 4 * 64 + 100 + 64 + 4 * 64
    found = judged(layer=str(everything))["layer"]
    assert (found.verdict, found.credit) == ("convention", Fraction(1, 2))
    assert found.says.startswith("right (biases, norms counted")


def test_a_mistake_beats_a_convention():
    assert judged(layer=str(LAYER - 64 * 64))["layer"].codes == ("no_output_projection",)


@pytest.mark.parametrize("answer", ["b", "B", "(b)", "B)", " b. ", "option B", "answer: b"[-1]])
def test_a_choice_is_read_by_its_letter(answer):
    option = next(item for item in PAPER.items if item.id == "pick").options[1]
    assert judged(pick=answer)["pick"].codes == ((option.code,) if option.code else ())


def test_a_choice_is_read_by_its_text():
    assert judged(pick="this")["pick"].right
    assert judged(pick="That")["pick"].codes == ("no_scaling",)
    assert judged(pick="Z")["pick"].verdict == "unclear"


@pytest.mark.parametrize("claim", ["", "   "])
def test_no_answer_is_missing(claim):
    assert judged(layer=claim)["layer"].missing


HOSTILE = [
    "=cmd()",
    "<script>",
    "9**9**9**9",
    "(" * 50_000,
    "1" * 50_000,
    "[" * 9,
    "\x00",
    "1e999",
    "--",
    "{}",
    "nan",
    "[nan, inf]",
    "[1e300, 1]",
    "[[1],[2]]",
]


@pytest.mark.parametrize("claim", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("question", ["layer", "all", "scores", "output", "pick"])
def test_no_claim_breaks_a_judgement(claim, question):
    found = judged(**dict.fromkeys(("layer", "scores", "weights", question), claim))[question]
    assert found.verdict in ("wrong", "unclear")
    assert found.credit == 0


def test_a_rule_that_does_not_give_the_answer_is_refused():
    with pytest.raises(GlassformerError, match="question all: carried = 'layer' gives"):
        variant(parse_set(CARRYING.replace('carried = "L * layer"', 'carried = "layer"'), "carrying"), 0)


@pytest.mark.parametrize("layer", ["0", "0.0", "nothing", "nan", "1"])
def test_nothing_is_carried_from_a_count_that_makes_the_rest_trivial(layer):
    """From 0 follows 0 and from 1 the number of layers, which is given: neither shows that anything was understood."""
    follows = {"0": "0", "0.0": "0", "1": "6"}.get(layer, "0")
    found = judged(layer=layer, all=follows)["all"]
    assert (found.verdict, found.credit) == ("wrong", 0)


@pytest.mark.parametrize("scores", ["[0, 0]", "[1, 1]", "[]", "[nan, 1]"])
def test_nothing_is_carried_from_scores_that_give_the_same_weights_whatever_the_question(scores):
    assert judged(scores=scores, weights="[0.5, 0.5]")["weights"].credit == 0


def test_nothing_is_carried_from_weights_of_zero():
    assert judged(weights="[0, 0]", output="[0, 0]")["output"].credit == 0


def test_each_right_number_of_a_vector_earns_its_share_and_this_is_stated():
    found = judged(output="[1.321, 9]")["output"]
    assert (found.verdict, found.credit) == ("wrong", Fraction(1, 2))
    assert found.says == "wrong, and no known mistake gives this answer; 1 of 2 numbers are right and earn their share"


def test_each_number_that_follows_from_an_own_answer_earns_its_share():
    found = judged(weights="[0.25, 0.75]", output="[1, 7]")["output"]
    assert (found.verdict, found.credit) == ("wrong", Fraction(1, 2))
    assert found.says.startswith("1 of 2 numbers follow from your own answer to weights; the right answer is ")


def test_numbers_rounded_too_much_earn_the_share_of_a_convention():
    found = judged(output="[1.3, 2.679]")["output"]
    assert (found.verdict, found.credit) == ("convention", Fraction(3, 4))
