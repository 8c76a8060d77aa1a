"""The sources of the site: every page is in the navigation, links follow the pages, notebooks and docstrings become pages."""

import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

import glassformer

SITE = Path(__file__).parents[2] / "docs" / "site"


def module(name):
    found = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


SOURCES, REFERENCE = module("sources"), module("reference")
MADE = ["python", "commands", "fields"]


def test_every_page_is_in_the_navigation_once():
    listed = Counter(page for pages in SOURCES.NAVIGATION.values() for page in pages)
    assert listed == Counter([*SOURCES.places().values(), *MADE]) - Counter(["index"])


@pytest.mark.parametrize(
    ("path", "link", "moved"),
    [
        ("README.md", "[a](docs/algebra.md)", "[a](algebra.md)"),
        ("README.md", "[a](docs/model.md#fast)", "[a](model.md#fast)"),
        ("README.md", "![a](docs/images/lab.png)", "![a](images/lab.png)"),
        ("docs/laws.md", "[s](../SECURITY.md)", "[s](security.md)"),
        ("docs/laws.md", "[n](notebooks/2-attention-by-hand.ipynb)", "[n](notebooks/2-attention-by-hand.md)"),
        ("docs/notebooks/2-attention-by-hand.ipynb", "[a](../algebra.md)", "[a](../algebra.md)"),
        ("docs/laws.md", "[the code](../src/glassformer/errors.py)", "the code"),
        ("docs/laws.md", "[a](https://example.org) [b](#here)", "[a](https://example.org) [b](#here)"),
        ("docs/laws.md", "```text\n[a](../SECURITY.md)\n```", "```text\n[a](../SECURITY.md)\n```"),
    ],
)
def test_links_follow_the_pages(path, link, moved):
    assert SOURCES.on_site(link, path, SOURCES.places()) == moved


def test_a_notebook_is_a_page_with_what_it_showed():
    cells = [
        {"cell_type": "markdown", "source": ["# One\n", "text"]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": "2"}}]},
        {"cell_type": "code", "source": "!glassformer presets", "outputs": [{"text": ["a\n", "b\n"]}]},
        {"cell_type": "code", "source": "x", "outputs": [{"data": {"text/html": "<b>x</b>", "text/plain": "x"}}]},
    ]
    assert SOURCES.notebook_page({"cells": cells}) == (
        "# One\ntext\n\n```python\n1 + 1\n```\n\n````text\n2\n````\n\n"
        "```console\n$ glassformer presets\n```\n\n````text\na\nb\n````\n\n"
        '```python\nx\n```\n\n````{raw} html\n<div class="shown"><b>x</b></div>\n````\n'
    )


def test_the_reference_has_every_public_name_with_its_docstring():
    page = REFERENCE.python_page()
    named = re.findall(r"^`{5}\{py:(?:function|class)\} glassformer\.(\w+)", page, flags=re.MULTILINE)
    assert sorted(named) == sorted(name for name in dir(glassformer) if not name.startswith("_"))
    assert "A parameter count: how many, in which tensors, under which convention" in page
    assert "{py:class} Count(" in page, "what a function returns is described, too"


def test_the_reference_has_every_command_and_every_field():
    from glassformer.cli.main import COMMANDS
    from glassformer.spec import field_docs

    commands, fields = REFERENCE.commands_page(), REFERENCE.fields_page()
    assert [name for name in COMMANDS if f"\n## {name}\n" not in commands] == []
    assert "\n## quiz make\n" in commands
    assert [name for name in (*field_docs(), *glassformer.presets()) if f"| `{name}` |" not in fields] == []


def test_annotations_lose_their_quotes_and_defaults_keep_them():
    def asked(what: "str | None" = "it's", *, form: "int" = 3) -> "list[str]": ...

    assert REFERENCE._signature(asked, drop_self=False) == '(what: str | None = "it\'s", *, form: int = 3) -> list[str]'
