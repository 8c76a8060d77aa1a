"""Gradebooks that Canvas and Moodle import."""

import csv
import io

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set, variant
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.roster import Roster, Student
from glassformer.answers.quiz.submissions import Submissions
from glassformer.errors import GlassformerError
from glassformer.show.quiz.gradebooks import gradebook_csv

QUIZ = parse_set(CARRYING, "carrying")


def graded(*students):
    right = {item.id: item.key.text for item in variant(QUIZ, 0, students[0].name).items}
    return grade(QUIZ, Submissions({students[0].name: right}), roster=Roster(students))


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_canvas_wants_five_columns_and_the_points_possible():
    fields = {"ID": "11", "SIS User ID": "u11", "SIS Login ID": "ada@x.org", "Section": "A"}
    found = graded(Student("Lovelace, Ada", fields=fields), Student("Bo", fields={"id": "12"}))
    assert rows(gradebook_csv(found, "canvas")) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Carried forward"],
        ["    Points Possible", "", "", "", "", "9"],
        ["Lovelace, Ada", "11", "u11", "ada@x.org", "A", "9"],
        ["Bo", "12", "", "", "", "0"],
    ]


def test_moodle_gets_the_identities_that_are_known():
    found = graded(Student("Ada", fields={"Email address": "ada@x.org"}), Student("Bo", fields={"email": "bo@x.org"}))
    assert rows(gradebook_csv(found, "moodle")) == [
        ["Email address", "Carried forward"],
        ["ada@x.org", "9"],
        ["bo@x.org", "0"],
    ]


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_a_student_whom_the_system_cannot_find_is_named(system):
    with pytest.raises(GlassformerError, match=rf"--gradebook {system}: Bo cannot be imported\. .* as --students"):
        gradebook_csv(graded(Student("Ada", fields={"id number": "1", "id": "1"}), Student("Bo")), system)


def test_no_cell_is_a_formula():
    found = graded(Student("=cmd()", fields={"ID": "=1+1", "Section": "@x", "SIS Login ID": "+a"}))
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows(gradebook_csv(found, "canvas")) for cell in row)
