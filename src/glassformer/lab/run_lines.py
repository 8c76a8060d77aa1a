"""Read the files of a run folder as untrusted input: only valid numbers and truncated texts are passed on."""

from __future__ import annotations

import json
from typing import Any

from glassformer.errors import shown
from glassformer.lab.documents.train import BestFigures, Figures, Point, StepPoint

WORDS = ("NaN", "Infinity", "-Infinity")  # numbers that JSON cannot represent
LARGEST = 10**300  # of a whole number: it has to fit into a float
LONGEST = 200


def read_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line of a log; None if it is invalid or incomplete."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def mapping(value: Any) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Any) -> float | str | None:
    """A number, including NaN and infinities, which JSON cannot represent."""
    if isinstance(value, str):
        return value if value in WORDS else None
    known = isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST)
    return value if known else None


def whole(value: Any) -> int | None:
    """A count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def text(value: Any) -> str | None:
    """A name that can be shown."""
    return shown(value, limit=LONGEST) if isinstance(value, str) else None


def figures(value: Any) -> Figures | None:
    """Loss and accuracy."""
    loss, accuracy = (number(mapping(value).get(name)) for name in ("loss", "accuracy"))
    return None if loss is None or accuracy is None else {"loss": loss, "accuracy": accuracy}


def best(value: Any) -> BestFigures | None:
    """The figures of the best epoch, and which it was."""
    found, epoch = figures(value), whole(mapping(value).get("epoch"))
    return None if found is None or epoch is None else {**found, "epoch": epoch}


def point(line: dict[str, Any]) -> Point | None:
    """Return a line in the form the page expects; None if a value is missing or not a number."""
    kind, step = line.get("kind"), whole(line.get("step"))
    if kind == "start":
        parameters = whole(mapping(line.get("measured")).get("parameters"))
        return {"kind": kind, "steps": whole(line.get("steps")), "parameters": parameters}
    if kind == "end":
        tested = number(mapping(line.get("test")).get("accuracy"))
        return {"kind": kind, "step": step, "epochs": whole(line.get("epochs")), "best": best(line.get("best")), "test": tested}
    epoch = whole(line.get("epoch"))
    if step is None or epoch is None:
        return None
    if kind == "step":
        return _step(line, step, epoch)
    if kind == "epoch":
        train, validation = figures(line.get("train")), figures(line.get("validation"))
        if train is not None and validation is not None:
            seconds = number(line.get("seconds")) or 0
            return {"kind": kind, "step": step, "epoch": epoch, "train": train, "validation": validation, "seconds": seconds}
    return None


def _step(line: dict[str, Any], step: int, epoch: int) -> StepPoint | None:
    here = figures(line)
    if here is None:
        return None
    lr, per_second = (number(line.get(name)) for name in ("lr", "per_second"))
    return {"kind": "step", "step": step, "epoch": epoch, "lr": lr, "per_second": per_second, **here}
