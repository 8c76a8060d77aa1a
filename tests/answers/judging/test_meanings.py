"""A claim is read as people write numbers: in other countries, in words, as a formula, as a shape in letters."""

from fractions import Fraction

import pytest

from glassformer.answers.judging import check
from glassformer.answers.judging.meanings import letters, numbers_meant, shape_meant
from glassformer.program import build
from glassformer.spec import GlassformerError
from glassformer.spec.presets import preset
from glassformer.spec.reading import request_from_words

BERT = build(preset("bert-base"), t=10)

RIGHT = (
    r"""
109.482.240|109 482 240|109'482'240|109 482 240|$109{,}482{,}240$|109\,482\,240|10,94,82,240
109,48 Millionen|109,5 millions|1.09·10⁸|$1.09 \times 10^{8}$|0.11B|~110 M parameters|110 Mio.|ca. 109,5 Mio
roughly 110 million trainable parameters|one hundred and ten million|12 * 7087872 + 23837184 + 590592
85,054,464 + 23,837,184 + 590,592 = 109,482,240|L(12d² + 13d) + (V + 512 + 2)d + 2d + d² + d|≈ 1.1 × 10⁸|110,000,000|109500000
""".strip()
    .replace("\n", "|")
    .split("|")
)


@pytest.mark.parametrize("claim", RIGHT)
def test_one_number_in_many_hands(claim):
    assert check("params", request_from_words(("bert-base",)), claim).verdict == "right"


@pytest.mark.parametrize(
    ("text", "value", "room"),
    [
        ("3,84e3", 3840, 5),
        ("0,62", Fraction(62, 100), Fraction(5, 1000)),
        ("27.648", Fraction(27648, 1000), Fraction(5, 10000)),
        ("27,648", 27648, 0),
        ("sixty-four", 64, 0),
        ("seven million", 7_000_000, 500_000),
        ("768/12", 64, 0),
        ("12 x 1,774,464", 21_293_568, 0),
        ("4d²", 4 * 768**2, 0),
        ("nd", 7680, 0),
        ("h d_v", 768, 0),
        ("hd_v", 768, 0),
        ("(224/16)^2 + 1", 197, 0),
    ],
)
def test_the_likeliest_meaning_comes_first(text, value, room):
    found = numbers_meant(text, BERT)[0]
    assert (found.value, found.room) == (value, room)


@pytest.mark.parametrize(
    ("question", "spec", "claim", "verdict"),
    [
        ("params of head", "bert-base head=classify classes=1000", "768,000", "convention"),  # 769,000 without its biases
        ("params of head", "bert-base head=classify classes=1000", "770,000", "right"),  # to two digits
        ("params of head", "bert-base head=classify classes=1000", "780,000", "wrong"),
        ("params", "xlm-roberta-base", "270M", "wrong"),  # 278 million: near, and no mistake is made up for it
        ("params", "bert-base", "86,000,000", "convention"),
    ],
)
def test_zeros_at_the_end_may_be_rounding(question, spec, claim, verdict):
    found = check(question, request_from_words(spec.split()), claim)
    assert (found.verdict, found.findings) == (verdict, ())


def test_points_between_thousands_are_the_second_meaning_of_a_decimal():
    assert [number.value for number in numbers_meant("27.648", BERT)] == [Fraction(27648, 1000), 27648]


@pytest.mark.parametrize(
    "text", ["", "many", "12 apples", "H", "9**9**9**9", "1/0", "((", "__import__('os')", "d" * 500, "nan", "∞"]
)
def test_what_means_no_number_is_refused(text):
    with pytest.raises(GlassformerError, match="is not a number that can be judged"):
        numbers_meant(text, BERT)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("n × d_k", (10, 64)),
        ("(batch, heads, t, t)", (1, 12, 10, 10)),
        ("torch.Size([1, 12, 10, 10])", (1, 12, 10, 10)),
        (r"$10 \times 64$", (10, 64)),
        (r"\mathbb{R}^{10 \times 64}", (10, 64)),
        ("R^{n x d}", (10, 768)),
        ("hd_v × d_model", (768, 768)),
        ("n x n", (10, 10)),
        ("10 by 64", (10, 64)),
    ],
)
def test_shapes_in_letters(text, sizes):
    assert shape_meant(text, BERT).sizes == sizes


@pytest.mark.parametrize("text", ["", "a x b", "1.5 x 2", "1 x -2", "N x H", "x" * 500])
def test_what_means_no_shape_is_refused(text):
    with pytest.raises(GlassformerError, match="is not a shape"):
        shape_meant(text, BERT)


def test_letters_with_two_meanings_have_none():
    assert {"H", "N", "A"}.isdisjoint(letters(BERT))


@pytest.mark.parametrize(
    ("claim", "right"), [("262144", False), ("3145728", True), ("512x512", True), ("12·n²", True), ("n²", False)]
)
def test_a_shape_may_be_claimed_as_its_number_of_elements(claim, right):
    assert check("size of the attention matrix", request_from_words(("bert-base", "t=512")), claim).right == right


@pytest.mark.parametrize(("claim", "verdict"), [("768", "convention"), ("20 x 768", "convention"), ("767", "wrong")])
def test_a_dimension_may_be_the_features_alone(claim, verdict):
    assert check("output dimension of one encoder layer", request_from_words(("bert-base", "t=20")), claim).verdict == verdict


def test_about_half_is_within_a_tenth_of_a_half():
    asked = request_from_words(("bert-base",))
    verdicts = [check("share of params in ffn", asked, claim).verdict for claim in ("about half", "half", "about a third")]
    assert verdicts == ["right", "wrong", "wrong"]
