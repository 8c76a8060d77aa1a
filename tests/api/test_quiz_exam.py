"""An exam in the terminal: answers are saved immediately, a crash loses none, and there is no feedback before the end."""

import io
import json

import pytest
from command_line import glassformer as command
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set, variant
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.submissions import read_submissions
from glassformer.api.quiz_exam import AnswerFile, Exam
from glassformer.errors import GlassformerError

QUIZ = parse_set(CARRYING, "carrying")
PAPER = variant(QUIZ, 0)
RIGHT = [item.key.text for item in PAPER.items]


def sit(tmp_path, lines, *, minutes=None, clock=None, student="Ada"):
    """One sitting that ends with a crash where the lines end."""
    waiting, out = iter(lines), io.StringIO()
    file = AnswerFile(tmp_path / "ada.csv", student, "carrying, seed 0")
    times = iter(clock or [])
    exam = Exam(PAPER, file, out=out, minutes=minutes, ask=lambda: next(waiting, ""), clock=lambda: next(times, 10.0**9))
    exam.run()
    return exam, out.getvalue()


def test_the_answers_are_graded_without_feedback_before_the_end(tmp_path):
    exam, said = sit(tmp_path, [f"{line}\n" for line in ["12", *RIGHT[1:]]])
    asked, result = said.split("\n1. layer\n")
    assert "wrong" not in asked.lower()
    assert "hint" not in asked.lower()
    assert "Score: 7 of 9 (6 of 6 questions)" in result
    graded = grade(QUIZ, read_submissions(tmp_path / "ada.csv", QUIZ))
    assert [float(sheet.marks) for sheet in graded.sheets] == [7]
    assert graded.notes == ()
    assert exam.to_dict()["score"] == 7


@pytest.mark.parametrize("crash", range(6))
def test_a_crash_loses_no_answer(tmp_path, crash):
    _, first = sit(tmp_path, [f"{line}\n" for line in RIGHT[:crash]])
    assert "Score:" not in first
    with (tmp_path / "ada.csv").open("a", encoding="utf-8") as file:
        file.write("Ada,output,4")  # the row that was being written
    _, second = sit(tmp_path, [f"{line}\n" for line in RIGHT[crash:]])
    assert ("answers are already saved" in second) is (crash > 0)
    assert "Score: 9 of 9" in second


def test_skipped_questions_come_back_at_the_end(tmp_path):
    lines = ["skip", *RIGHT[1:], RIGHT[0]]
    assert "Score: 9 of 9" in sit(tmp_path, [f"{line}\n" for line in lines])[1]


def test_an_answer_after_the_time_limit_is_not_counted_and_a_restart_does_not_help(tmp_path):
    times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, *[700.0] * 40]
    _, said = sit(tmp_path, [f"{line}\n" for line in RIGHT], minutes=10, clock=times)
    assert "Time is up" in said
    kept = grade(QUIZ, read_submissions(tmp_path / "ada.csv", QUIZ)).sheets[0].marks
    assert 0 < kept < 9
    _, again = sit(tmp_path, [f"{line}\n" for line in RIGHT], minutes=10, clock=[700.0] * 40)
    assert "Time is up" in again
    assert grade(QUIZ, read_submissions(tmp_path / "ada.csv", QUIZ)).sheets[0].marks == kept


def test_the_file_of_another_student_is_not_changed(tmp_path):
    sit(tmp_path, ["12\n"])
    before = (tmp_path / "ada.csv").read_bytes()
    with pytest.raises(GlassformerError, match="belongs to another student or exam"):
        sit(tmp_path, ["13\n"], student="Bo")
    assert (tmp_path / "ada.csv").read_bytes() == before


def test_a_formula_is_saved_as_text_and_read_back(tmp_path):
    sit(tmp_path, ["=1+1\n", "-3\n"])
    assert "'=1+1" in (tmp_path / "ada.csv").read_text(encoding="utf-8")
    found = read_submissions(tmp_path / "ada.csv", QUIZ)
    assert found.answers["Ada"] == {"layer": "=1+1", "all": "-3"}


def test_the_commands_of_a_class_with_variants(tmp_path):
    (tmp_path / "class.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\nZoë,1,u1,zoe,A\nBo,2,u2,bo,A\nCy,3,u3,cy,A\n", encoding="utf-8"
    )
    (tmp_path / "carrying.toml").write_text(CARRYING, encoding="utf-8")

    def quiz(*words, text=""):
        return command("quiz", *words, text=text, cwd=tmp_path)

    made = quiz("make", "carrying.toml", "--students", "class.csv", "--variants", "2", "--out", "papers", "--format", "md")
    assert made.stdout == "Carried forward: 6 questions for 3 students in 2 variants, 7 files in papers\n"
    words = ("take", "papers", "--exam", "--student", "zoe", "--answers", "in/zoe.csv")
    assert "cannot be written" in quiz(*words).stderr
    (tmp_path / "in").mkdir()
    stopped = quiz(*words, text=f"{RIGHT[0]}\nquit\n")
    assert "Saved in in/zoe.csv" in stopped.stdout
    longer = quiz(*words, "--minutes", "90")
    assert "belongs to another student or exam" in longer.stderr
    done = quiz(*words, text="\n".join(RIGHT[1:5]) + "\nthis\n")
    assert "Score: 9 of 9" in done.stdout
    (tmp_path / "in" / "bo.csv").write_text("student,layer\nBO,29184\n", encoding="utf-8")
    report = quiz("grade", "papers", "in", "--json")
    marks = {sheet["student"]: sheet["marks"] for sheet in json.loads(report.stdout)["students"]}
    assert marks == {"Zoë": 9, "Bo": 2, "Cy": 0}
    (tmp_path / "old.json").write_text(report.stdout, encoding="utf-8")
    (tmp_path / "in" / "bo.csv").write_text("student,layer\nBo,1\n", encoding="utf-8")
    assert "the answer changed; it was '29184'" in quiz("grade", "papers", "in", "--again", "old.json").stdout
    book = quiz("grade", "papers", "in", "--gradebook", "canvas").stdout.splitlines()
    assert book[0] == "Student,ID,SIS User ID,SIS Login ID,Section,Carried forward"
    assert book[2] == "Zoë,1,u1,zoe,A,9"
    for wrong, message in (
        (("take", "papers", "--minutes", "5"), "are only for exams: add --exam."),
        (("take", "papers", "--exam", "--student", "Ed", "--answers", "x.csv"), "--student 'Ed' is not in the class."),
        (("take", "papers", "--exam"), "an exam needs --student NAME and --answers FILE.CSV"),
        (("grade", "papers", "in", "--gradebook", "moodle", "--again", "none.json"), "no such file: none.json"),
    ):
        refused = quiz(*wrong)
        assert refused.returncode == 2
        assert message in refused.stderr
