"""Any input gives an answer or a one-line error, quickly."""

import random
import time

import pytest

from glassformer.algebra.formulas import check_formula
from glassformer.errors import GlassformerError
from glassformer.show import present

SHAPES = [
    *"X=4x6 W_Q=4x4 W_K=4x4 W_V=4x4 Q=4x6 K=4x6 V=4x6 d_k=4 b=4 heads=2 head_i=4x6 A=4x4".split(),
    "W_O=d x d",
]
PIECES = [
    *"Q K V X W_Q W_K W_V W_O softmax( ( ) [ ] { } ^T ' .T ^ _ + - / * @ · ⊙ ; , = sqrt( d_k 768 0 3.5 b A M x heads".split(),
    *"concat( Attention( MultiHead( mean( axis=0 rows ... … head_1 head_h f(x)= ∈ R^{3x4} $ & ** **0.5".split(),
    *"^{-1/2} QK^T W_QX _{ ^{".split(),
    *'<script> é 𝔸 ٣ ² ᵀ ⊤ # % ! " |'.split(),
    *r"\frac{ }{ \sqrt \text{ \left( \right) \in\mathbb{R}^{ \begin{align} \ \\ \hat \hat{Q}".split(),
    "\n",
    " ",
    "\x00",
]
START = "Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V W_O"


def nonsense(chance):
    """Random pieces, random characters, or a valid formula with a few characters changed."""
    kind = chance.random()
    if kind < 0.5:
        return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 30)))
    if kind < 0.6:
        return "".join(chr(chance.randint(1, 0x2FFF)) for _ in range(chance.randint(1, 60)))
    letters = list(START)
    for _ in range(chance.randint(1, 4)):
        letters[chance.randrange(len(letters))] = chance.choice(PIECES)
    return "".join(letters)


def expression(chance, depth):
    """A valid expression, which may or may not fit."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(["Q", "K", "V", "X", "W_Q", "W_O", "b", "A", "head_1"])
    first, second = expression(chance, depth - 1), expression(chance, depth - 1)
    forms = [
        "{0} {1}",
        "({0})^T",
        "({0} + {1})",
        "softmax({0})",
        "softmax({0}, rows)",
        "({0}) / sqrt(d_k)",
        "[{0}, {1}]",
        "[{0}; {1}]",
    ]
    forms += [
        "{0} {1}^T",
        "relu({0})",
        "softmax({0} {1}^T) {1}",
        "Attention({0}, {1}, {1})",
        "concat({0}, {1})",
        "V softmax({0} {1})",
    ]
    return chance.choice(forms).format(first, second)


def answered(text, shapes):
    """Return whether it was answered; anything but an answer or a one-line error fails the test."""
    start = time.process_time()
    try:
        answer = check_formula(text, shapes)
        view = present(answer)
        assert all([view.text(), view.markdown(), view.latex(), view.html(), answer.to_dict()])
        assert "<script" not in view.html()
    except GlassformerError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 600
        return False
    finally:
        assert time.process_time() - start < 5, text
    return True


def test_five_thousand_random_formulas():
    chance = random.Random(20)
    found = [answered(nonsense(chance), chance.sample(SHAPES, chance.randint(0, len(SHAPES)))) for _ in range(5_000)]
    assert any(found)
    assert not all(found)


def test_random_expressions_are_answered_and_read_back():
    chance = random.Random(21)
    for _ in range(300):
        text = expression(chance, 4)
        answer = check_formula(text, SHAPES)
        again = check_formula(answer.to_dict()["formula"], SHAPES)
        assert [row.text for row in again.rows] == [row.text for row in answer.rows], text
        if answer.meant and len(answer.statements) == 1:
            assert check_formula(answer.meant_text or "", SHAPES).verdict == "fits", text


@pytest.mark.parametrize(
    "text",
    [
        "X " * 500_000,
        "(" * 100_000,
        "[" * 1_000 + "X" + "]" * 1_000,
        "-" * 1_900 + "X",
        "X" + "^T" * 1_900,
        "X + " * 900 + "X",
        "softmax(" * 300 + "X" + ")" * 300,
        "X_" + "a" * 15_000,
        "".join(f"X{i}=" for i in range(300)) + "X",
        "X^9^9^9^9",
        "__import__('os').system('true')",
        "; ".join(f"Y_{i} = X X^T" for i in range(190)),
        "QKVXA" * 300,
        "Q" * 5_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_formula_is_answered_or_refused(text):
    answered(text, SHAPES)
