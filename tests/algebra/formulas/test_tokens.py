"""Tokens: plain text, code and LaTeX come out the same."""

import pytest

from glassformer.algebra.formulas import check_formula
from glassformer.algebra.formulas.formula import FormulaParser, read_formula
from glassformer.errors import GlassformerError
from glassformer.expressions.readings import Reading
from glassformer.expressions.tokens import tokens
from glassformer.expressions.tree import Name, Transposed


def short(text):
    return [token.text for token in tokens(text, formula=True) if token.kind != "edge"]


@pytest.mark.parametrize("text", ["W_Q", "W^Q", "W_{Q}", r"W^{\text{Q}}", r"\mathbf{W}_Q", r"\mathbf W_{Q}", r"W_\mathrm{Q}"])
def test_one_name_has_many_spellings(text):
    assert short(text) == ["W_Q"]


@pytest.mark.parametrize(
    "text",
    ["K^T", "K.T", "K⊤", r"K^\top", "K^{T}", r"K^{\top}", r"K^\mathsf{T}", "K.mT", "K.t()", "K.transpose(-2, -1)", "K^⊤", "Kᵀ"],
)
def test_one_transpose_has_many_spellings(text):
    ((body,),) = [line.bodies for line in read_formula(text)[0]]
    assert FormulaParser(body, Reading()).whole() == Transposed(Name("K"))


@pytest.mark.parametrize("sign", ["*", "@", "·", r"\cdot", "×", r"\times"])
def test_one_product_has_many_spellings(sign):
    assert check_formula(f"Q {sign} K", {"Q": "2x3", "K": "3x4"}).total == 1


@pytest.mark.parametrize("sign", [".*", "⊙", "∘", r"\odot"])
def test_the_element_wise_product_has_many_spellings(sign):
    assert short(f"Q {sign} K") == ["Q", "⊙", "K"]


@pytest.mark.parametrize("text", ["d_k^{-1/2}", "d_k**-0.5", r"d_k^{-\frac{1}{2}}", "d_k^(-1/2)"])
def test_one_exponent_has_many_spellings(text):
    assert check_formula(f"{text} Q", {"Q": "2x3"}).rows[-1].text == "d_k^(-1/2) Q"


def test_latex_formatting_commands_are_ignored():
    text = r"$$\begin{aligned} \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)\,V \end{aligned}$$"
    assert short(text) == ["softmax", "(", "frac", "{", "QK", "'", "}", "{", "sqrt", "{", "d_k", "}", "}", ")", "V"]


def test_prefixes_of_code_are_ignored():
    assert short("torch.softmax(q, dim=-1)") == ["softmax", "(", "q", ",", "dim", "=", "-", "1", ")"]


def test_a_transpose_before_an_index_belongs_after_it():
    assert short("K^T_h Q_h") == ["K_h", "'", "Q_h"]


def test_greek_letters_are_names_by_themselves():
    assert short(r"γ⊙x + \beta") == ["gamma", "⊙", "x", "+", "beta"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(Q K", "the bracket '(' is never closed (at character 1: '(Q K')."),
        ("Q)", "the bracket ')' was never opened (at character 2: ')')."),
        ("[Q)", "the bracket '[' at character 1 is closed by ')' (at character 3: ')')."),
        ("Q # K", "this character cannot be used in a formula (at character 3: '# K')."),
        ("Q_", "this character cannot be used in a formula (at character 2: '_')."),
        ("(Q)^x", "'x' is not a valid exponent: use T for a transpose, or a number."),
        ("Q^{" + "a" * 300, "the bracket '{' is never closed"),
        ("1" * 250, "a number of more than 200 digits is too long"),
        ("X_a_b_c_d_e_f_g_h", "a name with more than 6 indices"),
        ("Q " * 3_000, "the formula has more than 2,000 symbols"),
        ("Q" * 30_000, "the formula has more than 20,000 characters"),
        (r"\begin{cases} Q \end{cases}", "this character cannot be used in a formula (at character 1: '\\begin{cases} Q"),
        ("\\", "this character cannot be used in a formula (at character 1: '"),
    ],
)
def test_unreadable_text_is_reported_with_its_position(text, message):
    with pytest.raises(GlassformerError) as error:
        check_formula(text, {"Q": "2x2"})
    assert message in str(error.value)
