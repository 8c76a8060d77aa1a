"""The pages, one file each: what each answers under /api/, and nothing about how it looks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # views in a notebook read cells as the pages do, and have no server
    from starlette.routing import Route

# Page -> (address, module, title). A module has `routes`; nothing heavy is imported at its top.
PAGES: dict[str, tuple[str, str, str]] = {
    "walk": ("/walk", "glassformer.lab.pages.walk", "Start"),
    "bench": ("/bench", "glassformer.lab.pages.bench", "Bench"),
    "trace": ("/trace", "glassformer.lab.pages.trace", "Trace"),
    "hand": ("/hand", "glassformer.lab.pages.by_hand", "By hand"),
    "train": ("/train", "glassformer.lab.pages.train", "Train"),
    "check": ("/check", "glassformer.lab.pages.check", "Check"),
}


def page_routes() -> list[Route]:
    """The routes of every page."""
    return [route for _, module, _ in PAGES.values() for route in import_module(module).routes]
