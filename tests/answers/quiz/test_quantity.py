"""Answers and a set's own mistakes, written in the language of quantities with drawn parameters."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.answers.quiz import parse_set, variant
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.submissions import Submissions
from glassformer.errors import GlassformerError
from glassformer.show.quiz.page import key_page

OWN = """
title = "Own"
[[question]]
id = "ffn"
kind = "{kind}"
text = "How many parameters does the feed-forward block have?"
spec = "encoder layers=2 d_model={{d}} heads=4 d_ff={{f}}"
answer = "params(ffn, layer=0) + extra"
parameters = {{ d = [64, 128], f = [100, 200], extra = [0, 10] }}
mistakes = [
  {{ code = "one_bias", gives = "params(ffn, layer=0) + extra - d_model", say = "Both matrices have a bias." }},
  {{ code = "extra_left_out", gives = "params(ffn, layer=0)", say = "The extra parameters count as well." }},
]
"""


def paper(seed=0, kind="quantity", text=OWN):
    return variant(parse_set(text.format(kind=kind), "own"), seed)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_drawn_names_stand_for_their_values_in_the_answer_and_in_the_spec(seed):
    (item,) = paper(seed).items
    d, f, extra = (item.drawn[name] for name in ("d", "f", "extra"))
    assert item.key.value == 2 * d * f + f + d + extra
    assert item.key.judge(f"{item.key.value:,}").verdict == "right"
    found = item.key.judge(str(2 * d * f + f + extra))
    assert (found.codes[0], found.credit) == ("one_bias", 0)
    assert found.mistakes[0].sentence == "Both matrices have a bias."
    without = item.key.judge(str(2 * d * f + f + d))
    assert without.codes == (() if extra == 0 else ("extra_left_out",))
    assert without.right is (extra == 0)


def test_a_mistake_that_gives_the_right_answer_is_not_an_option():
    for seed in range(30):
        (item,) = paper(seed, "choice").items
        codes = [option.code for option in item.options]
        assert "one_bias" in codes
        assert ("extra_left_out" in codes) is (item.drawn["extra"] > 0)


def test_own_codes_appear_in_the_key_and_in_the_statistics():
    quiz = parse_set(OWN.format(kind="quantity"), "own")
    key = str(key_page(variant(quiz, 0)))
    assert "one bias [one_bias]" in key
    (item,) = variant(quiz, 0).items
    graded = grade(quiz, Submissions({"Ada": {"ffn": str(item.key.value - item.drawn["d"])}}))
    (common,) = graded.mistakes
    assert (common.mistake, common.name, common.sentence) == ("one_bias", "one bias", "Both matrices have a bias.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("params(ffn, layer=0) + extra\"\np", "params(fnn)\"\np", "own, question ffn: answer = 'params(fnn)': "),
        ("gives = \"params(ffn, layer=0)\"", "gives = \"prams(ffn)\"", "mistakes, extra_left_out, gives = 'prams(ffn)': "),
        ("+ extra\"\np", "+ extar\"\np", "question ffn: answer = 'params(ffn, layer=0) + extar': 'extar' is not a quantity"),
        ("answer = \"params(ffn, layer=0) + extra\"", "answer = \"params(t=5, 6)\"", "ask for one value"),
        ("d_ff={{f}}", "d_ff={{f}} heads=3", "question ffn: "),
    ],
)  # fmt: skip
def test_an_error_names_the_question_and_the_field(old, new, message):
    assert old in OWN
    with pytest.raises(GlassformerError) as error:
        paper(text=OWN.replace(old, new))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (', say = "Both matrices have a bias."', "", "Declare your own with a sentence"),
        ('code = "one_bias"', 'code = "no_scaling"', "'no_scaling' is the code of a known mistake"),
        ('code = "extra_left_out"', 'code = "one_bias"', "'one_bias' has two different sentences"),
        ('gives = "params(ffn, layer=0)", ', "", "a mistake is a code, or {code ="),
        ('code = "one_bias"', 'code = "one bias"', "mistakes, code = one bias: expected a short name"),
    ],
)
def test_an_incomplete_own_mistake_is_refused(old, new, message):
    text = OWN.replace(old, new).format(kind="quantity")
    with pytest.raises(GlassformerError) as error:
        parse_set(text, "own")
    assert message in str(error.value)
    assert str(error.value).startswith("own.toml, question 1 (ffn): ")


ONE = """
title = "One"
[[question]]
id = "ask"
kind = "quantity"
text = "?"
spec = "layer d_model=64 heads=4 t=32"
answer = "{answer}"
{more}
"""


@pytest.mark.parametrize(
    ("answer", "text", "right", "half", "wrong"),
    [
        ("flops(ffn, layer=0)", "2,097,152", ["2097152", "2^21"], ["2.1M"], ["4194304", "2.2M"]),
        ("bytes(weights, dtype=fp16)", None, [], [], ["1"]),
        ("params(ffn) / params", "0.662", ["0.662", "66.2%", "0.6622"], ["0.7", "0.66"], ["0.5", "0.337"]),
        ("sqrt(d_k)", "4", ["4", "sqrt(16)", "√16", "4.0"], [], ["8", "16"]),
        ("shape(concat)", "1 × 32 × 64", ["[1, 32, 64]"], ["32 x 64"], ["64 x 32 x 1"]),
        ("softmax([0, 1])", "[0.269, 0.731]", ["0.269 0.731", "[0.2689, 0.7311]"], ["[0.27, 0.73]"], ["[0.5, 0.5]"]),
    ],
)
def test_numbers_shares_shapes_and_vectors_are_requested(answer, text, right, half, wrong):
    (item,) = variant(parse_set(ONE.format(answer=answer, more=""), "one"), 0).items
    assert text is None or item.key.text == text
    assert item.key.solution()
    assert item.key.judge(item.key.text).verdict == "right"
    assert [item.key.judge(claim).verdict for claim in right] == ["right"] * len(right)
    assert [item.key.judge(claim).verdict for claim in half] == ["convention"] * len(half)
    assert [item.key.judge(claim).verdict for claim in wrong] == ["wrong"] * len(wrong)


def test_a_question_without_a_model_is_arithmetic():
    text = ONE.format(answer="a * b + 1", more="parameters = { a = [3], b = [4] }").replace("spec = ", "because = ")
    (item,) = variant(parse_set(text, "one"), 0).items
    assert item.key.value == 13


def test_no_mistake_about_heads_is_named_if_the_question_has_none():
    one = ONE.replace("heads=4", "heads=1").format(answer="params(attention)", more="")
    silent = ONE.replace('"layer d_model=64 heads=4 t=32"', '"layer d_model=64 t=32"').format(answer="params(ffn)", more="")
    for text in (one, silent):
        (item,) = variant(parse_set(text, "one"), 0).items
        assert not {"heads_times_full_width", "one_head_vs_all_heads"} & {wrong.code for wrong in item.key.wrongs()}
    (many,) = variant(parse_set(ONE.format(answer="params(attention)", more=""), "one"), 0).items
    assert "heads_times_full_width" in {wrong.code for wrong in many.key.wrongs()}


def test_credit_for_another_convention_is_the_sets_choice():
    (item,) = variant(parse_set(ONE.format(answer="params", more="convention_credit = 0.25"), "one"), 0).items
    assert item.key.judge("50k").credit == Fraction(1, 4)


def test_a_coarsely_rounded_number_is_not_explained_by_chance_matches():
    (item,) = variant(parse_set(ONE.format(answer="params(attention)", more=""), "one"), 0).items
    wrong = next(wrong for wrong in item.key.wrongs() if wrong.code == "heads_times_full_width")
    fine, coarse = (f"{float(wrong.value):.{digits}e}" for digits in (4, 0))
    assert "heads_times_full_width" in item.key.judge(fine).codes
    assert item.key.judge(coarse).codes == ()
