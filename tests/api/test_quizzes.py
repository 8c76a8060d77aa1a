"""`gf.make_quiz`, `gf.take_quiz`, `gf.take_exam` and `gf.grade_quiz`: a class from papers to marks."""

import io

import pytest

import glassformer as gf
from glassformer import GlassformerError
from glassformer.answers.quiz import load_set, variant


def right_answers(seed=0):
    return [item.key.text for item in variant(load_set("parameters"), seed).items]


def test_the_sets_that_ship_are_listed():
    assert {one.name for one in gf.quiz_sets()} >= {"parameters", "self-attention"}


def test_papers_are_made_and_answers_graded(tmp_path):
    made = gf.make_quiz("parameters", tmp_path / "papers", seed=7, students=4, variants=2, formats=["md", "html"])
    assert len(made.roster) == 4 and all((made.folder / name).is_file() for name in made.files)
    assert not any(name.endswith((".tex", ".xml")) for name in made.files)
    with pytest.raises(GlassformerError, match="already contains papers"):
        gf.make_quiz("parameters", tmp_path / "papers")
    (tmp_path / "answers.csv").write_text(f"student,question,answer\n{made.roster.names[0]},{made.quiz.questions[0].id},1\n")
    graded = gf.grade_quiz(tmp_path / "papers", tmp_path / "answers.csv")
    assert graded.wrong and graded.to_dict()["seed"] == 7


def test_a_quiz_is_taken_with_any_questioner(tmp_path):
    lines, out = iter([f"{answer}\n" for answer in right_answers()]), io.StringIO()
    found = gf.take_quiz("parameters", ask=lambda: next(lines, ""), out=out)
    assert found["score"] == found["of"] and "Score: " in out.getvalue()
    lines = iter([f"{answer}\n" for answer in right_answers()])
    sat = gf.take_exam("parameters", "Ada", tmp_path / "ada.csv", ask=lambda: next(lines, ""), out=io.StringIO())
    assert sat["score"] == sat["of"] and sat["file"] == str(tmp_path / "ada.csv")
    again = gf.grade_quiz("parameters", tmp_path / "ada.csv")
    assert not again.wrong
