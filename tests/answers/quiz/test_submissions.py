"""Answers from CSV files of any origin."""

import time

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.roster import MOST_ROWS, Roster
from glassformer.answers.quiz.submissions import read_submissions
from glassformer.errors import GlassformerError

QUIZ = parse_set(CARRYING, "carrying")


def read(tmp_path, text, students=(), data=None):
    path = tmp_path / "answers.csv"
    path.write_bytes(data if data is not None else text.encode())
    return read_submissions(path, QUIZ, Roster.of(*students))


def test_a_wide_file_has_a_column_per_question(tmp_path):
    found = read(tmp_path, "student,layer,all\nAda,1,2\nBo,,3\n")
    assert found.answers == {"Ada": {"layer": "1", "all": "2"}, "Bo": {"layer": "", "all": "3"}}
    assert found.notes == []


def test_a_long_file_has_a_row_per_answer(tmp_path):
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
    assert found.notes == ["not a question of this set, not graded: layer2."]


def test_unknown_students_and_questions_are_each_listed_in_one_line(tmp_path):
    rows = "".join(f"stranger {number},1,2\n" for number in range(9))
    found = read(tmp_path, f"student,layer,extra\nADA  lovelace,1,2\n{rows}", students=("Ada Lovelace", "Bo"))
    assert list(found.answers) == ["Ada Lovelace"]
    listed = ", ".join(f"stranger {number}" for number in range(5))
    assert found.notes == [
        f"not in the class, not graded: {listed} and 4 more.",
        "not a question of this set, not graded: extra.",
    ]


def test_the_last_of_several_answers_counts_and_this_is_noted(tmp_path):
    found = read(tmp_path, "student,layer\nAda,1\nAda,2\nAda,\n")
    assert found.answers == {"Ada": {"layer": "2"}}
    assert found.notes == ["answered more than once, the last answer counts: Ada."]


def test_hostile_cells_stay_text(tmp_path):
    cells = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "@SUM(A1)", "+1", "\u202e", "x" * 100_000]
    text = "student,question,answer\n" + "".join(f'"s{n}",layer,"{cell}"\n' for n, cell in enumerate(cells))
    found = read(tmp_path, text)
    assert [row["layer"][:20] for row in found.answers.values()] == [cell[:20] for cell in cells]
    assert max(len(row["layer"]) for row in found.answers.values()) < 10_000


def test_names_are_shortened_and_cleaned(tmp_path):
    found = read(tmp_path, "student,layer\n" + "a" * 5000 + ",1\n\x1b[31mred\x07,1\n")
    first, second = found.answers
    assert len(first) == 81
    assert second == "?[31mred?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("layer,all\n1,2\n", "needs a column 'student'"),
        ("student,foo\nAda,1\n", "no column is a question of 'carrying': expected layer, all, scores"),
        ('student,layer\n"Ada,1\n' + "x" * 200_000, "is not a valid CSV file"),
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


def test_binary_data_is_a_one_line_error(tmp_path):
    with pytest.raises(GlassformerError, match="is not text: byte 0"):
        read(tmp_path, "", data=b"\xff\xfe\x00")


def test_names_match_regardless_of_accents_case_spaces_and_order(tmp_path):
    students = ("Zoë Müller", "Ørsted Łuk", "Ada Lovelace")
    found = read(tmp_path, 'student,layer\nzoe  MULLER,1\norsted luk,2\n"Lovelace, Ada",3\n', students=students)
    assert found.answers == {"Zoë Müller": {"layer": "1"}, "Ørsted Łuk": {"layer": "2"}, "Ada Lovelace": {"layer": "3"}}
    assert found.notes == []


def test_a_name_that_may_mean_two_students_is_listed_and_not_graded(tmp_path):
    found = read(tmp_path, "student,layer\nJosé,1\nJose,2\njose,3\n", students=("José", "Jose"))
    assert found.answers == {"José": {"layer": "1"}, "Jose": {"layer": "2"}}
    assert found.notes == ["ambiguous, not graded; write the name as in the class list: jose (José or Jose)."]


def test_without_a_class_list_similar_names_stay_separate_and_are_listed(tmp_path):
    found = read(tmp_path, "student,layer\nJosé,1\njose,2\n")
    assert list(found.answers) == ["José", "jose"]
    assert found.notes == [
        "graded as different students, although the names differ only in accents, case or order: José and jose."
    ]


def test_a_folder_is_graded_and_a_file_that_cannot_be_read_is_named(tmp_path):
    folder = tmp_path / "in"
    (folder / "bo").mkdir(parents=True)
    (folder / "ada.csv").write_text("student,layer\nAda,1\n", encoding="utf-8")
    (folder / "bo" / "answers.CSV").write_text("student,question,answer\nBo,layer,2\nada,layer,9\n", encoding="utf-8")
    (folder / "broken.csv").write_text("nothing\n", encoding="utf-8")
    (folder / "notes.txt").write_text("student,layer\nCy,1\n", encoding="utf-8")
    found = read_submissions(folder, QUIZ, Roster.of("Ada", "Bo"))
    assert found.answers == {"Ada": {"layer": "9"}, "Bo": {"layer": "2"}}
    assert found.notes[0] == "answered more than once, the last answer counts: Ada."
    assert found.notes[1].startswith("files that were not graded: broken.csv (broken.csv needs a column 'student'")


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(GlassformerError, match="contains 0 CSV files"):
        read_submissions(tmp_path, QUIZ)


def test_the_apostrophe_that_escapes_a_cell_is_not_part_of_the_answer(tmp_path):
    assert read(tmp_path, "student,layer\n'=Ada,'-3\n").answers == {"=Ada": {"layer": "-3"}}
