"""A checked document is shown with its marks, and nothing in it comes alive."""

import json

import pytest
from solution_texts import COUNTED_TWICE, CUT_OUT

from glassformer.answers.documents import check_text
from glassformer.show import present

TEXT = """# Mine

3 × 4 = 12
768 × 8 = 6,145
6,145 + 1 = 6,146
5! = 120
2 + 2 = 5 <script>alert(1)</script> `x` | **y** \x1b[31m
"""


@pytest.fixture(scope="module")
def checked():
    return check_text(TEXT, name="<b>mine</b>.md", kind="md")


def test_the_text_has_a_mark_for_each_line_and_says_what_is_wrong(checked):
    text = present(checked).text()
    lines = text.splitlines()
    found = [next(line for line in lines if line.startswith(f"{number} ")).split()[1] for number in range(3, 8)]
    assert found == ["✓", "✗", "→", "?", "✗"]
    assert "768 × 8 is 6,144, not 6,145." in text
    assert "corrected, it is 6,145" in " ".join(text.split())
    assert checked.summary() in text
    assert str(checked) == text


def test_nothing_foreign_comes_alive(checked):
    view = present(checked)
    assert "\x1b" not in view.text()
    for page in (view.html(), view.markdown()):
        assert "<script" not in page
        assert "<b>mine" not in page
    assert checked._repr_html_() == view.html()


def test_the_json_has_places_and_verdicts(checked):
    document = json.loads(json.dumps(checked.to_dict()))
    assert document["counts"] == {"right": 1, "wrong": 2, "carried": 1, "unclear": 1}
    assert document["findings"][1]["place"] == "line 4"
    assert document["findings"][2]["sources"] == [4]


FOREIGN = """# <script>alert(1)</script> | `x` \x1b[31m

3 × 4 = 13 <img src=x onerror=alert(2)>

The shape of <b>tokens</b> is [1, 5, 768]. $X is 6 x 7$ & \\input{/etc/passwd}

```glassformer
spec: <script>alert(3)</script>
params = <script>alert(4)</script>
```
"""


def test_marks_stand_beside_the_lines():
    lines = present(check_text("3 × 4 = 12\n3 × 4 = 13\nnothing\n")).text().splitlines()
    assert lines[2:6] == ["1 ✓ 3 × 4 = 12", "2 ✗ 3 × 4 = 13", "      ✗ 3 × 4 is 12, not 13.", "3   nothing"]
    assert lines[-1] == "1 right, 1 wrong, 0 carried forward, 0 not understood."


def test_carried_errors_and_totals_are_shown():
    text = present(check_text(COUNTED_TWICE)).text()
    assert " → - one layer" in text
    assert "corrected, it is 87,737,856." in " ".join(text.split())
    assert "[heads_times_full_width]" in text


def test_a_note_is_neither_right_nor_wrong():
    text = present(check_text(CUT_OUT)).text()
    assert "10 ! - V (Time)" in text
    assert "! The values used" in text


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_nothing_foreign_is_a_tag(form):
    page = getattr(present(check_text(FOREIGN)), form)()
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page


def test_latex_has_no_foreign_commands():
    assert r"\input" not in present(check_text(FOREIGN)).latex()


def test_the_terminal_gets_no_control_characters():
    assert "\x1b" not in present(check_text(FOREIGN)).text()


def test_of_a_long_document_only_the_marked_lines_are_shown():
    text = present(check_text("nothing\n" * 1_000 + "3 × 4 = 13\n")).text()
    assert text.count("nothing") == 0
    assert "1001 ✗ 3 × 4 = 13" in text


def test_a_notebook_is_marked_by_cell_and_line():
    notebook = '{"cells": [{"cell_type": "markdown", "source": "a"}, {"cell_type": "markdown", "source": "b\\n3 × 4 = 13"}]}'
    assert "2:2 ✗ 3 × 4 = 13" in present(check_text(notebook, kind="ipynb")).text()
