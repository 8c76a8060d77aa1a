"""Text that stays text."""

import pytest

from glassformer.show.inert import clean, markdown_text


def test_control_characters_are_shown_as_question_marks_and_lines_stay():
    assert clean("a\x1b[31mb\nc\u202e\ud800") == "a?[31mb\nc??"
    assert clean("plain é 字 √") == "plain é 字 √"


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("<script>", "&lt;script>"),
        ("\\<b", "\\<b"),  # a backslash has made it text already,
        ("\\\\<b", "\\\\&lt;b"),  # unless that is itself text
        ("[x](javascript:1)", "[x\\](javascript:1)"),
        ("![x](//evil)", "![x\\](//evil)"),
        ("[x]: y", "[x\\]: y"),
        ("[1, 5, 768]", "[1, 5, 768]"),
        ("**bold**\nnext", "**bold** next"),
        ("$a < b](c$", "$a {<} b]{}(c$"),
    ],
)
def test_markdown_finds_no_tag_and_no_link(text, markdown):
    assert markdown_text(text) == markdown
