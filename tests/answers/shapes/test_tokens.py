"""Tokens: plain text, code and LaTeX come out the same."""

import pytest

from glassformer.answers.shapes.tokens import tokens
from glassformer.spec import GlassformerError


def short(text):
    return [
        "_".join([token.text, *token.indexes]) if token.kind == "name" else token.kind
        for token in tokens(text)
        if token.kind != "end"
    ]


@pytest.mark.parametrize("text", ["W_Q", "W^Q", "W_{Q}", r"W^{\text{Q}}", r"\mathbf{W}_Q", r"\mathbf W_{Q}", r"W_\mathrm{Q}"])
def test_one_name_has_many_spellings(text):
    assert short(text) == ["W_Q"]


@pytest.mark.parametrize(
    "text",
    ["K^T", "K.T", "K'", "Kᵀ", r"K^\top", "K^{T}", r"K^{\top}", r"K^\mathsf{T}", "K.mT", "K.t()", "K.transpose(-2, -1)", "K^⊤"],
)
def test_one_transpose_has_many_spellings(text):
    assert short(text.replace("'", "^T")) == ["K", "transpose"]


@pytest.mark.parametrize("sign", ["*", "@", "·", r"\cdot", "×", r"\times"])
def test_one_product_has_many_spellings(sign):
    assert short(f"Q {sign} K") == ["Q", "*", "K"]


@pytest.mark.parametrize("sign", [".*", "⊙", "∘", r"\odot"])
def test_entry_by_entry_has_many_spellings(sign):
    assert short(f"Q {sign} K") == ["Q", "⊙", "K"]


@pytest.mark.parametrize("text", ["d_k^{-1/2}", "d_k**-0.5", r"d_k^{-\frac{1}{2}}", "d_k^(-1/2)"])
def test_one_exponent_has_many_spellings(text):
    name, power, _ = tokens(text)
    assert (name.text, name.indexes, power.kind, float(power.value or 0)) == ("d", ("k",), "power", -0.5)


def test_latex_is_read_through_its_ornaments():
    text = r"$$\begin{aligned} \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)\,V \end{aligned}$$"
    words = ["softmax", "(", "frac", "{", "QK", "transpose", "}", "{", "sqrt", "{", "d_k", "}", "}", ")", "V"]
    assert short(text) == ["break", *words, "break"]


def test_code_is_read_through_its_prefixes():
    assert short("torch.softmax(q, dim=-1)") == ["softmax", "(", "q", ",", "dim", "=", "-", "number", ")"]


def test_a_transpose_before_an_index_belongs_after_it():
    assert short("K^T_h Q_h") == ["K_h", "transpose", "Q_h"]


def test_greek_letters_are_names_by_themselves():
    assert short(r"γ⊙x + \beta") == ["gamma", "⊙", "x", "+", "beta"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(Q K", "the bracket '(' is never closed (at character 1: '(Q K')."),
        ("Q)", "the bracket ')' was never opened (at character 2: ')')."),
        ("[Q)", "the bracket '[' at character 1 is closed by ')' (at character 3: ')')."),
        ("Q # K", "a sign that no formula has (at character 3: '# K')."),
        ("Q_", "an index is missing after '_' (at character 2: '_')."),
        ("(Q)^x", "an exponent that is neither a transpose nor a number (at character 4: '^x')."),
        ("Q^{" + "a" * 300, "an index or exponent that is never closed"),
        ("1" * 50, "a number with more than 20 digits"),
        ("X_a_b_c_d_e_f_g_h", "a name with more than 6 indexes"),
        ("Q " * 3_000, "the formula has more than 2,000 symbols"),
        ("Q" * 30_000, "the formula has more than 20,000 characters"),
        (r"\begin{bmatrix} Q \end{bmatrix}", "an environment that is not read here"),
        ("\\", "a backslash that begins no command"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text, message):
    with pytest.raises(GlassformerError) as error:
        tokens(text)
    assert message in str(error.value)
