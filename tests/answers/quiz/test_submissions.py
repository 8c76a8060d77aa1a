"""Answers from a CSV file, whoever wrote it."""

import time

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.submissions import MOST_ROWS, read_names, read_submissions
from glassformer.spec import GlassformerError

QUIZ = parse_set(CARRYING, "carrying")


def read(tmp_path, text, students=(), data=None):
    path = tmp_path / "answers.csv"
    path.write_bytes(data if data is not None else text.encode())
    return read_submissions(path, QUIZ, students)


def test_a_wide_file_has_a_column_a_question(tmp_path):
    found = read(tmp_path, "student,layer,all\nAda,1,2\nBo,,3\n")
    assert found.answers == {"Ada": {"layer": "1", "all": "2"}, "Bo": {"layer": "", "all": "3"}}
    assert found.notes == []


def test_a_long_file_has_a_row_an_answer(tmp_path):
    found = read(tmp_path, "Student,Question,Answer\nAda,layer,1\nAda,q2,2\nBo,3,x\n")
    assert found.answers == {"Ada": {"layer": "1", "all": "2"}, "Bo": {"scores": "x"}}


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_a_mark_at_the_start(tmp_path, separator):
    text = (
        "\ufeff"
        + separator.join(["Name", "Q1", "layer2", "question 2"])
        + "\r\n"
        + separator.join(["Ada", "27,648", "x", "5"])
        + "\r\n"
    )
    found = read(tmp_path, text)
    assert found.answers == {"Ada": {"layer": "27,648", "all": "5"}}
    assert found.notes == ["no question of this set, not graded: layer2."]


def test_strangers_and_unknown_questions_are_named_in_one_line_each(tmp_path):
    rows = "".join(f"stranger {number},1,2\n" for number in range(9))
    found = read(tmp_path, f"student,layer,extra\nADA  lovelace,1,2\n{rows}", students=("Ada Lovelace", "Bo"))
    assert list(found.answers) == ["Ada Lovelace"]
    listed = ", ".join(f"stranger {number}" for number in range(5))
    assert found.notes == [f"not in the class, not graded: {listed} and 4 more.", "no question of this set, not graded: extra."]


def test_of_several_answers_the_last_counts_and_it_is_said(tmp_path):
    found = read(tmp_path, "student,layer\nAda,1\nAda,2\nAda,\n")
    assert found.answers == {"Ada": {"layer": "2"}}
    assert found.notes == ["answered more than once, the last counts: 2."]


def test_hostile_cells_stay_text(tmp_path):
    cells = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "@SUM(A1)", "+1", "\u202e", "x" * 100_000]
    text = "student,question,answer\n" + "".join(f'"s{n}",layer,"{cell}"\n' for n, cell in enumerate(cells))
    found = read(tmp_path, text)
    assert [row["layer"][:20] for row in found.answers.values()] == [cell[:20] for cell in cells]
    assert max(len(row["layer"]) for row in found.answers.values()) < 10_000


def test_names_are_cut_and_cleaned(tmp_path):
    found = read(tmp_path, "student,layer\n" + "a" * 5000 + ",1\n\x1b[31mred\x07,1\n")
    first, second = found.answers
    assert len(first) == 81
    assert second == "?[31mred?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("layer,all\n1,2\n", "needs a column 'student'"),
        ("student,foo\nAda,1\n", "no column is a question of 'carrying': layer, all, scores"),
        ('student,layer\n"Ada,1\n' + "x" * 200_000, "is not CSV that can be read"),
        ("student,layer\n" + "a,1\n" * (MOST_ROWS + 5), "has more than 200,000 rows"),
        ("student,layer\n" + "".join(f"s{n},1\n" for n in range(5001)), "answers of more than 5,000 students"),
    ],
    ids=range(6),
)
def test_a_file_that_cannot_be_graded_is_one_line(tmp_path, text, message):
    with pytest.raises(GlassformerError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert len(str(error.value)) < 300


def test_a_million_rows_are_refused_in_a_moment(tmp_path):
    start = time.process_time()
    with pytest.raises(GlassformerError, match="rows"):
        read(tmp_path, "student,question,answer\n" + "Ada,layer,1\n" * 1_000_000)
    assert time.process_time() - start < 10


def test_bytes_that_are_no_text_are_one_line(tmp_path):
    with pytest.raises(GlassformerError, match="is not text: byte 0"):
        read(tmp_path, "", data=b"\xff\xfe\x00")


def test_a_class_list_is_read(tmp_path):
    (tmp_path / "class.txt").write_text("Ada Lovelace\n\n  Zoë  \n字\n", encoding="utf-8")
    assert read_names(tmp_path / "class.txt") == ("Ada Lovelace", "Zoë", "字")


@pytest.mark.parametrize(
    ("text", "message"), [("", "holds 0 names"), ("Ada\nBo\nAda\n", "names 'Ada' twice"), ("a\n" * 6000, "6,000 names")]
)
def test_a_class_list_that_is_none(tmp_path, text, message):
    (tmp_path / "class.txt").write_text(text, encoding="utf-8")
    with pytest.raises(GlassformerError, match=message):
        read_names(tmp_path / "class.txt")
