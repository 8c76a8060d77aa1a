"""A checked document is shown with its marks, and nothing in it comes alive."""

import json

import pytest

from glassformer.answers.documents import check_document
from glassformer.show import present

TEXT = """# Mine

3 × 4 = 12
768 × 8 = 6,145
6,145 + 1 = 6,146
5! = 120
2 + 2 = 5 <script>alert(1)</script> `x` | **y** \x1b[31m
"""


@pytest.fixture(scope="module")
def checked():
    return check_document(TEXT, name="<b>mine</b>.md", kind="md")


def test_the_text_has_a_mark_for_each_line_and_says_what_is_wrong(checked):
    text = present(checked).text()
    lines = text.splitlines()
    found = [next(line for line in lines if line.startswith(f"{number} ")).split()[1] for number in range(3, 8)]
    assert found == ["✓", "✗", "→", "?", "✗"]
    assert "768 × 8 is 6,144, not 6,145." in text
    assert "with that put right it is 6,145" in " ".join(text.split())
    assert checked.summary() in text
    assert str(checked) == text


def test_nothing_foreign_comes_alive(checked):
    view = present(checked)
    assert "\x1b" not in view.text()
    for page in (view.html(), view.markdown()):
        assert "<script" not in page
        assert "<b>mine" not in page
    assert checked._repr_html_() == view.html()


def test_the_json_has_places_and_verdicts(checked):
    document = json.loads(json.dumps(checked.to_dict()))
    assert document["counts"] == {"right": 1, "wrong": 2, "carried": 1, "unclear": 1, "nothing": 0}
    assert document["findings"][1]["place"] == "line 4"
    assert document["findings"][2]["sources"] == [4]


def test_questions_are_counted_and_not_graded():
    found = check_document("```glassformer\nspec: layer\nparams = 3\n```\n", name="a.md", kind="md")
    assert "1 question about a spec, not graded here." in present(found).text()
