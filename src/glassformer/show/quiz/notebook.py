"""Quiz papers as Jupyter notebooks: one cell per answer, and a last one that writes the answers for grading."""

from __future__ import annotations

import json
from typing import Any

from glassformer.answers.quiz.quantity import QuantityKey
from glassformer.answers.quiz.template import filled
from glassformer.answers.quiz.variant import Item, Variant
from glassformer.show.quiz.markdown import markdown_blocks, plain
from glassformer.show.quiz.page import Blank, Page, key_page, quiz_page


def notebook(variant: Variant, *, key: bool = False, student: str = "") -> str:
    """Return the paper, or its key, as a notebook (format 4.5). Without a student, the name is left blank."""
    page = key_page(variant) if key else quiz_page(variant)
    cells = [_markdown("title", f"# {plain(page.title)}\n\n{plain(page.subtitle)}")]
    if not key:
        cells.append(_code("start", f"student = {student!r}" + ("" if student else "  # your name") + "\nanswers = {}"))
    for item, blocks in zip(variant.items, page.questions, strict=True):
        shown = [block for block in blocks if not isinstance(block, Blank)]
        cells.append(_markdown(f"question-{item.number}", markdown_blocks(shown)))
        if key:
            cells += _derivation(item)
        else:
            cells.append(_code(f"answer-{item.number}", f"answers[{item.id!r}] = ''  # {_comment(item.key.wanted)}"))
    if not key:
        cells.append(_code("write", WRITE))
    return json.dumps(_document(page, cells), ensure_ascii=False, indent=1) + "\n"


WRITE = """import csv

with open("answers.csv", "w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["student", "question", "answer"])
    rows.writerows([student, question, answer] for question, answer in answers.items())"""


def _derivation(item: Item) -> list[dict[str, Any]]:
    """Return a cell that derives the answer, if it is an expression."""
    if not isinstance(item.inner, QuantityKey):
        return []
    words = filled(item.template.spec, item.drawn).split()
    model = f", request_from_words({words!r})" if words else ""
    lines = [
        "from glassformer.answers.quantities import ask",
        "from glassformer.configs.reading import request_from_words",
        "",
        f"ask({item.inner.answer.text!r}{model})",
    ]
    return [_code(f"derivation-{item.number}", "\n".join(lines))]


def _document(page: Page, cells: list[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "title": page.title}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(name: str, text: str) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": source}


def _comment(text: str) -> str:
    return " ".join(text.split())
