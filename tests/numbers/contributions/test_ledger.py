"""The ledger of a number: it adds up, for any encoder, by any rules."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import specs

from glassformer.numbers import open_checkpoint
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.seeded import seeded_run

ALL_RULES = [
    Rules(depth=depth, norms=norms, patterns=patterns, activations=activations)
    for depth, norms, patterns, activations in itertools.product(
        ("direct", "input"), ("held", "opened"), ("held", "opened"), ("secant", "slope")
    )
]
NUMBERS_EACH = 10


def adds_up(found):
    return abs(found.gap) <= 1e-9 * abs(found.value)


@settings(max_examples=100)
@given(specs(), st.integers(0, 2**31))
def test_1_000_random_numbers_of_random_encoders_are_the_sum_of_their_contributions(spec, seed):
    found = seeded_run(spec, batch=2, t=None if spec.one_length else 3, seed=seed)
    draw = np.random.default_rng(seed)
    steps = [step.output for step in found.program.steps]
    for _ in range(NUMBERS_EACH if steps else 0):
        tensor = steps[draw.integers(len(steps))]
        cell = {axis.name: int(draw.integers(axis.size)) for axis in tensor.axes}
        if np.isfinite(found[tensor.name][tensor.at(cell)]):
            rules = ALL_RULES[draw.integers(len(ALL_RULES))]
            ledger = found.contributions(tensor.name, rules, **cell)
            assert adds_up(ledger), (tensor.name, cell, rules, ledger.value, ledger.gap)
            if rules.activations == "secant":
                assert ledger.remainder == 0


def test_a_coordinate_of_minilm_is_the_sum_of_its_contributions_by_every_rule(minilm):
    found = open_checkpoint(minilm).run(text="a river bank")
    for rules in ALL_RULES:
        assert adds_up(found.contributions("layers.5.out", rules, t=0, d_model=7))
