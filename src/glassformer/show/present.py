"""The entry point: `present(result)` selects the view of a result, and imports only that view."""

from __future__ import annotations

import sys
from functools import singledispatch
from importlib import import_module
from typing import Any

from glassformer.spec.viewed import Viewed

# Module of a result -> module of this room that presents it.
VIEWS = {
    "glassformer.algebra.summary": "glassformer.show.summary",
    "glassformer.algebra": "glassformer.show.algebra",
    "glassformer.answers.quantities": "glassformer.show.answers",
    "glassformer.answers.verdicts": "glassformer.show.answers",
    "glassformer.answers.problems": "glassformer.show.worked",
    "glassformer.answers.documents": "glassformer.show.document",
    "glassformer.algebra.formulas": "glassformer.show.formula",
    "glassformer.answers.quiz.variant": "glassformer.show.notebook.quizzes",
    "glassformer.answers.quiz": "glassformer.show.quiz",
    "glassformer.numbers.by_hand": "glassformer.show.work",
    "glassformer.numbers.experiments": "glassformer.show.experiments",
    "glassformer.numbers.attention": "glassformer.show.notebook.attention",
    "glassformer.numbers.contributions": "glassformer.show.contributions",
    "glassformer.numbers": "glassformer.show.notebook.numbers",
    "glassformer.spec": "glassformer.show.notebook.encoders",
    "glassformer.program": "glassformer.show.notebook.encoders",
    "glassformer.show": "glassformer.show.notebook.learning",
    "glassformer.encoding.evaluation": "glassformer.show.evaluation",
    "glassformer.encoding.measures": "glassformer.show.measures",
    "glassformer.insight": "glassformer.show.insight",
    "glassformer.training.data": "glassformer.show.data",
    "glassformer.training": "glassformer.show.notebook.learning",
    "glassformer.model.checkpoints.certificate": "glassformer.show.certificate",
}


@singledispatch
def present(result: Any) -> Any:
    """Return the view of a result: a table, a page of equations, paragraphs."""
    home = type(result).__module__
    for room, view in VIEWS.items():
        if not (home == room or home.startswith(f"{room}.")):
            continue
        if view not in sys.modules:
            import_module(view)
            return present(result)
        if hasattr(sys.modules[view], "of_torch_room"):  # this room may not import the class, and recognises it by its attributes
            return sys.modules[view].of_torch_room(result)
    raise TypeError(f"{type(result).__name__} has no presentation")


Viewed.present = present
