"""Expressions in many notations, and their exact values."""

from fractions import Fraction

import pytest

from glassformer.errors import GlassformerError
from glassformer.expressions import Array, NotUnderstoodError, Real, evaluate, exactly


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"$40,000 \times 768$", 30_720_000),
        (r"$3(6 \times 64) \times 4 + (6 \times 120) \times 2$", 6_048),
        (r"768 \text{ (hidden size)} \times 5 \text{ (classes)}", 3_840),
        ("31,114,752 (embeddings) + 187,556,672 (encoder)", 218_671_424),
        ("8 heads × 64 dims/head", 512),
        ("2^10 - 2**3", 1_016),
        ("2^3^2", 512),
        ("-2^2", -4),
        (r"\frac{3}{4} + \frac12", Fraction(5, 4)),
        ("½ + ¼", Fraction(3, 4)),
        ("25% of 400", 100),
        ("7 // 2 + ⌊7/2⌋ + ceil(7/2)", 10),
        ("[0, 1] * [1, 1]", 1),
        ("[[1,2],[3,4]] @ [1, 1] · [1, 1]", 10),
        (r"\begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 3 \\ 4 \end{bmatrix}", 11),
        ("max(0, 1) + min(2, 3) + mean([1, 2, 3]) + sum([1, 2])", 8),
        ("log2(8) + log_{10} 100 + sqrt(16) + √9", 12),
        ("var([1, 2, 3])", Fraction(2, 3)),
        ("dot([1, 2], [3, 4])", 11),
        ("110 million × 4", 440_000_000),
    ],
)
def test_exact_values(text, value):
    assert evaluate(text) == exactly(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\exp(1 / \sqrt{2}) / (\exp(1 / \sqrt{2}) + \exp(-1 / \sqrt{2}))", 0.8044296825069569),
        ("e^{-0.5} + exp(0)", 1.6065306597126334),
        ("ln 2", 0.6931471805599453),
        ("2π", 6.283185307179586),
        ("tanh(0.5) + sigmoid(0) + tan(1)", 2.5195248819),
        ("cos(2)", -0.4161468365471424),
    ],
)
def test_values_between_two_rationals(text, value):
    found = evaluate(text)
    assert isinstance(found, Real)
    assert float(found.middle) == pytest.approx(value, rel=1e-8)


def test_softmax_of_a_list():
    found = evaluate("softmax([1/√2, -1/√2])")
    assert isinstance(found, Array)
    assert [round(float(cell.middle), 4) for cell in found.cells] == [0.8044, 0.1956]


def test_a_weighted_sum_of_vectors():
    found = evaluate("0.6225 * [1, 1] + 0.3775 * [-1, -1]")
    assert isinstance(found, Array)
    assert {cell.low for cell in found.cells} == {Fraction(245, 1000)}


def test_names_get_their_values_from_outside():
    assert evaluate("h × d_k", names={"h": exactly(8), "d_k": exactly(64)}) == exactly(512)
    with pytest.raises(NotUnderstoodError, match="the value of 'h' is unknown"):
        evaluate("h × 64")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9**9**9**9", r"exponent 387420489 is too large \(limit 64\)"),
        ("(" * 60 + "1" + ")" * 60, "nested more than 50 deep"),
        ("-" * 1_000 + "1", "nested more than 50 deep"),
        ("1+" * 2_000 + "1", "more than 2,000 characters"),
        ("9" * 300, "more than 200 digits"),
        ("((99^64)^64)^64", "more than 1,000 digits"),
        ("exp(exp(exp(10)))", "too large"),
        ("1/0", "division by zero"),
        ("sqrt(-1)", "root of a negative"),
        ("[1,2] + [1,2,3]", "do not fit together"),
        ("", "it ends too early"),
        ("3 +", "it ends too early"),
        ("3 $ 4", "unexpected '4'"),
        ("__import__('os')", "the value of 'import' is unknown"),
        ("[].__class__", "brackets are empty"),
        ("softmax(1)", "softmax needs a list of numbers"),
    ],
)
def test_oversized_or_invalid_input_is_a_one_line_error(text, reason):
    with pytest.raises(GlassformerError, match=reason) as refused:
        evaluate(text)
    assert "\n" not in str(refused.value)
