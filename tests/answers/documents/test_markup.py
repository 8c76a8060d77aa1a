"""Markup is replaced by spaces, and every character keeps its position."""

import pytest

from glassformer.answers.documents.markup import bullet_width, laid_aside


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("**Total:** 3 * 4", "Total: 3 * 4"),
        ("= **3,840**", "= 3,840"),
        ("2**10 and 2 ** 10", "2**10 and 2 ** 10"),
        ("3*4 + (5)*(6) + 2*(3)", "3*4 + (5)*(6) + 2*(3)"),
        ("see [this](http://x.org/?a=1) = 3", "see [this = 3"),
        ("http://x.org/?a=1&b=2 5 = 5", "5 = 5"),
        ("<img src='x' width=5> 3 = 3", "3 = 3"),
        ("3 < 4 = 4", "3 < 4 = 4"),
        ("3 &times; 4", "3 × 4"),
    ],
)
def test_markup_becomes_spaces(text, left):
    blanked = laid_aside(text, latex=False)
    assert len(blanked) == len(text)
    assert blanked.split() == left.split()


def test_latex_comments_and_options_become_spaces():
    assert laid_aside(r"3 = 3 % x = 4", latex=True).strip() == "3 = 3"
    assert "%" in laid_aside(r"25\% = 0.25", latex=True)
    assert "=" not in laid_aside(r"\includegraphics[width=0.5]{a}", latex=True)


@pytest.mark.parametrize("bullet", ["- ", "  * ", "12. ", "a) ", "> - ", "## ", "+ ", "// ", "❖ "])
def test_bullets_have_a_width(bullet):
    assert bullet_width(f"{bullet}3 + 4 = 7") == len(bullet)


def test_a_sign_without_a_space_is_not_a_bullet():
    assert bullet_width("-3 + 4 = 1") == 0
