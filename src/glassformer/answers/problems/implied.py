"""What a claim implies if no mistake explains it: score gaps from weights, weights from an output."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.figures import Figures
from glassformer.answers.problems.layouts import Labels, readings
from glassformer.answers.problems.parts import distribution_step, mix_step
from glassformer.answers.problems.work import Work, axis_names
from glassformer.numbers.by_hand.entries import place as placed
from glassformer.numbers.by_hand.entries import size_text
from glassformer.numbers.by_hand.operations import Centre, PositionEntries, PositionTable, RowSoftmax, Sigmoid
from glassformer.numbers.by_hand.worked import turned
from glassformer.numbers.explain import number
from glassformer.program import Step
from glassformer.program.axes import Array

MOST_ROWS = 3


def implied(figures: Figures, claimed: Array | None, work: Work, quantity: str, labels: Labels) -> list[str]:
    """Return sentences that follow from the numbers of a claim. `claimed` are the numbers as a value of the tensor."""
    found = work.quantity(quantity)
    assert found is not None
    tensor, truth = found
    written = turned(tensor, truth, work.problem.convention)
    if claimed is None and any(figures.lined_up(reading.value) is not None for reading in readings(work, quantity, labels)):
        return ["this may be for one token or one head, but none has these numbers"]
    if claimed is None:
        return [f"it should have {size_text(written.shape)}; the claim has {size_text(figures.values.shape)}"]
    said = list(_almost(figures, written))
    step, room = work.step(tensor.name), float(figures.rooms.max())
    rows = list(_wrong_rows(claimed, truth, room))
    if step is None:
        return said
    if step == distribution_step(work):
        scores = np.broadcast_to(work.values[step.inputs[0].name], claimed.shape).reshape(-1, claimed.shape[-1])
        said += [where + words for where, at, row in rows for words in _weights(step, row, scores[at], room, labels.get("s"))]
    elif step == mix_step(work):
        said += [where + words for where, _, row in rows for words in _mixed(work, step, row, room + 1e-9, labels)]
    elif isinstance(step.operation, Centre) and len(step.inputs) == 3:
        said += [where + words for where, _, row in rows for words in _normalised(row, room + 1e-3)]
    elif isinstance(step.operation, PositionTable | PositionEntries) and np.abs(claimed).max() > 1 + room:
        said.append("sines and cosines lie between −1 and 1")
    return said


def _wrong_rows(claimed: Array, truth: Array, room: float) -> Iterator[tuple[str, int, Array]]:
    """Yield the first wrong rows: description, index and numbers."""
    pairs = zip(claimed.reshape(-1, claimed.shape[-1]), truth.reshape(-1, claimed.shape[-1]), strict=True) if claimed.ndim else ()
    wrong = [(place, row) for place, (row, right) in enumerate(pairs) if np.abs(row - right).max() > 2 * room + 1e-9]
    for place, row in wrong[:MOST_ROWS]:
        yield (f"row {place + 1}: " if claimed.size > len(row) else ""), place, row


def _almost(figures: Figures, truth: Array) -> Iterator[str]:
    """Yield a sentence if all numbers but one are right."""
    lined = figures.lined_up(truth)
    if lined is None or lined.size < 3:
        return
    wrong = np.argwhere(figures.gaps(lined) > figures.units + 1e-9)
    if len(wrong) == 1:
        where = tuple(int(i) for i in wrong[0])
        yield f"all other numbers are right; {placed('', where).lstrip(', ')} should be {number(float(lined[where]), 4)}"


def _weights(step: Step, row: Array, scores: Array, room: float, keys: tuple[str, ...] | None) -> Iterator[str]:
    """Yield what weights imply: they must be positive and sum to one, and their ratios give the score gaps."""
    if (row < 0).any():
        yield "weights are never negative"
    elif not isinstance(step.operation, Sigmoid) and abs(row.sum() - 1) > len(row) * room + 1e-9:
        yield f"the weights sum to {number(float(row.sum()), 4)}, not to 1"
    elif isinstance(step.operation, RowSoftmax) and (row > room).all() and np.isfinite(scores).all():
        yield _gap(row, scores, room, keys)


def _gap(row: Array, scores: Array, room: float, keys: tuple[str, ...] | None) -> str:
    """Return the largest score gap, the right one and the implied one, and the common factor if there is one."""
    high, low = int(scores.argmax()), int(scores.argmin())
    due, implied_gap = float(scores[high] - scores[low]), math.log(row[high] / row[low])
    unsure = room / row[high] + room / row[low]
    places = max(0, min(4, math.floor(-math.log10(unsure)))) if unsure else 4
    names = f"{keys[high]} and {keys[low]}" if keys else f"keys {high + 1} and {low + 1}"
    said = f"these weights imply a score gap of {_short(implied_gap, places)} between {names} instead of {number(due, 4)}"
    gaps_due, logs = scores - scores[low], np.log(row / row[low])
    factor = implied_gap / due if due else 0.0
    even = len(row) > 2 and due > 0 and (np.abs(logs - factor * gaps_due) <= 2 * (room / row + room / row[low])).all()
    return said + (f": as if every score had been multiplied by {_short(factor, places)}" if even else "")


def _short(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def _mixed(work: Work, step: Step, row: Array, room: float, labels: Labels) -> Iterator[str]:
    """Yield what an output implies: it lies between its values, and two values determine the weights."""
    shares, values = (work.values[tensor.name] for tensor in step.inputs)
    if axis_names(step.inputs[1])[:1] == ["head"] or values.ndim != 2 or not np.allclose(shares.sum(-1), 1):
        return
    low, high = values.min(0), values.max(0)
    outside = np.flatnonzero((row < low - room) | (row > high + room))
    if len(outside):
        at = outside[0]
        yield (
            f"{number(float(row[at]), 4)} lies outside the range of the values ({number(low[at], 4)} to "
            f"{number(high[at], 4)}), which requires weights that are negative or do not sum to one"
        )
    elif len(values) == 2:
        yield from _of_two(row, values, room, labels.get("s") or ("1", "2"))


def _of_two(row: Array, values: Array, room: float, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the weight of the first of two values that each feature implies."""
    differ = [feature for feature in range(len(row)) if abs(values[0, feature] - values[1, feature]) > 100 * room]
    shares = [float((row[f] - values[1, f]) / (values[0, f] - values[1, f])) for f in differ]
    unsure = max([room / abs(float(values[0, f] - values[1, f])) for f in differ], default=0.0)
    if not shares:
        return
    if max(shares) - min(shares) <= 2 * unsure:
        share = sum(shares) / len(shares)
        yield f"this output implies weights of {number(share, 4)} on {keys[0]} and {number(1 - share, 4)} on {keys[1]}"
    else:
        parts = ", ".join(f"feature {f + 1} implies {number(share, 4)}" for f, share in zip(differ, shares, strict=True))
        yield f"no two weights that sum to one give this output: for the weight of {keys[0]}, {parts}"


def _normalised(row: Array, room: float) -> Iterator[str]:
    """Yield a sentence if a normalised vector does not have mean 0 and variance 1."""
    mean, variance = float(row.mean()), float(row.var())
    if len(row) > 1 and (abs(mean) > room or abs(variance - 1) > 4 * room * max(1.0, float(np.abs(row).max()))):
        yield f"a normalised vector has mean 0 and variance 1; this one has {number(mean, 4)} and {number(variance, 4)}"
