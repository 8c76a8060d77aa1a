"""The annotated solution: marks in the margin, remarks below, and nothing foreign that a page would run."""

import pytest
from solution_texts import COUNTED_TWICE, CUT_OUT

from glassformer.answers.solutions import check_text
from glassformer.show import present

HOSTILE = """# <script>alert(1)</script> | `x` \x1b[31m

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
    assert "line 23 becomes 87,737,856, not 218,671,424" in text
    assert "[heads_times_full_width]" in text


def test_a_note_is_neither_right_nor_wrong():
    assert "  ! line 10: The values used" in present(check_text(CUT_OUT)).text()


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_nothing_foreign_is_a_tag(form):
    page = getattr(present(check_text(HOSTILE)), form)()
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page


def test_latex_has_no_foreign_commands():
    assert r"\input" not in present(check_text(HOSTILE)).latex()


def test_the_terminal_gets_no_control_characters():
    assert "\x1b" not in present(check_text(HOSTILE)).text()


def test_of_a_long_document_only_the_marked_lines_are_shown():
    text = present(check_text("nothing\n" * 1_000 + "3 × 4 = 13\n")).text()
    assert text.count("nothing") == 0
    assert "1001 ✗ 3 × 4 = 13" in text


def test_a_notebook_is_marked_by_cell_and_line():
    notebook = '{"cells": [{"cell_type": "markdown", "source": "a"}, {"cell_type": "markdown", "source": "b\\n3 × 4 = 13"}]}'
    assert "2:2 ✗ 3 × 4 = 13" in present(check_text(notebook, kind="ipynb")).text()
