"""Mistakes in tables, patches and convolutions: each exists only if the model has that part."""

import pytest

from glassformer.algebra.ledger import count
from glassformer.answers.mistakes.counting import RULES
from glassformer.answers.mistakes.pieces import Setting, pieces_of, total
from glassformer.configs.presets import preset


def totals(code: str, name: str) -> dict[str, int]:
    pieces = pieces_of(count(preset(name)))
    return {what: total(made) - total(pieces) for what, made in RULES[code](pieces, Setting(preset(name), 1, None))}


def test_the_offset_of_positions_is_two_rows_of_the_table() -> None:
    rows = 2 * 768
    assert set(totals("position_offset", "roberta-base").values()) == {rows, -rows}
    assert totals("position_offset", "bert-base") == {}


def test_a_factorised_table_taken_as_a_full_one_is_six_times_as_large() -> None:
    full = 768 - 128
    assert totals("factorised_embeddings", "albert-base")["the token table taken as d_model wide"] == 30_000 * full
    assert totals("factorised_embeddings", "bert-base") == {}


def test_a_convolution_without_its_kernel_is_a_linear_map() -> None:
    found = totals("kernel_left_out", "whisper-tiny")["the kernel left out of the convolutions"]
    assert found == -2 * (80 * 384 + 384 * 384)
    assert set(totals("kernel_left_out", "bert-base").values()) == {0}


@pytest.mark.parametrize("code", ["vit_tokens_or_patch", "head_width_assumed"])
def test_parts_that_a_model_lacks_are_not_miscounted(code: str) -> None:
    assert totals(code, "bert-base") == {}
