"""An HTML fragment for notebooks: one element with a scoped style that affects nothing outside it."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from glassformer.show.markup import Child, Html, style, tags


@lru_cache(maxsize=1)
def pieces() -> str:
    """The style of tables, pictures, equations and matrices, on every page and in every notebook.

    Text inherits the colour of the notebook's theme, and lines use it with a lower opacity.
    """
    return files("glassformer.show").joinpath("pieces.css").read_text(encoding="utf-8").replace("\n", "")


def fragment(*inner: Child) -> Html:
    """A self-contained view without ids, so that a page can contain several."""
    own = ".glassformer{font-family:system-ui,sans-serif;overflow-x:auto}"
    return tags.div(style(own, scoped(pieces())), *inner, class_="glassformer")


def scoped(sheet: str) -> str:
    """Restrict every rule of a style sheet to our element."""
    rules = [rule.partition("{") for rule in sheet.split("}") if rule.strip()]
    return "".join(
        f"{','.join(f'.glassformer {one.strip()}' for one in selector.split(','))}{{{body}}}" for selector, _, body in rules
    )
