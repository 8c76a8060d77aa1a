"""The Markdown pages: lines of docs/ are at most 120 characters unless a program printed them, and no link is dead."""

import re
from pathlib import Path

import pytest
from readme_map import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
WIDEST = 120
PRINTED = ("console", "python", "text")  # what a command or a prompt printed is shown as it was printed


def too_long(markdown: str) -> list[int]:
    """Numbers of the lines above the limit that could be broken: not rows of a table, not printed lines of a fenced block."""
    found, language = [], None
    for number, line in enumerate(markdown.splitlines(), 1):
        if fence := re.match(r"\s*```(\w*)", line):
            language = fence[1] if language is None else None
        typed = line.startswith(("$ ", ">>> ", "... "))
        exempt = line.startswith("|") or (language in PRINTED and not typed)
        if len(line) > WIDEST and not exempt:
            found.append(number)
    return found


def test_lines_of_the_docs_are_at_most_120_characters():
    assert {page.name: lines for page in PAGES if (lines := too_long(page.read_text(encoding="utf-8")))} == {}


def test_a_long_line_is_found_unless_it_is_a_table_or_was_printed():
    long = "a" * (WIDEST + 1)
    assert too_long(f"{long}\n{long[1:]}\n    {long}\n| {long} |\n") == [1, 3]
    assert too_long(f"```console\n$ {long}\n{long}\n```\n{long}\n") == [2, 5]
    assert too_long(f"```toml\n{long}\n```\n") == [2]


LINKED = [*ROOT.glob("*.md"), ROOT / "web" / "README.md", *PAGES, *(ROOT / "src").rglob("*.md")]


def prose(markdown: str) -> str:
    """The text outside fenced blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL))


def anchors(markdown: str) -> set[str]:
    """The anchors of the headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> list[str]:
    """Links of a page to files that are not there, and to headings that no page has; other sites are not asked."""
    dead = []
    for target in re.findall(r"\]\(([^()\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not re.match(r"[a-z]+:", target) and not (
            file.exists() and (not anchor or anchor in anchors(file.read_text(encoding="utf-8")))
        ):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page):
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "b.md").write_text("# One heading: `x`, two\n", encoding="utf-8")
    page = tmp_path / "a.md"
    page.write_text(
        "# Here\n[1](b.md) [2](b.md#one-heading-x-two) [3](#here) [4](https://a.example) `[5](c.md)`\n", encoding="utf-8"
    )
    assert dead_links(page) == []
    page.write_text("[1](c.md) [2](b.md#two) [3](#there)\n", encoding="utf-8")
    assert dead_links(page) == ["c.md", "b.md#two", "#there"]
