"""Graded again after a corrected key."""

import json

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import parse_set
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.regrading import read_report, regrade
from glassformer.answers.quiz.submissions import Submissions
from glassformer.errors import GlassformerError
from glassformer.show import present

LAYER = 4 * 64 * 64 + 2 * 64 * 100
WRONG_KEY = CARRYING.replace('answer = "params(layer=0, without=biases+norms)"', 'answer = "params(layer=0)"').replace(
    'depends_on = ["layer"]\ncarried = "L * layer"', ""
)
ANSWERS = {"Ada": {"layer": str(LAYER), "pick": "this"}, "Bo": {"layer": "12", "pick": "that"}}


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(grade(parse_set(WRONG_KEY, "mine"), Submissions(ANSWERS)).to_dict()), encoding="utf-8")
    return read_report(path)


def test_both_marks_are_shown_and_the_reason(old):
    found = regrade(grade(parse_set(CARRYING, "mine"), Submissions(ANSWERS)), old)
    (change,) = found.moved
    assert (change.student, change.now.judged.name, change.before.marks, change.now.marks) == ("Ada", "layer", 1, 2)
    assert change.why == f"the key was {LAYER + 4 * 64 + 100 + 64 + 4 * 64:,} and is now {LAYER:,}"
    text = present(found).text()
    assert "1 marks of 1 students changed" in text
    assert "1 → 2" in text
    assert found.to_dict()["again"]["changed"] == 1


def test_regrading_without_changes_changes_no_marks(tmp_path):
    same = grade(parse_set(CARRYING, "mine"), Submissions(ANSWERS))
    (tmp_path / "a.json").write_text(json.dumps(same.to_dict()), encoding="utf-8")
    found = regrade(same, read_report(tmp_path / "a.json"))
    assert found.moved == ()
    assert not any(change.why for change in found.changes)


def test_a_new_answer_and_a_new_student_are_distinguished_from_a_new_key(old):
    answers = {"Ada": {**ANSWERS["Ada"], "pick": "that"}, "Cy": {"pick": "this"}}
    found = regrade(grade(parse_set(CARRYING, "mine"), Submissions(answers)), old)
    reasons = {(change.student, change.now.judged.name): change.why for change in found.changes}
    assert reasons["Ada", "pick"] == "the answer changed; it was 'this'"
    assert reasons["Cy", "pick"] == "not in the earlier report"
    assert found.gone == ("Bo",)


@pytest.mark.parametrize("text", ["{}", '{"students": [1]}', '{"students": [{"student": "a", "answers": [{}]}]}'])
def test_an_invalid_report_is_refused(tmp_path, text):
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"--again old.json is not a report: .* 'quiz grade --json'"):
        read_report(tmp_path / "old.json")
