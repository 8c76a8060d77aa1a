"""Reading a set: errors are one line and name the question."""

import pytest
from quiz_texts import CARRYING

from glassformer.answers.quiz import load_set, parse_set, shipped
from glassformer.errors import GlassformerError


def test_five_sets_ship():
    assert shipped() == ["encoder-parts", "parameters", "self-attention", "shapes", "worked-head"]


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_set_says_what_it_is_about(name):
    quiz = load_set(name)
    assert quiz.name == name
    assert quiz.title
    assert quiz.about
    assert len(quiz.questions) >= 10


def test_a_set_is_read_from_a_file_and_from_a_made_folder(tmp_path):
    (tmp_path / "set.toml").write_text(CARRYING, encoding="utf-8")
    assert load_set(tmp_path / "set.toml").title == "Carried forward"
    assert load_set(tmp_path).questions == load_set(tmp_path / "set.toml").questions


QUESTION = """
title = "t"
[[question]]
id = "a"
kind = "quantity"
text = "{d}"
spec = "layer d_model={d}"
answer = "params"
parameters = {d = [64]}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "t"', "titel = 1", "'titel' is not a field: use name, title, about, and [[question]] and [[mistake]] tables."),
        ('kind = "quantity"', 'kind = "numric"', "question 1 (a): unknown kind = numric: use one of quantity, choice, "),
        ('id = "a"', 'id = "a b"', "id = a b: expected a short name"),
        ("text =", "txt =", "'txt' is not a field. Did you mean 'text'?"),
        ('text = "{d}"', 'text = "{e}"', "'{e}' is not a parameter."),
        ("{d = [64]}", "{d = 64}", "parameter d = 64: expected a list of choices"),
        ('answer = "params"', "", "answer is missing"),
        (
            'answer = "params"',
            'answer = "params"\nmistakes = ["no_scalling"]',
            "mistakes: unknown mistake 'no_scalling'. Did you mean 'no_scaling'?",
        ),
        ('answer = "params"', 'answer = "params"\ndepends_on = ["b"]', "depends_on 'b' is not an earlier question."),
        ('answer = "params"', 'answer = "params"\nsame_as = "b"', "same_as = 'b' is not an earlier question"),
        ('answer = "params"', 'answer = "params"\nmarks = -1', "marks = -1: expected a number from 0 to 1,000."),
        ('answer = "params"', 'answer = "params"\nproof = "ordr"', "proof 'ordr' is not an experiment. Did you mean 'order'?"),
        ('answer = "params"', 'answer = "params"\nwhere = "d ?? 2 = 4"', "is not understood"),
        ('answer = "params"', 'answers = ["a"]\nanswer = "params"', "a question needs a text and one subject"),
        ("[[question]]", "[question]", "expected 1 to 200 [[question]] tables."),
    ],
)  # fmt: skip
def test_a_mistake_in_a_set_is_one_line(old, new, message):
    with pytest.raises(GlassformerError) as error:
        parse_set(QUESTION.replace(old, new), "mine")
    assert message in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_right_set_passes():
    assert parse_set(QUESTION, "mine").questions[0].parameters == {"d": [64]}


@pytest.mark.parametrize("name", ["parametrs", "no/such/file.toml", "\x00", "a" * 5000])
def test_a_set_that_is_not_there(name):
    with pytest.raises(GlassformerError, match="no set '"):
        load_set(name)


def test_a_set_cannot_read_files(tmp_path):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    quiz = parse_set(QUESTION.replace("layer d_model={d}", f"{tmp_path}/config.json").replace('"{d}"', '"x"'), "mine")
    from glassformer.answers.quiz import variant

    with pytest.raises(GlassformerError, match="the spec of a question must start with the name of a preset"):
        variant(quiz, 0)
