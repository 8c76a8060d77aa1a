"""Random numbers of random models of every kind, and the law that they are held to: a number is the sum of its ledger."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from model_cases import rich_specs
from strategies import decoder_specs
from tiny_models import BUILT, BUILT_VARIANTS, NOT_IN_TRANSFORMERS, inputs_for

from glassformer.configs.huggingface import from_config
from glassformer.numbers import Run, legible_weights, random_weights, run
from glassformer.numbers.contributions.ledger import Contributions
from glassformer.numbers.contributions.rules import Rules
from glassformer.program import build

EVERY_RULE = [
    Rules(depth=depth, norms=norms, patterns=patterns, activations=activations)
    for depth, norms, patterns, activations in itertools.product(
        ("direct", "input"), ("held", "opened"), ("held", "opened"), ("secant", "slope")
    )
]
OPENED = Rules(depth="input", norms="opened", patterns="opened")
LAST_BITS = 2.0**-50


def agrees(found: Contributions) -> bool:
    """|sum of contributions + remainder − value| ≤ 1e-9 · |value|."""
    return abs(found.gap) <= 1e-9 * abs(found.value)


def cancels(found: Contributions, name: str, cell: dict[str, int]) -> bool:
    """A number far below its own lines, and a gap of no more than the last bit of these, or of the number itself.

    The lines are float64 numbers, so their sum has no more digits.
    """
    lines = sum(abs(line.value) for line in found.lines)
    bits = max(LAST_BITS * lines, 4 * own_rounding(found.run, name, cell))
    return abs(found.value) < 1e-6 * max(lines, 1e9 * bits) and abs(found.gap) <= bits


def own_rounding(found: Run, name: str, cell: dict[str, int], *, times: int = 4) -> float:
    """How far the number itself moves when parameters and inputs change in their last bits: it is not known any better."""
    tensor, program = found.tensor(name), found.program
    rng = np.random.default_rng(0)

    def shaken(value: Any) -> Any:
        return value * (1 + LAST_BITS * rng.normal(size=value.shape)) if value.dtype.kind == "f" else value

    given = [tensor.name for tensor in program.inputs]
    moved = []
    for _ in range(times):
        weights = {parameter.name: shaken(found.values[parameter.name]) for parameter in program.parameters}
        again = run(program, weights, {one: shaken(found.values[one]) for one in given if one in found.values})
        moved.append(abs(again[name][tensor.at(cell)] - found[name][tensor.at(cell)]))
    return max(moved)


def draws(found: Run, count: int, draw: np.random.Generator) -> Iterator[tuple[str, dict[str, int], Rules]]:
    """Some numbers of a run, each with a rule; masked scores, which are −∞, are left out."""
    steps = [step.output for step in found.program.steps]
    for _ in range(count if steps else 0):
        tensor = steps[draw.integers(len(steps))]
        cell = {axis.name: int(draw.integers(axis.size)) for axis in tensor.axes}
        if np.isfinite(found[tensor.name][tensor.at(cell)]):
            yield tensor.name, cell, EVERY_RULE[draw.integers(len(EVERY_RULE))]


def random_runs(count: int) -> list[Run]:
    """Random encoders and decoders, in turn with quarters and with normal numbers as weights."""
    found: list[Run] = []

    @seed(2017)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.one_of(rich_specs(), rich_specs(), decoder_specs()), st.integers(0, 2**31))
    def collect(spec: Any, number: int) -> None:
        program = build(spec, batch=2, t=None if spec.one_length else 3)
        weights = (legible_weights, random_weights)[len(found) % 2]
        found.append(run(program, weights(program, number), inputs_of(program, number)))

    collect()
    return found


def inputs_of(program: Any, number: int) -> dict[str, Any]:
    rng, first = np.random.default_rng(number), program.inputs[0]
    if program.spec.vocab is not None:
        return {first.name: rng.integers(0, program.spec.vocab, first.shape)}
    return {first.name: rng.normal(size=first.shape)}


FAMILY_CASES = [case for case in (*BUILT, *BUILT_VARIANTS) if case.family not in NOT_IN_TRANSFORMERS]


def family_run(case: Any) -> Run:
    """A small model of a published family, from its config, with normal numbers as weights."""
    spec = from_config({**case.config, "model_type": case.family}, as_class=case.model_class).spec
    inputs = inputs_for(case, padded=spec.vocab is not None)
    first = next(iter(inputs.values()))
    program = build(spec, batch=2, t=None if spec.one_length else first.shape[1], padded="attend" in inputs)
    return run(program, random_weights(program, 1), {name: inputs[name] for name in inputs})
