"""A fragment of a page, as notebooks show it: one element with its own style, which reaches nothing outside it."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from glassformer.show.markup import Child, Html, style, tags


@lru_cache(maxsize=1)
def pieces() -> str:
    """The style of tables, pictures, equations and matrices, on every page and in every notebook.

    A notebook's theme is its own matter: text takes its colour, and lines are its text made faint.
    """
    return files("glassformer.show").joinpath("pieces.css").read_text(encoding="utf-8").replace("\n", "")


def fragment(*inner: Child) -> Html:
    """A view that needs nothing else and has no ids, so that any number stand on one page."""
    own = ".glassformer{font-family:system-ui,sans-serif;overflow-x:auto}"
    return tags.div(style(own, scoped(pieces())), *inner, class_="glassformer")


def scoped(sheet: str) -> str:
    """Every rule of a style sheet, made to hold inside our element alone."""
    rules = [rule.partition("{") for rule in sheet.split("}") if rule.strip()]
    return "".join(
        f"{','.join(f'.glassformer {one.strip()}' for one in selector.split(','))}{{{body}}}" for selector, _, body in rules
    )
