"""The page of a report: title, summary, table of contents, sections; no scripts, no external files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.show.figures import writing
from glassformer.show.fragment import pieces
from glassformer.show.markup import Child, Html, tags
from glassformer.show.markup import page as whole_page
from glassformer.show.palette import DARK, LIGHT, css_variables

MARK = tags.meta(name="generator", content="glassformer report")


class Section(NamedTuple):
    """A section of the report: `name` is its anchor, and the word that excludes it."""

    name: str
    title: str
    html: Html


def page(title: str, lead: Child, sections: Sequence[Section]) -> Html:
    """The whole document."""
    css = files("glassformer.show.report").joinpath("report.css").read_text(encoding="utf-8")
    dark = f"@media (prefers-color-scheme:dark){{@media not print{{:root{{{css_variables(DARK)}}}}}}}"
    themes = f":root{{color-scheme:light dark;{css_variables(LIGHT)}}}{dark}"
    contents = tags.ul([tags.li(tags.a(one.title, href=f"#{one.name}")) for one in sections])
    body = tags.main(
        tags.header(tags.h1(title), lead),
        tags.nav(contents, aria_label="Sections"),
        [tags.section(tags.h2(one.title), one.html, id=one.name) for one in sections],
        tags.footer("Made by ", tags.code("glassformer report"), ". This file is self-contained."),
    )
    return whole_page(title, body, sheets=(themes, pieces(), css), head=MARK)


def card_page(title: str, body: Html) -> Html:
    """A model card as a separate page."""
    css = files("glassformer.show.report").joinpath("report.css").read_text(encoding="utf-8")
    dark = f"@media (prefers-color-scheme:dark){{@media not print{{:root{{{css_variables(DARK)}}}}}}}"
    themes = f":root{{color-scheme:light dark;{css_variables(LIGHT)}}}{dark}"
    return whole_page(title, tags.main(tags.section(body)), sheets=(themes, pieces(), css))


def save_page(text: str, path: str | Path) -> Path:
    """Write a report atomically; a file that is not a report is never replaced."""
    path = Path(path)
    with writing(path):
        if path.is_dir():
            raise GlassformerError(f"{path_text(path)} is a folder: name a file, as in --out report.html.")
        if path.exists() and not _is_report(path):
            raise GlassformerError(f"{path_text(path)} exists and is not a report: choose another --out.")
        if path.suffix.lower() not in (".html", ".htm"):
            raise GlassformerError(
                f"{path_text(path)}: a report is HTML: its name must end in .html. To get a PDF, print it from a browser."
            )
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


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """The main numbers, each with its name."""
    return tags.dl([tags.div(tags.dt(name), tags.dd(value)) for name, value in pairs], class_="facts")


def folded(title: str, *inner: Child) -> Html:
    """Content that opens with a click."""
    return tags.details(tags.summary(title), *inner)
