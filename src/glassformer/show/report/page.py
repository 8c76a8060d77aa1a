"""The page of a report: a title, what it is about, sections with a list of them on top; no script, nothing fetched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from glassformer.show.figures import writing
from glassformer.show.palette import DARK, LIGHT, Part, css_variables, ink
from glassformer.show.table import Column, Table, indented
from glassformer.show.typeset import STYLE as EQUATIONS
from glassformer.spec import GlassformerError
from glassformer.spec.paths import path_text

MARK = '<meta name="generator" content="glassformer report">'
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # whatever a token or a file name says


class Section(NamedTuple):
    """A part of the report: `name` is its anchor and the word that leaves it out."""

    name: str
    title: str
    html: str


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole document."""
    css = files("glassformer.show.report").joinpath("report.css").read_text(encoding="utf-8")
    dark = f"@media (prefers-color-scheme:dark){{@media not print{{:root{{{css_variables(DARK)}}}}}}}"
    themes = f":root{{color-scheme:light dark;{css_variables(LIGHT)}}}{dark}"
    contents = "".join(f'<li><a href="#{escape(one.name)}">{escape(one.title)}</a></li>' for one in sections)
    body = "".join(f'<section id="{escape(one.name)}"><h2>{escape(one.title)}</h2>{one.html}</section>' for one in sections)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">{MARK}
<title>{escape(title)}</title><style>{themes}{EQUATIONS}{css}</style></head>
<body><main><header><h1>{escape(title)}</h1>{lead}</header>
<nav aria-label="Sections"><ul>{contents}</ul></nav>{body}
<footer>Made by <code>glassformer report</code>. This file needs nothing else.</footer></main></body></html>
"""


def save_page(text: str, path: str | Path) -> Path:
    """Write a report, whole or not at all; a file that is no report is never replaced."""
    path = Path(path)
    with writing(path):
        if path.is_dir():
            raise GlassformerError(f"{path_text(path)} is a folder: name a file, as in --out report.html.")
        if path.exists() and not _is_report(path):
            raise GlassformerError(f"{path_text(path)} is there and is no report: choose another --out.")
        if path.suffix.lower() not in (".html", ".htm"):
            raise GlassformerError(f"{path_text(path)}: a report is a web page: its name ends in .html. Browsers print PDF.")
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    return path


def _is_report(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return MARK in file.read(4000)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A few numbers that matter, each with its name."""
    return (
        f"<dl class=facts>{''.join(f'<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>' for name, value in pairs)}</dl>"
    )


def paragraph(text: str) -> str:
    """A sentence or two."""
    return f"<p>{escape(text)}</p>"


def table(view: Table, parts: Sequence[Part | None] = ()) -> str:
    """A table that scrolls by itself where the page is narrow; a row of a part of the encoder has its colour."""
    head = "".join(f"<th{_side(column)}>{escape(column.title)}</th>" for column in view.columns)
    rows = []
    for place, row in enumerate(view.rows):
        if not any(row):
            continue
        part = parts[place] if place < len(parts) else None
        edge = f' style="border-left-color:{ink(part)}"' if part else ""
        cells = "".join(
            f"<td{_side(column)}>{indented(escape(cell), '&nbsp;')}</td>" for cell, column in zip(row, view.columns, strict=True)
        )
        rows.append(f"<tr{' class=sum' if place in view.bold else ''}{edge}>{cells}</tr>")
    caption = f"<caption>{escape(view.title)}</caption>" if view.title else ""
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in view.notes if note)
    body = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(view.title or "table")}">{body}</div>{notes}'


def _side(column: Column) -> str:
    return " class=n" if column.right else ""
