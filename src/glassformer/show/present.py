"""The one door: `present(result)` finds how a result looks, and loads only the view that it needs."""

from __future__ import annotations

import sys
from functools import singledispatch
from importlib import import_module
from typing import Any

from glassformer.algebra.result import Result

# Where results come from -> the module of this room that knows how they look.
VIEWS = {
    "glassformer.algebra": "glassformer.show.algebra",
    "glassformer.answers.quantities": "glassformer.show.answers",
    "glassformer.answers.diagnosis": "glassformer.show.answers",
    "glassformer.answers.worked": "glassformer.show.worked",
    "glassformer.answers.solutions": "glassformer.show.solutions",
    "glassformer.answers.document": "glassformer.show.document",
    "glassformer.answers.shapes": "glassformer.show.formula",
    "glassformer.answers.quiz": "glassformer.show.quiz",
    "glassformer.numbers.by_hand": "glassformer.show.work",
    "glassformer.numbers.experiments": "glassformer.show.experiments",
}


@singledispatch
def present(result: Any) -> Any:
    """How a result looks: a table, a page of equations, paragraphs."""
    home = type(result).__module__
    for room, view in VIEWS.items():
        if home.startswith(room) and view not in sys.modules:
            import_module(view)
            return present(result)
    raise TypeError(f"nothing is known of how {type(result).__name__} looks")


Result.present = present
