"""Figures of a classifier from its probabilities: accuracy, macro-F1, calibration, confusions, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # of a two-sided 95% interval
RESAMPLES = 1000
BINS = 10
LEAST = 1e-12  # smaller probabilities count as this in the log loss


class Interval(NamedTuple):
    """A figure with its 95% confidence interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Ready for JSON."""
        return self._asdict()


def wilson(right: int, count: int) -> Interval:
    """Return a share with its Wilson score interval."""
    share, squared = right / count, Z * Z / count
    centre = (share + squared / 2) / (1 + squared)
    reach = Z * math.sqrt(share * (1 - share) / count + squared / (4 * count)) / (1 + squared)
    low, high = max(0.0, centre - reach), min(1.0, centre + reach)
    return Interval(share, 0.0 if right == 0 else low, 1.0 if right == count else high)


def confusion_of(true: NDArray[Any], said: NDArray[Any], classes: int) -> NDArray[Any]:
    """Return counts: rows are true classes, columns predicted classes."""
    return np.bincount(true * classes + said, minlength=classes * classes).reshape(classes, classes)


def macro_f1(confusion: NDArray[Any]) -> Interval:
    """Return the mean F1 over the classes that occur, with its percentile bootstrap interval (fixed seed)."""
    count, classes = int(confusion.sum()), len(confusion)
    draws = np.random.default_rng(0).multinomial(count, confusion.ravel() / count, size=RESAMPLES)
    low, high = np.quantile(_f1(draws.reshape(-1, classes, classes)), [0.025, 0.975])
    return Interval(float(_f1(confusion[None])[0]), float(low), float(high))


def bootstrap(figures: Mapping[str, Callable[[NDArray[Any]], float]], rows: int) -> dict[str, Interval]:
    """Return figures of row numbers with their percentile bootstrap intervals (fixed seed, the same rows for all of them)."""
    drawn = np.random.default_rng(0).integers(0, rows, size=(RESAMPLES, rows))
    found = {}
    for name, figure in figures.items():
        low, high = np.nanquantile([figure(some) for some in drawn], [0.025, 0.975])
        found[name] = Interval(figure(np.arange(rows)), float(low), float(high))
    return found


def _f1(tables: NDArray[Any]) -> NDArray[Any]:
    right = np.diagonal(tables, axis1=1, axis2=2)
    either = tables.sum(1) + tables.sum(2)
    each = np.divide(2.0 * right, either, out=np.zeros(right.shape), where=either > 0)
    return np.asarray(each.sum(1) / np.maximum((either > 0).sum(1), 1))


class Calibration(NamedTuple):
    """Whether probabilities match frequencies."""

    confidence: float  # mean probability of the predicted class
    error: float  # expected calibration error over equal bins
    log_loss: float
    brier: float
    bins: list[dict[str, float]]  # low, high, rows, confidence, accuracy; empty bins are left out

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


def calibration(probabilities: NDArray[Any], true: NDArray[Any]) -> Calibration:
    """Return the calibration of probabilities [row, class] against true classes."""
    count = len(true)
    top, right = probabilities.max(1), probabilities.argmax(1) == true
    place = np.minimum((top * BINS).astype(int), BINS - 1)
    bins = []
    for number in range(BINS):
        inside = place == number
        if inside.any():
            means = {"confidence": float(top[inside].mean()), "accuracy": float(right[inside].mean())}
            bins.append({"low": number / BINS, "high": (number + 1) / BINS, "rows": int(inside.sum()), **means})
    error = sum(one["rows"] * abs(one["confidence"] - one["accuracy"]) for one in bins) / count
    given = probabilities[np.arange(count), true]
    wanted = np.eye(probabilities.shape[1])[true]
    brier = float(((probabilities - wanted) ** 2).sum(1).mean())
    return Calibration(float(top.mean()), error, float(-np.log(np.maximum(given, LEAST)).mean()), brier, bins)


def most_confident_mistakes(probabilities: NDArray[Any], true: NDArray[Any], count: int) -> Sequence[int]:
    """Return the numbers of the wrong rows whose prediction was most confident, the most confident first."""
    wrong = np.flatnonzero(probabilities.argmax(1) != true)
    order = np.argsort(-probabilities[wrong].max(1), kind="stable")[:count]
    return [int(row) for row in wrong[order]]
