"""The token with the largest attention weight, and the tokens that known mistakes would choose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.quiz.marking import Wrong
from glassformer.answers.quiz.phrases import Phrase, squashed
from glassformer.answers.quiz.worked import Worked
from glassformer.errors import GlassformerError

CLEAR = 0.05  # the smallest difference between the two largest weights


def largest(work: Worked) -> Phrase:
    """Return the key for the token with the largest weight in one row of weights."""
    weights = work.value
    if weights.ndim != 1 or weights.size < 3:
        raise GlassformerError("pick = 'largest' needs one row of at least three weights: give the problem a query.")
    ranked = np.sort(weights)
    if ranked[-1] - ranked[-2] < CLEAR:
        raise GlassformerError("the two largest weights are too close: choose other parameters.")
    labels = work.solution_.labels.get("s") or tuple(f"token {place + 1}" for place in range(weights.size))
    right = labels[int(weights.argmax())]
    found: dict[str, Wrong] = {}
    for code, what, place in _looked_at(work, labels):
        label = labels[place]
        if label != right:
            found.setdefault(label, Wrong(label, squashed(label), mistake(code), what))
    listed = ", ".join(f"{label} {weight:.3f}" for label, weight in zip(labels, weights, strict=True))
    because = f"weights: {listed}; {right} has the largest"
    return Phrase((right,), tuple(found.values()), because, work=work, wanted="one of the tokens")


def _looked_at(work: Worked, labels: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield mistakes: a code, a description, and the index of the token that it chooses."""
    values, query = work.solution_.run.values, work.solution_.problem.option("query")
    if "k" in values and values["k"].ndim == 2:
        longest = int(np.linalg.norm(values["k"], axis=-1).argmax())
        yield "longest_key", "the longest key, regardless of its direction", longest
    if query in labels:
        yield "query_attends_to_itself", "the query's own token", labels.index(query)
    yield "sign_of_scores", "the smallest score mistaken for the largest", int(work.value.argmin())
    for place in range(work.value.size):
        yield "scores_not_compared", "neither the largest score nor the largest weight", place
