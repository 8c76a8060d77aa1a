"""The cases that laws are held against: random specs with random weights and inputs, the same ones every time."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from laws.ways import PROGRAM, Given, Weights
from model_cases import rich_specs

from glassformer.numbers import random_weights
from glassformer.program import build
from glassformer.spec import EncoderSpec

BATCH, LENGTH, LONGEST = 3, 5, 8  # `specs()` has tables of 8 positions
# A norm divides by a row's spread: where that is all but nothing, the last digits of both sides are magnified, and a
# comparison says nothing about the code.
SPREAD = 0.2


@dataclass(frozen=True)
class Case:
    """A spec, and the weights and inputs that a number makes."""

    spec: EncoderSpec
    seed: int

    @cached_property
    def weights(self) -> Weights:
        return random_weights(build(self.spec), self.seed)

    @cached_property
    def given(self) -> Given:
        return self.inputs()

    def inputs(self, *, length: int = LENGTH, number: int = 0) -> Given:
        """Random inputs; another `number` gives others."""
        spec, rng = self.spec, np.random.default_rng([self.seed, number])
        segments = None if spec.segments is None else rng.integers(0, spec.segments, (BATCH, length))
        if spec.reads == "tokens":
            return Given(rng.integers(0, spec.vocab or 0, (BATCH, length)), segments)
        shapes = {"image": spec.picture_shape, "frames": (spec.mels or 0, spec.frames)}
        shape = (BATCH, *shapes.get(spec.reads, (length, spec.d_model)))
        return Given(rng.normal(size=shape), segments)

    def changed(self, **changes: Any) -> dict[str, Any]:
        """The weights, some of them passed through a function: chosen by symbol (`W_Q=…`), for every layer."""
        symbols = {name: changes.get(name.rpartition(".")[2]) for name in self.weights}
        return {name: value if symbols[name] is None else symbols[name](value) for name, value in self.weights.items()}

    def rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 99])

    @cached_property
    def spread(self) -> float:
        """The least root of a variance that any norm divides by."""
        found = PROGRAM.run(self.spec, self.weights, self.given)
        least = [found[name].min() for name in found if name.endswith((".variance", ".mean_square"))]
        return float(np.sqrt(min(least, default=1.0)))


@lru_cache(maxsize=2048)
def case_of(spec: EncoderSpec, number: int) -> Case | None:
    """A case of the spec whose norms divide by no small number; None where a few tries give none."""
    tries = (Case(spec, 1000 * number + again) for again in range(8))
    return next((case for case in tries if case.spread > SPREAD), None)


@lru_cache(maxsize=8)
def drawn(count: int) -> tuple[EncoderSpec, ...]:
    """So many different random specs, the same ones every time."""
    found: dict[EncoderSpec, None] = {}

    @seed(2017)
    @settings(
        max_examples=300 + 2 * count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(rich_specs())
    def collect(spec: EncoderSpec) -> None:
        # A gate reads one head's share of the features, weight norm and shares of layers cost the same for any batch, and there
        # is a share for each layer: laws about heads, batches and layers do not hold there.
        if not (spec.raw_sound or spec.relative_gate or spec.layer_sum):
            found[spec] = None

    collect()
    specs = list(found)  # the first ones are simple, and many are neighbours of each other
    random.Random(2017).shuffle(specs)
    return tuple(specs[:count])


def cases(count: int, *, reads: str | None = None) -> list[Case]:
    """So many cases, of specs that read this: random specs in turn, each again with other numbers where they run out."""
    found: list[Case] = []
    for number in range(20):
        for spec in drawn(min(500, max(60, count))):
            case = case_of(spec, number) if reads is None or spec.reads == reads else None
            if case is not None:
                found.append(case)
            if len(found) == count:
                return found
    raise AssertionError("too few cases")


def counts(few: int, many: int) -> pytest.MarkDecorator:
    """How many cases a test looks at: a few always, many in the slow tests."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.slow)])
