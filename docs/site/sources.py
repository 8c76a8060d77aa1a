"""Puts together the sources of the documentation site: `python docs/site/sources.py FOLDER`; `make docs` builds them.

The pages of docs/, the README as the front page, SECURITY.md, CONTRIBUTING.md and CHANGELOG.md, the notebooks, and a reference
made from docstrings and help texts. Nothing that this writes is kept in git.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from reference import commands_page, fields_page, python_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# What a reader wants to do -> the pages that help, in reading order. Every page is listed once.
NAVIGATION = {
    "Count a model": ("algebra", "language"),
    "Check an answer": ("checking", "mistakes", "algebra-of-shapes"),
    "Work it by hand": ("by-hand", "numbers", "insight", "experiments", "pictures"),
    "Explore": ("lab", "report", "notebooks/1-the-algebra-of-bert", "notebooks/2-attention-by-hand", "assistants"),
    "Teach": ("quiz",),
    "Train": ("training", "data", "recipes", "notebooks/3-train-look-inside-check"),
    "Load and encode": ("checkpoints", "cluster", "model", "generation", "bench"),
    "Extend": ("map", "contributing", "decisions", "log"),
    "Rely on it": ("laws", "reliability", "security", "changelog"),
    "Reference": ("python", "commands", "fields"),
}
OTHER_NAMES = {"README.md": "index", "SECURITY.md": "security", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
FENCE = re.compile(r"^(```.*?^```[^\S\n]*$)", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def places() -> dict[str, str]:
    """Path in the repository -> name of the page on the site, for everything that is on it."""
    pages = {f"docs/{path.name}": path.stem for path in sorted(DOCS.glob("*.md"))}
    books = {f"docs/notebooks/{path.name}": f"notebooks/{path.stem}" for path in sorted((DOCS / "notebooks").glob("*.ipynb"))}
    return pages | books | OTHER_NAMES


def on_site(markdown: str, path: str, known: dict[str, str]) -> str:
    """A page with its links made to fit the site; a link to a file that is not on the site becomes its text."""
    here = Path(known[path]).parent

    def moved(link: re.Match[str]) -> str:
        image, text, target = link.groups()
        file, hash_mark, anchor = target.partition("#")
        if "://" in target or not file:
            return link[0]
        wanted = os.path.normpath(Path(path).parent / file)
        if image:
            return f"![{text}]({os.path.relpath(wanted.removeprefix('docs/'), here)})"
        if wanted not in known:
            return text
        return f"[{text}]({os.path.relpath(known[wanted], here)}.md{hash_mark}{anchor})"

    pieces = FENCE.split(markdown)
    return "".join(piece if place % 2 else LINK.sub(moved, piece) for place, piece in enumerate(pieces))


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as a page: its text, its code, and what was shown when it was run."""
    return "\n\n".join(block for cell in notebook["cells"] for block in _cell_blocks(cell)) + "\n"


def _cell_blocks(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif source.startswith("!"):
        yield f"```console\n$ {source[1:]}\n```"
    else:
        yield f"```python\n{source}\n```"
    for output in cell.get("outputs", []):
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "text/html" in data:
            yield f'````{{raw}} html\n<div class="shown">{"".join(data["text/html"])}</div>\n````'
        else:
            yield f"````text\n{''.join(data['text/plain']).rstrip()}\n````"


def front_page(readme: str) -> str:
    """The README, followed by the navigation, which the sidebar shows."""
    trees = ["```{toctree}\n:hidden:\n:caption: " + "\n".join([goal, "", *pages, "```\n"]) for goal, pages in NAVIGATION.items()]
    return "\n".join([readme, *trees])


def write(out: Path) -> None:
    """All sources into an empty folder."""
    known = places()
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(DOCS / "images", out / "images")
    (out / "notebooks").mkdir()
    for path, name in known.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.endswith(".ipynb"):
            text = notebook_page(json.loads(text))
        text = on_site(text, path, known)
        (out / f"{name}.md").write_text(front_page(text) if name == "index" else text, encoding="utf-8")
    for name, page in (("python", python_page), ("commands", commands_page), ("fields", fields_page)):
        (out / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
