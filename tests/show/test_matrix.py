"""A small matrix as text, LaTeX and HTML."""

import numpy as np
import pytest

from glassformer.program import Axis, Tensor
from glassformer.show.fragment import pieces
from glassformer.show.matrix import Grid, flowing, grids, latex_number


def test_brackets_span_the_rows_and_names_are_outside():
    assert Grid([["1", "−10"], ["2", "3"]], ["a", "bc"], ["x", "y"]).lines() == ["    x    y", "a  ⎡1  −10⎤", "bc ⎣2    3⎦"]
    assert Grid([["1", "2"]]).lines() == ["[1  2]"]
    assert [line[0] for line in Grid([["1"]] * 3).lines()] == ["⎡", "⎢", "⎣"]


def test_a_tensor_with_heads_is_one_matrix_for_each():
    tensor = Tensor("q", (Axis("head", 2), Axis("t", 1), Axis("d_k", 3)))
    pages = grids(tensor, np.arange(6).reshape(2, 1, 3), str, {"t": ("flying",)}, "rows")
    assert [(page.sheet, page.rows, tuple(page.row_names)) for page in pages] == [
        ("head 1", [["0", "1", "2"]], ("flying",)),
        ("head 2", [["3", "4", "5"]], ("flying",)),
    ]
    assert grids(tensor, np.arange(6).reshape(2, 1, 3), str, {}, "columns")[1].rows == [["3"], ["4"], ["5"]]


def test_a_matrix_in_html_has_brackets_and_not_the_bars_of_a_determinant():
    page = Grid([["1"], ["2"]], ["a", "b"], ["x"]).html()
    opens, closes = '<td class="opens" rowspan="2"></td>', '<td class="closes" rowspan="2"></td>'
    assert f"<tr><th>a</th>{opens}<td>1</td>{closes}</tr><tr><th>b</th><td>2</td></tr>" in page
    assert '<tr><th></th><th class="edge"></th><th>x</th></tr>' in page
    assert "td.opens{border-right:0}" in pieces()
    assert "td.closes{border-left:0}" in pieces()


def test_one_number_is_not_a_matrix():
    (page,) = grids(Tensor("mean", ()), np.array(2.5), str, {}, "rows")
    assert (page.single, page.latex(), page.html()) == ("2.5", "2.5", "2.5")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("−0.5", "-0.5"),
        ("1.2e−05", r"1.2 \cdot 10^{-5}"),
        ("√2", r"\sqrt{2}"),
        ("√(2/π)", r"\sqrt{2/\pi }"),
        ("−∞ (masked)", r"-\infty  \text{(masked)}"),
        ("2 / 10000^(2/4)", "2 / 10000^{2/4}"),
    ],
)
def test_a_number_for_the_screen_becomes_one_for_the_page(text, latex):
    assert latex_number(text) == latex


def test_names_are_escaped():
    assert "<b>" not in Grid([["1"]], ["<b>"], ["<i>"]).html()


def test_blocks_stand_beside_each_other_as_far_as_the_page_is_wide():
    assert flowing([["a", "b"], ["c"]], indent=1) == [" a    c", " b"]
    wide = flowing([["x" * 60], ["y" * 60]], indent=0)
    assert [line.rstrip() for line in wide] == ["x" * 60, "y" * 60]
