"""A chain of equalities is judged on every side."""

import pytest

from glassformer.answers.judging import check
from glassformer.answers.judging.equal_sides import broken_link
from glassformer.program import build
from glassformer.spec.presets import preset
from glassformer.spec.reading import request_from_words

BERT = build(preset("bert-base"), t=128)

HOLD = [
    "7,087,872", "12d² + 13d = 7,087,872", "4·768² + 8·768² = 12·768² = 7,077,888 ≈ 7.1M", "d_k = d_model/h = 768/12 = 64",
    "85.05M + 23.84M + 0.59M = 109.48M", "85.05 + 23.84 + 0.59 = 109.48 million", "109482240 × 4 = 437,928,960 = 417.6 MiB",
    "23837184/109482240 = 21.8%", "23.8/109.5 ≈ 22%", "1/√64 = 0.125", "N = HW/P² = 224·224/16² = 196", "d = 768/12 = 64",
    "about 110 million", "W_Q is big = 3",
]  # fmt: skip
BREAK = [
    "12 × 768² = 7,087,872", "4·768² + 8·768² = 7,077,888 = 7,087,872", "768/12 = 60 = 64", "12d^2 = 7,087,872",
    "2,362,368 + 4,722,432 = 7,087,872", "3 × 4 ≈ 14",
]  # fmt: skip


@pytest.mark.parametrize("claim", HOLD)
def test_a_chain_that_holds(claim):
    assert broken_link(claim, BERT) == ""


@pytest.mark.parametrize("claim", BREAK)
def test_a_chain_that_breaks(claim):
    assert "are not the same number" in broken_link(claim, BERT)


def test_a_right_last_side_does_not_save_a_wrong_equality():
    found = check("params of one layer", request_from_words(("bert-base",)), "12 × 768² = 7,087,872")
    assert found.verdict == "wrong"
    assert found.notes == (
        "the last side may stand, but 12 × 768^2 is 7,077,888, not 7,087,872: the two sides are not the same number",
    )


def test_a_mistake_in_a_chain_is_still_named():
    found = check("params", request_from_words("attention d_model=512 heads=8".split()), "8 × 3 × 512 × 512 = 6,291,456")
    assert [finding.codes for finding in found.findings] == [("heads_times_full_width",)]
