"""Beam search over the run itself: the hypotheses that were kept after each token, with their scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, needs_torch
from glassformer.lab.documents import trace as documents
from glassformer.lab.pages.trace_models import Model
from glassformer.lab.pages.trace_target import Target
from glassformer.lab.pages.trace_written import LARGEST_WRITER, MOST_WRITTEN, names_of
from glassformer.numbers import Run
from glassformer.numbers.keep import KeptValues
from glassformer.program import build
from glassformer.program.axes import Array
from glassformer.spec import Seq2SeqSpec

WIDEST = 8


def next_logs(run: Run, rows: list[list[int]]) -> Array:
    """Log-probabilities of the token after each row of the target, in float64; the source is that of the run."""
    sizes = run.program.sizes
    program = build(run.program.spec, batch=len(rows), t=sizes.t, u=len(rows[0]))
    values: dict[str, Array] = dict(run.values) | {"target": np.array(rows)}
    for step in program.steps:
        if step.block.stack == "encoder":  # the same for all rows
            batched = step.output.axes[0].name == "batch"
            values[step.name] = np.broadcast_to(values[step.name], step.output.shape) if batched else values[step.name]
        else:
            values[step.name] = step.evaluate(values)
    logits = values[program.output.name][:, -1]
    highest = logits.max(-1, keepdims=True)
    found: Array = logits - highest - np.log(np.exp(logits - highest).sum(-1, keepdims=True))
    return found


@needs_torch
def beams_of(model: Model, text: str, target: Target | None, width: int) -> documents.Beams:
    """Search from the token that begins the target, `width` hypotheses at a time."""
    from glassformer.model.generation.generate import check_choice
    from glassformer.model.generation.recorded import recorded_search
    from glassformer.model.generation.settings import Choice

    spec = model.spec
    if not isinstance(spec, Seq2SeqSpec) or not spec.predicts_next or target is None:
        raise GlassformerError("beam search needs an encoder-decoder that predicts tokens: this model has no such decoder.")
    if not 1 <= width <= WIDEST:
        raise GlassformerError(f"beams={width} is not allowed here: the lab follows 1 to {WIDEST} hypotheses.")
    read = model.run(model.prepared(text, "", target), None)
    _require_small(read)
    start = [int(token) for token in model.special.start or read["target"][0, :1]]
    most = MOST_WRITTEN if spec.decoder.longest is None else min(MOST_WRITTEN, spec.decoder.longest - 1)
    choice = Choice(max_new_tokens=most, beams=width)
    check_choice(spec.decoder, choice)
    best, steps = recorded_search(partial(next_logs, read), start, choice, model.special)

    def told(ids: list[int], score: float) -> documents.Hypothesis:
        return {"ids": ids, "words": names_of(model, read, ids), "score": score}

    return {
        "width": width,
        "start": len(start),
        "steps": [[told(*one) for one in kept] for kept in steps],
        "best": told([*start, *best.tokens], best.score),
        "ended": best.ended,
    }


def _require_small(run: Run) -> None:
    parameters: Any = sum(parameter.size for parameter in run.program.parameters)
    if isinstance(run.values, KeptValues) or parameters > LARGEST_WRITER:
        raise GlassformerError(
            f"this model has {parameters:,} parameters, too many to search in float64: use 'glassformer translate --beams'."
        )
