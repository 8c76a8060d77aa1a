"""Tables in every form; what is foreign stays text."""

from glassformer.show import Column, Table

HOSTILE = Table(
    "<script>", [Column("a|b"), Column("n", right=True)], [["<img onerror=x>", "1"], ["x_y & 5%", "22"]], ["a note & more"]
)


def test_text_is_aligned():
    table = Table("title", [Column("name"), Column("n", right=True)], [["a", "1"], ["bcd", "22"]])
    assert table.text() == "title\nname   n\n────  ──\na      1\nbcd   22"


def test_html_escapes_everything():
    assert "<script>" not in HOSTILE.html()
    assert "<img" not in HOSTILE.html()
    assert "&lt;img onerror=x&gt;" in HOSTILE.html()


def test_markdown_escapes_bars():
    assert "a\\|b" in HOSTILE.markdown()


def test_latex_escapes_its_signs():
    assert r"x\_y \& 5\%" in HOSTILE.latex()
