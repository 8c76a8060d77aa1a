"""The report of a graded class."""

import csv
import io
import re

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.submissions import Submissions
from glassformer.show import present
from glassformer.show.quiz.report import inert

QUIZ = parse_set(CARRYING, "carrying")
HOSTILE = {
    '=HYPERLINK("http://x")': {"layer": "=cmd|' /C calc'!A0", "all": "+1", "scores": "-1", "output": "@SUM(1)"},
    "<script>alert(1)</script>": {"layer": "<img src=x onerror=alert(1)>", "all": "a|b", "scores": "x" * 5000},
    "| pipe | [x](javascript:alert(1))": {"layer": "**b** $\\input{x}$"},
}


@pytest.fixture
def report():
    return present(grade(QUIZ, Submissions(HOSTILE, ["a <note>"])))


def test_no_cell_of_the_csv_is_a_formula(report):
    rows = list(csv.reader(io.StringIO(report.csv())))
    assert rows[0][:4] == ["student", "question", "answer", "verdict"]
    assert len(rows) == 1 + 3 * len(QUIZ.questions)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    assert rows[1][2].startswith("'=cmd")


@pytest.mark.parametrize(
    ("cell", "safe"), [("=1", "'=1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\t=1", "'\t=1"), ("1=1", "1=1"), ("", "")]
)
def test_dangerous_cells_are_prefixed(cell, safe):
    assert inert(cell) == safe


def test_html_and_markdown_stay_text(report):
    for unsafe in ("<script", "<img", "<note>"):
        assert unsafe not in report.html()
    text = report.markdown()
    assert "\\<script\\>" in text
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") - line.count("\\|") in {4, 5, 7, 10, 11}


def test_the_text_is_complete():
    answers = {"Ada": {"layer": str(4 * 64 * 64 + 2 * 64 * 100 - 64 * 64), "pick": "that"}}
    text = present(grade(QUIZ, Submissions(answers))).text()
    assert "Carried forward, seed 0: 1 students, mean 0.00" in text
    assert "no_output_projection" in text
    assert "wrong: W_O left out" in text
