"""What a run folder says, read as from a stranger: numbers that are numbers, texts cut short, and nothing else gets through."""

from __future__ import annotations

import json
from typing import Any

from glassformer.spec import shown

WORDS = ("NaN", "Infinity", "-Infinity")  # numbers that JSON has not
LARGEST = 10**300  # of a whole number: it has to fit into a float
LONGEST = 200


def read_line(line: bytes) -> dict[str, Any] | None:
    """A line of a log; None where it is none, or was cut off."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def mapping(value: Any) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Any) -> float | str | None:
    """A number, also one that JSON has not."""
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


def figures(value: Any) -> dict[str, Any] | None:
    """Loss and accuracy."""
    found = {name: number(mapping(value).get(name)) for name in ("loss", "accuracy")}
    return None if None in found.values() else found


def best(value: Any) -> dict[str, Any] | None:
    """The figures of the best epoch, and which it was."""
    found, epoch = figures(value), whole(mapping(value).get("epoch"))
    return None if found is None or epoch is None else {**found, "epoch": epoch}


def point(line: dict[str, Any]) -> dict[str, Any] | None:
    """A line as a page takes it; None where something of it is missing, or is no number."""
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
    found = {"kind": kind, "step": step, "epoch": epoch}
    if kind == "step":
        here = figures(line)
        more = {name: number(line[name]) for name in ("lr", "per_second") if name in line}
        return None if here is None else found | here | more
    if kind == "epoch":
        train, validation = figures(line.get("train")), figures(line.get("validation"))
        there = {"train": train, "validation": validation, "seconds": number(line.get("seconds")) or 0}
        return None if train is None or validation is None else found | there
    return None
