"""The grammar: what a formula means, tested by writing it back."""

import pytest

from glassformer.algebra.formulas import check_formula
from glassformer.algebra.formulas.formula import read_formula, statements
from glassformer.algebra.formulas.writing import statement_text
from glassformer.errors import GlassformerError

NAMES = "Q K V X x W W_Q W_K W_O W_1 b_1 A B C D d_k head_i Q_h K_h M".split()


def read(text, *, latex=False):
    return "; ".join(statement_text(statement, latex=latex) for statement in statements(read_formula(text)[0], NAMES))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("QK^T", "Q K^T"),
        ("XW_Q", "X W_Q"),
        ("W_QX", "W_Q X"),
        ("W^QX", "W_Q X"),
        ("W_1x + b_1", "W_1 x + b_1"),
        ("K_h^TQ_h", "K_h^T Q_h"),
        (r"\text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V", "softmax(Q K^T / sqrt(d_k)) V"),
        ("Vsoftmax(K^T Q)", "V softmax(K^T Q)"),
        ("A @ B * C · D", "A B C D"),
        ("A (B C)", "A (B C)"),
        ("A / d_k B", "(A / d_k) B"),
        ("A + B C - D", "A + B C - D"),
        ("-A", "-A"),
        ("--A", "A"),
        ("A - (B - C)", "A - (B - C)"),
        ("A .* B", "A ⊙ B"),
        ("(A B)'", "(A B)^T"),
        ("[A, B; C, D]", "[A, B; C, D]"),
        ("[A; B]", "[A; B]"),
        ("concat(A, B; axis=0)", "concat(A, B; axis=0)"),
        ("torch.cat([A, B], dim=-1)", "concat(A, B; axis=-1)"),
        ("Concat(head_1, ..., head_h) W^O", "concat(head_1, …, head_h) W_O"),
        ("softmax_rows(A)", "softmax(A, rows)"),
        ("softmax(A, dim=-1)", "softmax(A, axis=-1)"),
        ("softmax(A, over keys)", "softmax(A, keys)"),
        ("ReLU(A)", "ReLU(A)"),
        ("LN(A)", "LayerNorm(A)"),
        ("Q = A B, K = C D", "Q = A B; K = C D"),
        ("Q = A B = C", "Q = A B; C"),
        ("Attention(Q, K, V) = softmax(Q K^T) V", "Attention(Q, K, V) = softmax(Q K^T) V"),
        (r"Q = A \\ K = B", "Q = A; K = B"),
        ("X' = A X; X' B", "X' = A X; X' B"),
        ("W(A)", "W A"),
        ("1/√d_k A", "(1 / sqrt(d_k)) A"),
        ("d_k**-0.5 A", "d_k^(-1/2) A"),
        (r"\begin{bmatrix} A \\ B \end{bmatrix}", "[A; B]"),
        ("W^{(1)}", "W_1"),
        ("(A B)^T^T", "(A B)^T^T"),
    ],
)
def test_a_formula_is_written_back(text, written):
    assert read(text) == written
    assert read(written) == written


def test_latex_is_written_back():
    assert read("A_1 = softmax(Q K^T / sqrt(d_k)) V", latex=True) == (
        r"A_{1} = \text{softmax}\left(\frac{Q K^{T}}{\sqrt{d_{k}}}\right) V"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the formula is empty"),
        (" ; \n", "the formula is empty"),
        ("Q =", "expected an expression on both sides of '=' at character 4, found the end."),
        ("A +", "expected a matrix, a number or an opening bracket at character 4, found the end."),
        ("A / / B", "expected a matrix, a number or an opening bracket at character 5, found '/'."),
        ("3 = A", "expected a name left of '=' at character 1, found '3'."),
        ("A B = C", "expected '=' right after a name at character 3, found 'B'."),
        ("softmax()", "brackets are empty"),
        ("softmax(A, B)", "softmax takes one argument, found 2."),
        ("Attention(Q, K)", "Attention takes Q, K and V, found 2."),
        ("[]", "brackets are empty"),
        ("A B)", "the bracket ')' was never opened (at character 4: ')')."),
        ("X ∈ 5", "expected a space of matrices such as R^{768 × 6}"),
        ("(" * 60 + "A" + ")" * 60, "nested more than 50 deep"),
        ("A " * 500, "the formula is nested too deeply: at most 120 levels are allowed."),
        ("√" * 500 + "d_k", "nested more than 50 deep"),
        ("A;" * 500, "the formula has more than 200 statements"),
    ],
)
def test_an_error_gives_its_position(text, message):
    with pytest.raises(GlassformerError) as error:
        read(text)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["3 * 4 = 12", "3 * 4", "12 / 5; 7"])
def test_plain_arithmetic_is_referred_to_ask_and_check(text):
    with pytest.raises(GlassformerError) as error:
        check_formula(text)
    asked = text.partition("=")[0].strip()
    assert str(error.value) == (
        f"there is no matrix in '{text}': to compute its value, use glassformer ask \"{asked}\"; "
        f'to check a result, use glassformer check "{text}".'
    )


def test_the_order_of_statements_does_not_matter():
    shapes = {"X": "5x8", "W_Q": "8x4", "W_K": "8x4", "W_V": "8x4"}
    text = "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V; Q = X W_Q; K = X W_K; V = X W_V"
    assert check_formula(text, shapes)["Attention(Q, K, V)"] == (5, 4)
