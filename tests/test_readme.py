"""The README and the docs are current: the map matches the source tree, and every example prints what it shows."""

import doctest
import json
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import glassformer
from readme_map import MAPS, ROOT, house_map, map_in, room_map, with_map

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Example:
    """A `$ glassformer …` line of a page and the lines that it is said to print."""

    page: str
    line: int
    command: str
    shown: tuple[str, ...]


def fenced(text: str, language: str) -> list[tuple[int, list[str]]]:
    """Line number and lines of each fenced block in one language."""
    blocks = re.finditer(rf"^```{language}[^\S\n]*\n(.*?)^```[^\S\n]*$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)) + 1, block[1].splitlines()) for block in blocks]


def console_examples(page: str, text: str) -> list[Example]:
    """Every `$ glassformer …` of the page's console blocks; a command line may go on after a backslash."""
    examples = []
    for first, lines in fenced(text, "console"):
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            command, *shown = re.sub(r"\\\n\s*", "", "\n".join(lines[start:end])).split("\n")
            if command.startswith("$ glassformer "):
                examples.append(Example(page, first + start, command.removeprefix("$ glassformer "), tuple(shown)))
    return examples


def matches(shown: tuple[str, ...], printed: str) -> bool:
    """Whether the lines are the same, trailing blanks aside; a line `…` stands for any number of lines."""
    expected = "\n".join(shown).rstrip().splitlines()
    patterns = [r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()) + r"\n" for line in expected]
    lines = [line.rstrip() + "\n" for line in printed.rstrip().splitlines()]
    return re.fullmatch("".join(patterns), "".join(lines)) is not None


def run(command: str) -> str:
    """What a terminal shows, without colours and 100 characters wide."""
    with patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "100"}):
        return glassformer(*shlex.split(command, comments=True), cwd=ROOT, as_one=True).stdout


def failed_prompts(text: str, name: str) -> str:
    """What doctest has to say about the page's `>>>` blocks, which share their names as one session."""
    blocks = [(line, lines) for line, lines in fenced(text, "python") if any(row.startswith(">>> ") for row in lines)]
    session = "\n\n".join("\n".join(lines) for _, lines in blocks)
    test = doctest.DocTestParser().get_doctest(session, {}, name, name, 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=said.append)
    return "".join(said)


EXAMPLES = [
    example for page in PAGES for example in console_examples(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_the_map_on_a_page_is_the_tree(page):
    assert map_in(page.read_text(encoding="utf-8")) == MAPS[page](), "`python tests/readme_map.py` rewrites the maps"


def test_the_figures_beside_other_tools_are_those_that_were_measured():
    peers, encoding = (json.loads((ROOT / f"bench/figures/{name}.json").read_text(encoding="utf-8")) for name in ("peers", "cpu"))
    theirs, ours = peers["counting"]["torchinfo"], peers["counting"]["glassformer"]
    viz, page = peers["attention"]["bertviz"], peers["attention"]["glassformer"]
    rates = {name: row["median"] for name, row in encoding["texts a second"].items()}
    st, own = rates["sentence-transformers, torch, float32"], rates["glassformer, float32"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for said in (
        f"{theirs['seconds'] / ours['seconds']:.0f}× faster, {theirs['megabytes'] / ours['megabytes']:.0f}× less memory",
        f"{ours['mlm']:,}; torchinfo says {theirs['mlm']:,}",
        f"{viz['seconds'] / page['seconds']:.1f}× faster, {viz['bytes'] / page['bytes']:.0f}× smaller",
        f"(BertViz: {viz['addresses']} scripts)",
        f"{own:.0f} texts a second against {st:.0f}, {own / st:.2f}×",
    ):
        assert said in readme
    assert page["addresses"] == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.page}:{example.line}")
def test_a_console_example_prints_what_it_shows(example):
    printed = run(example.command)
    assert matches(example.shown, printed), f"$ glassformer {example.command}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_print_what_they_show(page):
    assert failed_prompts(page.read_text(encoding="utf-8"), page.name) == ""


def test_a_map_lists_rooms_in_reading_order_then_modules_by_name(tmp_path: Path):
    sentences = {
        "program/__init__": "What does it compute?",
        "program/operations/__init__": "Operations.",
        "program/operations/sums": "Not shown.",
        "program/axes": "Named axes.\n\nMore about them.",
        "spec/__init__": "What is it?",
        "__init__": "The house.",
        "__main__": "The door.",
    }
    for name, sentence in sentences.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""{sentence}"""\n', encoding="utf-8")
    assert house_map(tmp_path) == [
        "spec/                What is it?",
        "program/             What does it compute?",
        "program/axes.py      Named axes.",
        "program/operations/  Operations.",
        "__main__.py          The door.",
    ]
    assert room_map(tmp_path) == ["spec/     What is it?", "program/  What does it compute?"]


def test_a_map_is_found_and_replaced_and_a_page_without_one_is_refused():
    page = "# x\n\n<!-- map -->\n```text\na/  A.\n```\nmore\n"
    assert map_in(page) == ["a/  A."]
    assert with_map(page, ["b/  B.", "c/  C."]) == "# x\n\n<!-- map -->\n```text\nb/  B.\nc/  C.\n```\nmore\n"
    with pytest.raises(ValueError, match="no fenced block follows"):
        map_in("# x\n\n<!-- map -->\na/  A.\n")


def test_console_blocks_are_cut_into_commands_and_what_they_show():
    page = "text\n```console\n$ make run\nignored\n$ glassformer count x \\\n    layers=2\n12\n\n$ glassformer presets\n```\n"
    assert console_examples("a.md", page) == [
        Example("a.md", 5, "count x layers=2", ("12", "")),
        Example("a.md", 9, "presets", ()),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (("a", "b"), "a  \nb\n\n", True),
        (("a", "b", ""), "a\nb\n", True),
        (("a", "b"), "a\nc\n", False),
        (("a",), "a\nb\n", False),
        (("a", "b"), "a\n", False),
        (("a", "…", "d"), "a\nb\nc\nd\n", True),
        (("a", "…", "d"), "a\nd\n", True),
        (("a", "…", "d"), "a\nb\nc\n", False),
        (("…",), "anything\n", True),
        ((), "", True),
        ((), "a\n", False),
    ],
)
def test_a_difference_between_shown_and_printed_is_found(shown, printed, same):
    assert matches(shown, printed) is same


def test_a_wrong_python_example_is_found():
    right = "```python\n>>> x = 1 + 1\n```\n\n```python\n>>> x\n2\n```\n"
    assert failed_prompts(right, "a.md") == ""
    assert "Expected:\n    3\nGot:\n    2\n" in failed_prompts(right.replace("\n2\n", "\n3\n"), "a.md")
