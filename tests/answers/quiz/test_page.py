"""The page about quizzes lists every field of a question, and shows the set that it grades."""

import dataclasses
import re
from pathlib import Path

from glassformer.answers.quiz import parse_set, variant
from glassformer.answers.quiz.template import Template

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "quiz.md").read_text(encoding="utf-8")


def test_the_page_lists_every_field():
    table = PAGE.split("| field | meaning |")[1]
    for field in dataclasses.fields(Template):
        assert f"`{field.name.replace('options', 'option')}`" in table, field.name


def test_the_page_shows_the_set_that_it_grades():
    assert (DOCS / "quiz-example.toml").read_text(encoding="utf-8") in PAGE


def test_every_expression_of_the_page_can_be_evaluated():
    rows = PAGE.split("| answer | question |\n|:---|:---|\n")[1].split("\n\n")[0].splitlines()
    answers = [answer for row in rows for answer in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert len(answers) > 8
    for answer in answers:
        question = f'[[question]]\nid = "a"\nkind = "quantity"\ntext = "?"\nspec = "bert-tiny t=8"\nanswer = "{answer}"\n'
        (item,) = variant(parse_set(question + "parameters = { dk = [4], t = [8] }\n", "page"), 0).items
        assert item.key.judge(item.key.text).verdict == "right", answer
