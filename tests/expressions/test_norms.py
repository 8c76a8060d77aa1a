"""LayerNorm of a list in a worked solution: right, or with the mistake that gives those numbers."""

import pytest

from glassformer.answers.documents import check_text


def judged(text):
    return [(finding.verdict, finding.codes) for finding in check_text(text).findings]


@pytest.mark.parametrize(
    "text",
    [
        "LayerNorm([1, 2, 3]) = [-1.2247, 0, 1.2247]",
        "LayerNorm([1, 2, 3, 4]) = [-1.3416, -0.4472, 0.4472, 1.3416]",
        "LayerNorm([1, 2, 3, 4]) ≈ [-1.34, -0.45, 0.45, 1.34]",
        "RMSNorm([3, 4]) = [0.8485, 1.1314]",
        "variance([1, 2, 3]) = 0.6667",
    ],
)
def test_norms_are_evaluated(text):
    assert judged(text) == [("right", ())]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("LayerNorm([1, 2, 3, 4]) = [-1.1619, -0.3873, 0.3873, 1.1619]", ("layernorm_variance",)),
        ("LayerNorm([1, 2, 3, 4]) = [-1.2, -0.4, 0.4, 1.2]", ("layernorm_variance",)),
        ("LayerNorm([1, 2, 3]) = [-1, 0, 1]", ("layernorm_variance", "layernorm_half_done")),
        ("LayerNorm([2, 4, 9]) = [-3, -1, 4]", ("layernorm_half_done",)),
        ("softmax([1, 2, 3]) = [0.1667, 0.3333, 0.5]", ("exp_forgotten",)),
    ],
)
def test_the_mistake_is_named(text, codes):
    assert judged(text) == [("wrong", codes)]


@pytest.mark.parametrize("text", ["LayerNorm([2, 2, 2]) = [0, 0, 0]", "LayerNorm(x + y) = [1, 2]"])
def test_norms_that_cannot_be_evaluated_are_not_called_wrong(text):
    assert all(verdict != "wrong" for verdict, _ in judged(text))
