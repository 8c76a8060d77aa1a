"""What came out of a run: the classes, the tag of each token, or the most probable next tokens, before and after the changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassformer.lab.documents import trace as documents
from glassformer.lab.pages.trace_models import Model
from glassformer.lab.pages.trace_written import continued, names_of
from glassformer.numbers import Difference, Run
from glassformer.program.axes import Array

MOST_CLASSES = 1000
MOST_NEXT = 5  # tokens that are listed for a position
MOST_POSITIONS = 256


def output(model: Model, difference: Difference[Run]) -> documents.Output:
    """What the last step gave."""
    tensor = difference.after.program.output
    found: documents.Output = {
        "name": tensor.name,
        "axes": [(axis.name, axis.size) for axis in tensor.axes],
        "classes": [],
        "tags": [],
        "next": [],
    }
    last = tensor.axes[-1]
    after, before = (run.values[tensor.name][0] for run in (difference.after, difference.before))
    if last.name == "vocab" and after.ndim == 2:
        found["next"] = _next(model, difference.after, after, before)
    elif last.name == "class" and 2 <= last.size <= MOST_CLASSES:
        _of_classes(model, difference.after, found, _shares(after), _shares(before))
    return found


def _of_classes(model: Model, run: Run, found: documents.Output, after: Array, before: Array) -> None:
    count = after.shape[-1]
    names = model.labels or tuple(f"class {place}" for place in range(count))
    if after.ndim == 1:
        found["classes"] = [
            {"name": names[place], "place": place, "probability": float(after[place]), "before": float(before[place])}
            for place in np.argsort(-np.maximum(after, before), kind="stable")[:10]
        ]
    elif after.ndim == 2 and after.shape[0] == run.program.sizes.t:
        found["tags"] = [
            {"name": names[int(row.argmax())], "probability": float(row.max()), "before": names[int(old.argmax())]}
            for row, old in zip(after, before, strict=True)
        ]


def _next(model: Model, run: Run, after: Array, before: Array) -> list[list[documents.Next]]:
    """At each position the most probable tokens, and the one that follows there; those that are ruled out are left out."""
    read = run.values.get("target", run.values.get("tokens")) if run.program.spec.predicts_next else None
    following: list[int] = [] if read is None or read.ndim != 2 else [int(token) for token in read[0]]
    rows: list[tuple[list[int], Array, Array]] = []
    for place, (logits, old) in enumerate(zip(after[:MOST_POSITIONS], before, strict=False)):
        shares, was = _shares(logits), _shares(old)
        best = np.argsort(-shares, kind="stable")[: MOST_NEXT + len(model.special.banned)]
        top = [int(token) for token in best if int(token) not in model.special.banned][:MOST_NEXT]
        if place + 1 < len(following) and following[place + 1] not in top:
            top.append(following[place + 1])
        rows.append((top, shares, was))
    return [
        [
            {
                "token": name,
                "id": token,
                "probability": float(shares[token]),
                "before": float(was[token]),
                "ends": token in model.special.ends,
                "text": continued(model, run, token) if place == run.program.sizes.t - 1 else "",
                "taken": place + 1 < len(following) and following[place + 1] == token,
            }
            for name, token in zip(names_of(model, run, top), top, strict=True)
        ]
        for place, (top, shares, was) in enumerate(rows)
    ]


def _shares(logits: Any) -> Any:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
