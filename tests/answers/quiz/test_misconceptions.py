"""The page about quizzes lists every field and every idea that can be wrong, and shows the set that it grades."""

import dataclasses
from pathlib import Path

import pytest

from glassformer.answers.quiz.misconceptions import IDEAS, check_codes
from glassformer.answers.quiz.template import Template
from glassformer.spec import GlassformerError

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "quiz.md").read_text(encoding="utf-8")


def test_the_page_lists_every_idea():
    for idea in IDEAS.values():
        assert f"| `{idea.code}` | {idea.name} | {idea.sentence} |" in PAGE


def test_the_page_lists_every_field():
    table = PAGE.split("| field | what it is |")[1]
    for field in dataclasses.fields(Template):
        assert f"`{field.name.replace('options', 'option')}`" in table, field.name


def test_the_page_shows_the_set_that_it_grades():
    assert (DOCS / "quiz-example.toml").read_text(encoding="utf-8") in PAGE


def test_an_unknown_code_is_refused():
    with pytest.raises(GlassformerError, match="Did you mean 'other_position'"):
        check_codes(["other_positon"])
