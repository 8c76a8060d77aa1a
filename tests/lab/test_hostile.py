"""The canary of the hostile texts can sing: a page that lets them through is found out."""

import re
from pathlib import Path

import pytest
from faults.hostile_strings import ATTRIBUTES, TAGS
from lab.hostile import LOOK, NEVER, canary, told


def caught(browser, path, text):
    path.write_text(f"<!doctype html><meta charset=utf-8><title>t</title><body>{text}", encoding="utf-8")
    made = None
    try:
        with canary(browser) as made:
            page = made.new_page()
            page.route("**/*evil.example/**", lambda route: route.abort())
            made.open(page, path)
            page.wait_for_timeout(30)
            made.look(
                page,
                [],
                plain={"script": 0, "style": 0, "img": 0, "meta": 1, "link": 0, "form": 0, "svg": 0, "math": 0, "b": 0, "a": 0},
            )
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("text", [*TAGS[:52:13], TAGS[57]])
def test_a_tag_that_gets_through_is_found(browser, tmp_path, text):
    assert caught(browser, tmp_path / "page.html", f"<p>{text}</p>")


@pytest.mark.parametrize("place", [0, 2, 9])
def test_an_attribute_that_gets_through_is_found(browser, tmp_path, place):
    careless = '<p title="#">x</p>' if place < 9 else "<p><q cite=x><a href='#'>x</a></q></p>"
    assert caught(browser, tmp_path / "page.html", careless.replace("#", ATTRIBUTES[place]))


def test_plain_words_are_not_found_out(browser, tmp_path):
    assert not caught(browser, tmp_path / "page.html", "<p>plain &lt;script&gt;</p>")


def test_displayed_text_is_distinguished_from_other_text():
    assert told(["<b>bold</b>", "not there", "x"], "a page\nwith <b>bold</b> in it, x") == ["<b>bold</b>"]
    assert "iframe" in NEVER and "never" in LOOK


TREE = Path(__file__).parents[2]
MAKES_HTML = re.compile(
    r"[iI]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function|srcdoc"
    r"|javascript:|setAttribute\(\s*[\"']on"
)


def test_no_line_of_the_front_end_makes_markup_or_code_out_of_text(figure):
    scripts = [
        *(TREE / "web/src").rglob("*.ts*"),
        *(path for path in (TREE / "src/glassformer").rglob("*.js") if "static" not in path.parts),
    ]
    found = [
        f"{path}: {line}" for path in scripts for line in path.read_text(encoding="utf-8").splitlines() if MAKES_HTML.search(line)
    ]
    assert found == []
    assert len(scripts) > 60
    assert MAKES_HTML.search("node.innerHTML = text") and MAKES_HTML.search("<div dangerouslySetInnerHTML={{ __html: text }} />")
    figure(
        "W5",
        f"{len(scripts)} front-end files: no line turns text into markup or code",
        cases=len(scripts),
        part="source",
    )
