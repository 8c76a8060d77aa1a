"""Traps: a formula that fits but means something else is named, and the correction is a formula that fits."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.algebra.formulas import TRAPS, check_formula

DOCS = Path(__file__).parents[3] / "docs" / "algebra-of-shapes.md"
ROWS = "Q = X W_Q; K = X W_K; V = X W_V; "
COLUMNS = "Q = W_Q X; K = W_K X; V = W_V X; "
SQUARE = dict.fromkeys("X Y W_Q W_K W_V W_O".split(), "4x4")
HEADS = {"Q_h": "d/S x m", "K_h": "d/S x m", "V_h": "d/S x m"}
CROSS = {"Q": "5x64", "K": "7x64", "V": "7x32"}

# A code, a formula with this trap, its shapes, and the correction (None: no correction).
EXAMPLES: list[tuple[str, str, dict[str, str], str | None]] = [
    (
        "feature_by_feature",
        COLUMNS + "softmax(Q K^T / sqrt(d_k)) V",
        {"X": "768x6", **dict.fromkeys(("W_Q", "W_K", "W_V"), "768x768")},
        "V softmax(K^T Q / sqrt(d_k))",
    ),
    ("feature_by_feature", COLUMNS + "softmax(Q K^T / sqrt(d_k)) V", SQUARE, "V softmax(K^T Q / sqrt(d_k))"),
    ("feature_by_feature", ROWS + "V softmax(K^T Q / sqrt(d_k))", SQUARE, "softmax(Q K^T / sqrt(d_k)) V"),
    (
        "feature_by_feature",
        COLUMNS + "A = softmax_rows(Q K^T); A V",
        SQUARE,
        "A = softmax(K^T Q, columns); V A",
    ),
    (
        "feature_by_feature",
        "softmax(Q K^T / sqrt(d_k)) V",
        {**dict.fromkeys("QKV", "768x6"), "d_k": "768", "d_v": "768"},
        "V softmax(K^T Q / sqrt(d_k))",
    ),
    ("feature_by_feature", "softmax(Q K^T / sqrt(d)) V", dict.fromkeys("QKV", "d x t"), "V softmax(K^T Q / sqrt(d))"),
    ("row_column_convention", "Q = W_Q X; K = X W_K; V = W_V X; V softmax(K^T Q)", SQUARE, "K = W_K X"),
    ("row_column_convention", "Q = X W_Q; K = W_K X; V = W_V X; V softmax(K^T Q)", SQUARE, "Q = W_Q X"),
    ("row_column_convention", "W_Q X", {"X": "t x d", "W_Q": "d x d", "t": "4", "d": "4"}, "X W_Q"),
    ("row_column_convention", "Q = W_Q X; K = X W_K; Q + K", SQUARE, None),
    ("key_not_transposed", ROWS + "softmax(Q K / sqrt(d_k)) V", SQUARE, "softmax(Q K^T / sqrt(d_k)) V"),
    ("key_not_transposed", COLUMNS + "V softmax(K Q / sqrt(d_k))", SQUARE, "V softmax(K^T Q / sqrt(d_k))"),
    ("queries_keys_transposed", ROWS + "softmax(K Q^T / sqrt(d_k)) V", SQUARE, "softmax(Q K^T / sqrt(d_k)) V"),
    ("queries_keys_transposed", COLUMNS + "V softmax(Q^T K / sqrt(d_k))", SQUARE, "V softmax(K^T Q / sqrt(d_k))"),
    ("queries_keys_transposed", "A = softmax(Q K^T / sqrt(d_k)); A V", CROSS | {"A": "7x5"}, None),
    ("queries_keys_transposed", "A = softmax(Q K^T / sqrt(d_k)); A V", CROSS | {"A": "5x5"}, None),
    ("value_wrong_side", COLUMNS + "softmax(K^T Q / sqrt(d_k)) V", SQUARE, "V softmax(K^T Q / sqrt(d_k))"),
    ("value_wrong_side", ROWS + "V softmax(Q K^T / sqrt(d_k))", SQUARE, "softmax(Q K^T / sqrt(d_k)) V"),
    ("value_wrong_side", ROWS + "V^T softmax(Q K^T / sqrt(d_k))", SQUARE, "softmax(Q K^T / sqrt(d_k)) V"),
    ("values_from_queries", "Q = W_Q X; K = W_K Y; V = W_V X; V softmax(K^T Q)", SQUARE, "V = W_V Y"),
    ("softmax_wrong_axis", ROWS + "softmax(Q K^T / sqrt(d_k), axis=0) V", SQUARE, "softmax(Q K^T / sqrt(d_k), rows) V"),
    ("softmax_wrong_axis", COLUMNS + "V softmax_rows(K^T Q)", SQUARE, "V softmax(K^T Q, columns)"),
    ("softmax_wrong_axis", "F.softmax(Q @ K.T, dim=0) @ V", CROSS, "softmax(Q K^T, rows) V"),
    ("sqrt_dmodel", "V_h softmax(K_h^T Q_h / sqrt(d))", HEADS, "V_h softmax(K_h^T Q_h / sqrt(d / S))"),
    ("sqrt_dmodel", "V_h softmax(K_h^T Q_h / sqrt(d))", HEADS | {"d": "512", "S": "8"}, "V_h softmax(K_h^T Q_h / sqrt(d / S))"),
    (
        "sqrt_dmodel",
        ROWS + "softmax(Q K^T / sqrt(d_model)) V",
        {"X": "6x512", **dict.fromkeys(("W_Q", "W_K", "W_V"), "512x64")},
        "softmax(Q K^T / sqrt(d_k)) V",
    ),
    (
        "sqrt_dmodel",
        ROWS + "softmax(Q K^T / sqrt(d)) V",
        {"X": "t x d", **dict.fromkeys(("W_Q", "W_K", "W_V"), "d x d_k")},
        "softmax(Q K^T / sqrt(d_k)) V",
    ),
    (
        "dv_dk_mixed",
        "softmax(Q K^T / sqrt(d_v)) V",
        {"Q": "t x d_k", "K": "t x d_k", "V": "t x d_v", "d_k": "10", "d_v": "4"},
        "softmax(Q K^T / sqrt(d_k)) V",
    ),
    ("dv_dk_mixed", "head = softmax(Q K^T / sqrt(d_k)) V", CROSS | {"head": "5x64"}, None),
    ("output_wrong_side", ROWS + "Z = softmax(Q K^T) V; W_O Z", SQUARE, "Z W_O"),
    ("output_wrong_side", COLUMNS + "Z = V softmax(K^T Q); Z W_O", SQUARE, "W_O Z"),
    ("heads_along_tokens", ROWS + "H = softmax(Q K^T) V; [H; H]", SQUARE, "[H, H]"),
    ("heads_along_tokens", COLUMNS + "H = V softmax(K^T Q); [H, H]", SQUARE, "[H; H]"),
    ("added_transposed", ROWS + "Z = V^T softmax(K Q^T); X + Z", SQUARE, "X + Z^T"),
    ("claimed_shape", "Q = W_Q X", {"X": "768x6", "W_Q": "64x768", "Q": "768x6"}, None),
    ("claimed_shape", r"Q = W_Q X \in \mathbb{R}^{6 \times 64}", {"X": "768x6", "W_Q": "64x768"}, None),
]


@pytest.mark.parametrize(("code", "text", "shapes", "meant"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_trap_is_named_and_the_correction_is_shown(code, text, shapes, meant):
    answer = check_formula(text, shapes)
    assert answer.verdict == "trap"
    assert [trap.code for trap in answer.traps] == [code]
    assert answer.meant_text == meant


@pytest.mark.parametrize(("code", "text", "shapes", "meant"), [row for row in EXAMPLES if row[3]], ids=lambda _: "")
def test_the_correction_fits(code, text, shapes, meant):
    *before, _ = re.split(r"; (?![^\[]*\])", text)
    names = {part.split(" = ")[0] for part in meant.split("; ") if " = " in part}
    kept = [line for line in before if line.split(" = ")[0] not in names]
    assert check_formula("; ".join([*kept, meant]), shapes).verdict == "fits"


def test_every_trap_has_an_example_and_a_section_in_the_docs():
    assert {row[0] for row in EXAMPLES} == set(TRAPS)
    assert re.findall(r"^### `(\w+)`", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE) == list(TRAPS)


sizes = st.integers(1, 9)


@given(sizes, sizes, sizes, st.booleans())
def test_the_formula_of_the_other_convention_is_always_detected(d, t, k, columns):
    weight = f"{k}x{d}" if columns else f"{d}x{k}"
    shapes = {"X": f"{d}x{t}" if columns else f"{t}x{d}", **dict.fromkeys(("W_Q", "W_K", "W_V"), weight)}
    rows, cols = "softmax(Q K^T / sqrt(d_k)) V", "V softmax(K^T Q / sqrt(d_k))"
    answer = check_formula((COLUMNS + rows) if columns else (ROWS + cols), shapes)
    assert [trap.code for trap in answer.traps] == ["feature_by_feature"]
    assert answer.meant_text == (cols if columns else rows)


@given(sizes, st.booleans())
def test_if_sizes_are_equal_the_side_of_the_weights_decides(size, columns):
    shapes = dict.fromkeys(("X", "W_Q", "W_K", "W_V"), f"{size}x{size}")
    answer = check_formula((COLUMNS + "softmax(Q K^T) V") if columns else (ROWS + "V softmax(K^T Q)"), shapes)
    assert answer.traps[0].code == "feature_by_feature"
    assert f"both sizes are {size}, so they do not tell" in answer.traps[0].sentence


@given(sizes, sizes, sizes, sizes)
def test_softmax_over_the_queries_is_detected_for_any_sizes(t, s, k, v):
    shapes = {"Q": f"{t}x{k}", "K": f"{s}x{k}", "V": f"{s}x{v}"}
    assert [trap.code for trap in check_formula("softmax(Q K^T, columns) V", shapes).traps] == ["softmax_wrong_axis"]
    assert check_formula("softmax(Q K^T, rows) V", shapes).verdict == "fits"


@given(st.integers(2, 8), sizes, sizes)
def test_the_root_of_the_width_of_all_heads_is_detected(heads, k, t):
    width = f"{k}x{t}"
    shapes = {"Q": width, "K": width, "V": width, "heads": str(heads), "d": str(heads * k)}
    assert [trap.code for trap in check_formula("V softmax(K^T Q / sqrt(d))", shapes).traps] == ["sqrt_dmodel"]


def test_the_sentence_says_what_attends_to_what():
    shapes = {"X": "768x6", **dict.fromkeys(("W_Q", "W_K", "W_V"), "768x768")}
    answer = check_formula(COLUMNS + "softmax(Q K^T / sqrt(d_k)) V", shapes)
    assert answer.traps[0].sentence == (
        "Q K^T is 768 × 768, features × features: features attend to features, not tokens to tokens. W_Q X sums over the rows "
        "of X, its features, so the columns of X are the tokens. So K^T Q was meant, 6 × 6."
    )


def test_two_traps_are_both_named_and_both_corrected():
    text = "A_h = softmax(K_h^T Q_h / sqrt(d)); W_O [V_1 A_1, …, V_S A_S]^T"
    answer = check_formula(text, HEADS | {"W_O": "d x d"})
    assert [trap.code for trap in answer.traps] == ["sqrt_dmodel", "heads_along_tokens"]


JOINED = {"V_i": "256 x m", "A_i": "m x m", "W_o": "512 x 512"}


def test_a_symbol_of_another_axis_is_not_bound_to_a_claimed_number():
    rows = "Z = [V_1 A_1; V_2 A_2]^T W_o"
    exchanged = check_formula(rows, JOINED | {"Z": "512 x m"})
    assert [trap.code for trap in exchanged.traps] == ["claimed_shape"]
    assert exchanged.traps[0].sentence == (
        "Z is m × 512, not 512 × m: rows and columns are swapped; the two shapes are equal only if m = 512."
    )
    assert check_formula(rows, JOINED | {"Z": "m x m"}).traps[0].sentence == (
        "Z is m × 512, not m × m, and nothing else implies 512 = m."
    )
    assert check_formula(rows, JOINED | {"Z": "m x 512"}).verdict == "fits"
    assert check_formula("Z = W_o [V_1 A_1; V_2 A_2]", JOINED | {"Z": "512 x m"}).verdict == "fits"


def test_two_axes_of_equal_size_are_reported_as_a_coincidence():
    answer = check_formula("Z = [V_1 A_1; V_2 A_2]^T W_o", JOINED | {"Z": "512 x m", "m": "512"})
    assert answer.verdict == "fits"
    assert answer.remarks[-1] == "Z is m × 512; this equals 512 × m only because m = 512."


def test_a_number_claimed_for_a_symbol_is_reported():
    answer = check_formula("Q = W_Q X", {"X": "d x t", "W_Q": "64 x d", "Q": "64 x 6"})
    assert (answer.verdict, answer.remarks) == ("fits", ("It fits if t = 6.",))


def test_without_evidence_no_trap_is_reported():
    answer = check_formula("softmax(Q K^T / sqrt(d_k)) V", dict.fromkeys("QKV", "768x6"))
    assert answer.verdict == "fits"
    assert "The formula treats the rows of Q as tokens: 768 tokens with 6 features." in answer.remarks[-1]
