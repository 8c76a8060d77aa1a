"""A graded class: marks add up, mistakes are counted, nothing is invented."""

import json
from fractions import Fraction

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import load_set, parse_set, variant
from glassformer.answers.quiz.grading import grade
from glassformer.answers.quiz.roster import Roster
from glassformer.answers.quiz.submissions import Submissions

QUIZ = parse_set(CARRYING, "carrying")
LAYER = 4 * 64 * 64 + 2 * 64 * 100
FORGOT = LAYER - 64 * 64


@pytest.fixture
def graded():
    right = {item.id: item.key.text for item in variant(QUIZ, 0).items}
    answers = {
        "Ada": right,
        "Bo": {"layer": str(FORGOT), "all": str(6 * FORGOT), "scores": "[1, 2]"},
        "Cy": {"layer": str(FORGOT), "all": str(6 * LAYER), "pick": "that", "output": "?"},
        "Di": {},
        "Ed": {**right, "layer": "29.2k"},
    }
    return grade(QUIZ, Submissions(answers, ["a note."]))


def test_marks_are_credits_times_marks_and_add_up(graded):
    assert [float(sheet.marks) for sheet in graded.sheets] == [9, 3, 3, 0, 8]
    assert {sheet.of for sheet in graded.sheets} == {Fraction(9)}
    for sheet in graded.sheets:
        assert sheet.marks == sum(answer.credit * answer.of for answer in sheet.answers)


def test_carried_errors_are_distinguished_from_new_ones(graded):
    bo = {answer.judged.name: answer for answer in graded.sheets[1].answers}
    assert bo["layer"].codes == ("no_output_projection",)
    assert bo["all"].verdict == "carried"
    assert bo["all"].codes == ()


def test_the_most_common_mistakes_come_first(graded):
    assert [(common.mistake, common.count, common.students) for common in graded.mistakes] == [
        ("no_output_projection", 2, 2),
        ("no_scaling", 2, 2),
    ]
    assert graded.mistakes[1].questions == ("scores", "pick")


def test_the_statistics_of_a_question(graded):
    first = graded.questions[0]
    assert [first.outcomes[name] for name in ("answered", "right", "partly", "wrong", "missing")] == [4, 1, 1, 2, 1]
    assert first.share == pytest.approx((2 + 1) / 10)
    assert first.mistakes == {"no_output_projection": 2}
    assert graded.questions[1].outcomes["carried"] == 1
    assert -1 <= first.tells_apart <= 1


def test_the_summary(graded):
    found = graded.summary
    assert (found.students, found.of, found.median, found.lowest, found.highest) == (5, 9, 3, 0, 9)
    assert found.mean == pytest.approx(23 / 5)


def test_the_document_is_json_and_keeps_the_notes(graded):
    document = json.loads(json.dumps(graded.to_dict()))
    assert document["notes"] == ["a note."]
    assert document["students"][1]["answers"][0]["mistakes"] == ["no_output_projection"]
    assert graded.wrong == sum(
        answer["verdict"] not in ("right", "carried") for s in document["students"] for answer in s["answers"]
    )


def test_two_mistakes_at_once_are_found(graded):
    """W_Q, W_K, W_V of full width in every head, and one of the two feed-forward matrices."""
    both = 4 * 3 * 64 * 64 + 64 * 64 + 64 * 100
    found = grade(QUIZ, Submissions({"Ada": {"layer": str(both)}})).sheets[0].answers[0]
    assert found.verdict == "wrong"
    assert set(found.codes) <= {"heads_times_full_width", "ffn_one_or_twice"} or found.codes == ()


def test_students_are_judged_by_their_own_variants():
    quiz = load_set("parameters")
    names = ("Ada", "Bo")
    answers = {name: {item.id: item.key.text for item in variant(quiz, 7, name).items} for name in names}
    assert [sheet.marks for sheet in grade(quiz, Submissions(answers), seed=7, roster=Roster.of(*names)).sheets] == [
        quiz.marks,
        quiz.marks,
    ]
    swapped = {"Ada": answers["Bo"], "Bo": answers["Ada"]}
    assert all(sheet.marks < quiz.marks for sheet in grade(quiz, Submissions(swapped), seed=7, roster=Roster.of(*names)).sheets)


def test_a_student_without_answers_has_no_marks():
    found = grade(QUIZ, Submissions({}), roster=Roster.of("Ada"))
    assert [(sheet.student.name, sheet.marks) for sheet in found.sheets] == [("Ada", 0)]


def test_a_class_of_many_equal_wrong_answers_is_searched_once(monkeypatch):
    from glassformer.answers.quiz.quantity import Counted

    calls = []
    monkeypatch.setattr(Counted, "searched", lambda _, claim: calls.append(claim))
    grade(QUIZ, Submissions({f"s{n}": {"layer": "12347"} for n in range(300)}))
    assert calls == ["12347"]


def test_the_variant_in_the_answer_file_is_the_one_that_is_graded():
    quiz = load_set("parameters")
    roster = Roster.of("Ada", "Bo", "Cy").dealt(2, seed=7)
    letters = {student.name: student.variant for student in roster}
    other = {"A": "B", "B": "A"}[letters["Ada"]]
    answers = {"Ada": {item.id: item.key.text for item in variant(quiz, 7, f"variant {other}").items}}
    found = grade(quiz, Submissions(answers, [], {"Ada": other.lower(), "Bo": "Q"}), seed=7, roster=roster)
    assert found.sheets[0].marks == quiz.marks
    assert found.sheets[0].student.variant == other
    assert found.notes == (
        f"Ada: graded with variant {other}, as stated in the answers; assigned was {letters['Ada']}.",
        f"Bo: graded with variant {letters['Bo']}, since there is no variant 'Q'.",
    )


def test_a_class_list_does_not_change_the_numbers_of_a_common_paper():
    quiz = load_set("parameters")
    right = {item.id: item.key.text for item in variant(quiz, 7).items}
    same = grade(quiz, Submissions({"Ada": right}), seed=7, roster=Roster(Roster.of("Ada", "Bo").students, same=True))
    assert [sheet.marks for sheet in same.sheets] == [quiz.marks, 0]
