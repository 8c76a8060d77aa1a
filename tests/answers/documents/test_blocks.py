"""What is read as one: lines, sentences over several lines, formulas, fences."""

import pytest

from glassformer.answers.documents.blocks import blocks


def texts(text):
    return [text[block.start : block.end] for block in blocks(text) if block.kind in ("text", "fence")]


def test_lines_without_anything_to_read_are_passed_over():
    assert texts("prose\n3 × 4 = 12\nmore prose\n\n5 = 5\n") == ["3 × 4 = 12", "5 = 5"]


@pytest.mark.parametrize(
    "text",
    [
        "$40,000 \\times\n768 = 30,720,000$",
        "3 × 4 =\n12",
        "3 × 4\n= 12",
        "a = (1 +\n2)",
        "$$\nx = 3\n$$",
        "\\[\nx = 3\n\\]",
        "\\begin{align}\nx &= 3 \\\\\n &= 4\n\\end{align}",
        "```python\nx = 3\n```",
    ],
)
def test_related_lines_are_read_as_one_block(text):
    assert texts(f"before\n\n{text}\n\nafter") == [text]


def test_bullets_do_not_join():
    assert texts("- 3 + 4 = 7\n- 5 + 6 = 11") == ["- 3 + 4 = 7", "- 5 + 6 = 11"]


def test_a_heading_or_a_supposition_begins_a_new_scope():
    kinds = [block.kind for block in blocks("h = 8\n## Next\nh = 12\nSuppose h = 4")]
    assert kinds == ["text", "scope", "text", "text", "scope", "text"]


def test_a_fence_without_end_runs_to_the_end():
    assert texts("```\nx = 1\n\ny = 2") == ["```\nx = 1\n\ny = 2"]
