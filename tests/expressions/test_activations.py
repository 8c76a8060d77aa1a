"""erf, GELU and SiLU agree with floating point, and GELU contains both of its definitions."""

import math

import pytest

from glassformer.answers.documents import check_text
from glassformer.expressions import evaluate


@pytest.mark.parametrize("x", [-9, -6, -2.3, -1, 0.001, 0.5, 1, 3, 7.5, 30])
def test_activations_agree_with_floating_point(x):
    erf, gelu, silu = (evaluate(f"{name}({x})") for name in ("erf", "gelu", "silu"))
    assert float(erf.middle) == pytest.approx(math.erf(x), abs=1e-15)
    assert float(silu.middle) == pytest.approx(x / (1 + math.exp(-x)), rel=1e-12)
    exact = 0.5 * x * (1 + math.erf(x / math.sqrt(2)))
    tanh = 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert sorted((exact, tanh)) == pytest.approx([float(gelu.low), float(gelu.high)], abs=1e-12)


def test_erf_of_zero_is_exact():
    assert evaluate("erf(0)").exact


@pytest.mark.parametrize(
    "text", ["GELU(1) = 0.8413", "gelu(1) ≈ 0.8412", "GELU(-1) ≈ -0.159", "0.5 · (1 + erf(1/√2)) = 0.8413", "SiLU(1) = 0.731"]
)
def test_a_right_activation_is_confirmed(text):
    found = check_text(text)
    assert (found.wrong, len(found.of("right"))) == (0, 1)


@pytest.mark.parametrize(("text", "due"), [("GELU(1) = 0.6731", "0.8413"), ("GELU(2) = 1.7616", "1.9546")])
def test_a_wrong_activation_is_corrected(text, due):
    assert [finding.due[:5] for finding in check_text(text).of("wrong")] == [due[:5]]


@pytest.mark.parametrize(
    ("text", "right"),
    [("2 × 1,048,576 bytes = 2 MiB", 1), ("2 × 1,048,576 bytes = 2.1 MiB", 0), ("2 × 1,048,576 bytes = 2.1 MB", 1)],
)
def test_a_mebibyte_has_one_size(text, right):
    assert len(check_text(text).of("right")) == right
