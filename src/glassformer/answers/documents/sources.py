"""Reads documents: text, Markdown and LaTeX files, and the cells of notebooks, which are never run."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.answers.documents.result import DocumentKind
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json, read_bytes

MOST_BYTES = 10_000_000
MOST_NOTEBOOK_PARTS = 200_000  # lists and objects in the JSON of a notebook
MOST_UNREADABLE = 0.1  # fraction of characters: text in another encoding has a few, a binary file has many
KINDS: dict[str, DocumentKind] = {
    ".md": "md",
    ".markdown": "md",
    ".txt": "txt",
    ".text": "txt",
    ".tex": "tex",
    ".ipynb": "ipynb",
}


class Source(NamedTuple):
    """The text of a document, and for a notebook the first line and the number of each cell."""

    text: str
    cells: tuple[tuple[int, int], ...] = ()


def read_file(path: Path) -> tuple[str, DocumentKind]:
    """Read the text of a file, with its kind by its name; invalid UTF-8 bytes become �."""
    name = shown(str(path))
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        known = ", ".join(dict.fromkeys(KINDS))
        raise GlassformerError(f"{name} is not a supported document: its name should end in one of {known}.")
    found = read_bytes(path, most_bytes=MOST_BYTES)
    if found.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # some Windows editors save UTF-16
        return found.decode("utf-16", errors="replace"), kind
    text = found.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise GlassformerError(f"{name} is empty: there is nothing to check. Was it saved?")
    if text.count("\0") + text.count("\ufffd") > MOST_UNREADABLE * len(text):
        raise GlassformerError(f"{name} is not a text file: too many of its bytes are not UTF-8. Save it as UTF-8 text.")
    return text, kind


def source_of(text: str, *, name: str, kind: DocumentKind) -> Source:
    """Return the text to check: all of it, or the cells of a notebook."""
    if len(text) > MOST_BYTES:
        raise GlassformerError(f"{shown(name)} has {len(text):,} characters; a document has at most {MOST_BYTES:,}.")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return _notebook(text, shown(name)) if kind == "ipynb" else Source(text)


def _notebook(text: str, name: str) -> Source:
    """Return Markdown cells as text and code cells as fenced blocks; outputs are ignored."""
    if text.count("[") + text.count("{") > MOST_NOTEBOOK_PARTS:
        raise GlassformerError(
            f"{name} has more than {MOST_NOTEBOOK_PARTS:,} lists and objects; clear its outputs and try again."
        )
    document = parse_json(text, name)
    cells = document.get("cells")
    if cells is None and isinstance(document.get("worksheets"), list):  # the format before version 4
        cells = [cell for sheet in document["worksheets"] if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise GlassformerError(f"{name} is not a notebook: it has no list of cells.")
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, cell in enumerate(cells, start=1):
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if kind not in ("markdown", "code", "raw", "heading"):
            continue
        source = _text(cell.get("source", cell.get("input", ""))).replace("\r\n", "\n").split("\n")
        fence = "`" * 3 + ("`" * max((len(line) for line in source if set(line) == {"`"}), default=0))
        if kind == "code":
            lines.append(f"{fence}python")
        starts.append((len(lines) + 1, number))
        lines.extend(source)
        if kind == "code":
            lines.append(fence)
        lines.append("")
    return Source("\n".join(lines).replace("\0", "\ufffd"), tuple(starts))


def _text(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
