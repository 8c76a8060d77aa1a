"""The registry of quantities: each with its options, one line of documentation and an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from glassformer.answers.quantities.answer import Found
from glassformer.answers.quantities.context import Context


@dataclass(frozen=True)
class Meaning:
    """The definition of a quantity: how it is computed for a spec, and its documentation."""

    name: str
    doc: str
    example: str
    options: tuple[str, ...]
    work_out: Callable[[Context], Found]


MEANINGS: dict[str, Meaning] = {}


def means(
    name: str, doc: str, example: str, options: tuple[str, ...] = ()
) -> Callable[[Callable[[Context], Found]], Callable[[Context], Found]]:
    """Return a decorator that registers a function as the definition of a quantity."""

    def register(work_out: Callable[[Context], Found]) -> Callable[[Context], Found]:
        MEANINGS[name] = Meaning(name, doc, example, options, work_out)
        return work_out

    return register
