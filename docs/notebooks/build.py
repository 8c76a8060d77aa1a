"""Builds the notebooks of this folder from their scripts: every cell is run, and what it shows is kept in the .ipynb.

python docs/notebooks/build.py             # all of them
python docs/notebooks/build.py algebra     # those whose name holds the word

A script is Python with cells that begin with `# %%`; `# %% [markdown]` is text, and `# %% varies` marks a cell that shows
something else every time (a duration). A line `# !glassformer …` is a command, which a notebook runs as `!glassformer …`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
COMMAND = re.compile(r"^# !(glassformer .*)$", flags=re.MULTILINE)


class Cell(NamedTuple):
    """A piece of a script: text or code, and whether what it shows is the same every time."""

    kind: str
    source: str
    varies: bool = False


def cells(script: str) -> list[Cell]:
    """The cells of a script; what stands before the first one is a comment for whoever reads the script."""
    found = []
    for piece in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        mark, _, body = piece.partition("\n")
        if "[markdown]" in mark:
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            found.append(Cell("markdown", "\n".join(lines)))
        else:
            found.append(Cell("code", body.strip(), "varies" in mark))
    return found


def built(script: str, name: str = "notebook") -> dict[str, Any]:
    """The notebook (format 4.5), its cells run one after the other in an empty folder. The first error ends it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    pages, count = [], 0
    with tempfile.TemporaryDirectory(prefix="glassformer-notebook-") as folder, contextlib.chdir(folder):
        for number, cell in enumerate(cells(script), 1):
            page: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}}
            if cell.kind == "code":
                count += 1
                page |= {"execution_count": count, "outputs": outputs(cell.source, names, count, f"{name}, cell {number}")}
                page["metadata"] = {"tags": ["varies"]} if cell.varies else {}
            page["source"] = COMMAND.sub(r"!\1", cell.source).splitlines(keepends=True)
            pages.append(page)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": pages, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def outputs(source: str, names: dict[str, Any], count: int, where: str) -> list[dict[str, Any]]:
    """What a cell prints, then what its last expression shows."""
    printed = io.StringIO()
    names["_command"] = command
    tree = ast.parse(COMMAND.sub(r"_command(r'''\1''')", source), filename=where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)
        value = eval(compile(ast.Expression(last.value), where, "eval"), names) if isinstance(last, ast.Expr) else None
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        found.append({"data": shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


def shown(value: Any) -> dict[str, list[str]]:
    """A value as a notebook keeps it: as text, and as HTML where it can."""
    text = str(value) if hasattr(value, "_repr_pretty_") else repr(value)
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    found = {"text/plain": text.splitlines(keepends=True)}
    return found if html is None else {"text/html": html.splitlines(keepends=True), **found}


def command(line: str) -> None:
    """A `glassformer` command, run by the Python that builds."""
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, capture_output=True, env=environment, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"$ {line}\n{done.stdout}{done.stderr}")
    sys.stdout.write(done.stdout.replace(f"{Path.cwd()}/", ""))


def written(notebook: dict[str, Any]) -> str:
    """The notebook as a file."""
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def scripts(word: str = "") -> list[Path]:
    """The scripts of this folder, in reading order."""
    return [path for path in sorted(HERE.glob("[0-9]*.py")) if word in path.stem]


if __name__ == "__main__":
    for path in scripts(sys.argv[1] if len(sys.argv) > 1 else ""):
        target = path.with_suffix(".ipynb")
        target.write_text(written(built(path.read_text(encoding="utf-8"), path.stem)), encoding="utf-8")
        sys.stdout.write(f"{target} ({target.stat().st_size / 1000:.0f} kB)\n")
