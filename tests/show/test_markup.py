"""The template layer: text is escaped everywhere, and the output is well-formed."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from glassformer.show.markup import Html, data, element, escape, join, page, script, style, tags

HOUSE = Path(__file__).parents[2] / "src" / "glassformer"
HOSTILE = "</p><script>alert(1)</script> \"'& \u202e\u2066\x00\x1b\ud800"


def test_text_is_escaped_as_a_child_and_as_an_attribute():
    made = tags.p(HOSTILE, [HOSTILE, None, [tags.b(HOSTILE)]], title=HOSTILE, class_="a b")
    read = ElementTree.fromstring(made)
    inert = "</p><script>alert(1)</script> \"'& ?????"
    assert read.text == inert * 2 and read[0].text == inert
    assert read.attrib == {"title": inert, "class": "a b"}
    assert "<script" not in made


def test_markup_is_not_escaped_again_and_text_joined_by_hand_is():
    assert tags.p(tags.b("x")) == "<p><b>x</b></p>"
    assert tags.p(f"{tags.b('x')}") == "<p>&lt;b&gt;x&lt;/b&gt;</p>"  # an f-string is text, whatever went into it
    assert tags.p(tags.b("x") + "<i>") == "<p>&lt;b&gt;x&lt;/b&gt;&lt;i&gt;</p>"


def test_attributes_have_the_names_of_html_and_svg():
    made = element("rect", stroke_width=1.5, viewBox="0 0 1 1", x=2.0, hidden=True, rx=None, open=False, aria_label="a")
    assert made == '<rect stroke-width="1.5" viewBox="0 0 1 1" x="2" hidden="" aria-label="a"></rect>'
    assert tags.img(alt="x") == '<img alt="x"/>'


def test_letters_of_every_script_stay():
    words = "é 字 العربية עברית \U0001f469\u200d\U0001f469 a\u00a0b\u2009c"
    assert escape(words) == words


def test_data_and_sheets_cannot_end_their_element():
    assert data({"word": "</script><!--"}).count("<") == 2
    with pytest.raises(ValueError, match="no '<'"):
        style("</style>")
    with pytest.raises(ValueError, match="no '</'"):
        script("'</script>'")


def test_a_page_is_a_document_with_a_policy():
    made = page(HOSTILE, tags.p(HOSTILE), sheets=("p{margin:0}",))
    assert made.startswith('<!doctype html>\n<html lang="en">')
    assert "default-src &#x27;none&#x27;" in made
    ElementTree.fromstring(made.partition("\n")[2])


def tags_in(source: str) -> list[str]:
    """Texts of a module that look like a tag, docstrings left out."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    return [
        text
        for text in texts
        if re.search(r"</?(?:div|p|t[dhr]|table|span|svg|b|i|ul|ol|li|h[1-6]|style|script|html|br|a|text|rect)\b[^>]*>", text)
    ]


# One reads other people's markup; two write Markdown, where "<" needs an entity and a cell of a table breaks its lines with <br>.
OTHERS = {"answers/documents/markup.py", "show/inert.py", "show/document.py"}
ROOMS = ("show", "lab", "cli", "mcp", "answers", "numbers", "algebra", "training")


def test_no_other_module_writes_a_tag():
    faults = {}
    for path in sorted(path for room in ROOMS for path in (HOUSE / room).rglob("*.py")):
        name = path.relative_to(HOUSE).as_posix()
        source = path.read_text(encoding="utf-8")
        if name == "show/markup.py" or name in OTHERS:
            continue
        found = tags_in(source)
        if found or re.search(r"\bHtml\(|html\.escape|from html import|import html\b", source):
            faults[name] = found
    assert faults == {}


def test_a_module_that_writes_a_tag_is_found():
    assert tags_in('x = f"<td>{y}</td>"') == ["<td>", "</td>"]
    assert tags_in('"""<td> in a docstring"""') == []


def test_an_empty_join_is_markup():
    assert isinstance(join(), Html) and join() == ""
