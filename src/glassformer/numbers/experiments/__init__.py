"""Experiments that test textbook claims with actual numbers: order, heads, scaling, padding, norm, and so on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.numbers.experiments.causal import Causal, causal
from glassformer.numbers.experiments.convention import Convention, convention
from glassformer.numbers.experiments.experiment import Check, Experiment
from glassformer.numbers.experiments.explanation import Explanation, explanation
from glassformer.numbers.experiments.folding import Folding, folding
from glassformer.numbers.experiments.heads import Heads, heads
from glassformer.numbers.experiments.norm import Norm, norm
from glassformer.numbers.experiments.order import Order, order
from glassformer.numbers.experiments.padding import Padding, padding
from glassformer.numbers.experiments.scaling import Scaling, scaling
from glassformer.numbers.experiments.teacher_forcing import TeacherForcing, teacher_forcing
from glassformer.numbers.weights import check_seed

EXPERIMENTS: dict[str, Callable[..., Experiment]] = {
    "order": order,
    "heads": heads,
    "scaling": scaling,
    "padding": padding,
    "norm": norm,
    "convention": convention,
    "causal": causal,
    "teacher-forcing": teacher_forcing,
    "explanation": explanation,
    "folding": folding,
}

CLAIMS: dict[str, str] = {
    kind.name: kind.claim
    for kind in (Order, Heads, Scaling, Padding, Norm, Convention, Causal, TeacherForcing, Explanation, Folding)
}


def experiment(name: str, *, seed: int = 0, text: str | None = None, **fields: Any) -> Experiment:
    """Run an experiment, optionally with some fields of its encoder changed: `experiment("order", d_model=32)`."""
    if not isinstance(name, str) or name not in EXPERIMENTS:
        raise GlassformerError(
            f"unknown experiment '{shown(name)}'.{nearest(shown(name), EXPERIMENTS)} 'glassformer experiment' lists them."
        )
    check_seed(seed)
    words = {} if text is None else {"text": text}
    if words and "text" not in inspect.signature(EXPERIMENTS[name]).parameters:
        raise GlassformerError(f"the experiment '{name}' uses random numbers as input, not text. Leave the text out.")
    return EXPERIMENTS[name](seed=int(seed), **words, **fields)


__all__ = [
    "CLAIMS",
    "EXPERIMENTS",
    "Causal",
    "Check",
    "Convention",
    "Experiment",
    "Explanation",
    "Folding",
    "Heads",
    "Norm",
    "Order",
    "Padding",
    "Scaling",
    "TeacherForcing",
    "experiment",
]
