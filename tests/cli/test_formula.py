"""The command `glassformer algebra`."""

import json

import pytest
from command_line import glassformer

ATTENTION = "Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V"
SHAPES = ("X=768x6", "W_Q=768x768", "W_K=768x768", "W_V=768x768")


def algebra(*words, text=""):
    return glassformer("algebra", *words, text=text)


def document(*words):
    done = algebra(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_trap_in_the_course_question_is_found():
    answer = document(ATTENTION, *SHAPES)
    assert (answer["verdict"], answer["trap"], answer["total"]) == ("trap", "feature_by_feature", 5)
    assert answer["meant"] == "V softmax(K^T Q / sqrt(d_k))"
    shapes = {row["expression"]: row["shape"] for row in answer["rows"]}
    assert shapes["Q = W_Q X"] == [768, 6]
    assert shapes["softmax(Q K^T / sqrt(d_k))"] == [768, 768]
    assert answer["left_out"] == []


def test_the_correction_has_a_tokens_by_tokens_matrix():
    answer = document(ATTENTION.replace("softmax(Q K^T / sqrt(d_k)) V", "V softmax(K^T Q / sqrt(d_k))"), *SHAPES)
    assert (answer["verdict"], answer["trap"], answer["meant"]) == ("fits", None, None)
    row = next(row for row in answer["rows"] if row["expression"] == "softmax(K^T Q / sqrt(d_k))")
    assert (row["shape"], row["axes"]) == ([6, 6], "keys × queries")


def test_a_failure_names_the_product_and_later_rows_are_left_out():
    answer = document("S = Q K; S V", "Q=6x64", "K=6x64", "V=6x64")
    assert answer["verdict"] == "fails"
    assert answer["failure"]["expression"] == "Q K"
    assert answer["failure"]["shapes"] == [[6, 64], [6, 64]]
    assert answer["failure"]["fits"][0] == {"expression": "Q K^T", "shape": [6, 6]}
    assert answer["left_out"] == ["S V"]


def test_symbols_are_written_as_words():
    answer = document("W_Q X", "X=d", "x", "t", "W_Q=d_k", "x", "d", "t=6")
    row = answer["rows"][-1]
    assert (row["shape"], row["formula"]) == (["d_k", 6], "d_k × t")


@pytest.mark.parametrize("form", ["--markdown", "--latex", "--html", ""])
def test_every_form(form):
    done = algebra(ATTENTION, *SHAPES, *([form] if form else []))
    assert (done.returncode, done.stderr) == (0, "")
    assert "feature_by_feature" in done.stdout.replace("\\_", "_")


def test_latex_output_has_expressions_in_math_mode():
    assert r"$\text{softmax}\left(\frac{Q K^{T}}{\sqrt{d_{k}}}\right)$" in algebra(ATTENTION, *SHAPES, "--latex").stdout


def test_a_formula_comes_from_standard_input():
    done = algebra("-", "X=2x3", text="X^T X\n")
    assert done.returncode == 0
    assert "3 × 3" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Q = W_Q X", "X=768x6"], "'W_Q' has no shape: add it, as in W_Q=768x6."),
        (["W_q X", "X=768x6", "W_Q=3x768"], "Did you mean 'W_Q'?"),
        (["(Q", "Q=2x2"], "the bracket '(' is never closed (at character 1"),
        (["Q", "Q=0x6"], "Q=0x6 is not allowed"),
        (["", "Q=2x2"], "the formula is empty"),
        (["Q"], "'Q' has no shape"),
        ([], "Missing argument"),
        (["<script>", "Q=2x2"], "this character cannot be used in a formula (at character 1: '<script>')."),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(words, message):
    done = algebra(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_megabyte_and_a_hundred_thousand_brackets_are_refused_in_one_line():
    for text in ("X " * 500_000, "(" * 100_000):
        done = algebra("-", "X=2x2", text=text)
        assert done.returncode == 2
        assert done.stderr == "glassformer: the formula has more than 20,000 characters: check it in parts.\n"


def test_the_help_has_examples():
    assert 'glassformer algebra "softmax(Q K^T / sqrt(d_k)) V" Q=5x64 K=7x64 V=7x32' in algebra("--help").stdout
