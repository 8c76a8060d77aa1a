"""The ledger of a number: it adds up, for any encoder, by any rules."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import specs

from glassformer.errors import GlassformerError
from glassformer.numbers import open_checkpoint
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.seeded import seeded_run
from glassformer.program.operations import Normalise
from glassformer.spec import EncoderSpec

ALL_RULES = [
    Rules(depth=depth, norms=norms, patterns=patterns, activations=activations)
    for depth, norms, patterns, activations in itertools.product(
        ("direct", "input"), ("held", "opened"), ("held", "opened"), ("secant", "slope")
    )
]
NUMBERS_EACH = 10


EPSILON = 1e-15


def adds_up(found):
    """To 1e-9 of the number, plus rounding: terms may cancel, and a norm multiplies their rounding by 1 / deviation.

    Where all features of a position are equal, that factor is 1 / √eps, a million for eps=1e-12.
    """
    steps = found.run.program.steps
    factors = [float(np.abs(found.run[step.inputs[-1].name]).min()) + step.operation.eps for step in steps if is_norm(step)]
    return abs(found.gap) <= 1e-9 * abs(found.value) + EPSILON * max([10.0, *(factor**-0.5 for factor in factors)])


def is_norm(step):
    return isinstance(step.operation, Normalise)


@settings(max_examples=100, derandomize=True)
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


def test_a_masked_score_is_refused():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, layers=1, attend="causal"), t=3)
    with pytest.raises(GlassformerError, match=r"layers\.0\.attention\.masked is -inf here, which is not a sum"):
        found.contributions("layers.0.attention.masked", head=0, t=0, s=2)


def test_by_slope_the_remainder_is_a_line_of_its_own():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, d_ff=6, layers=1, activation="gelu"), t=3)
    ledger = found.contributions("layers.0.ffn.out", Rules(depth="input", activations="slope"), t=1, d_model=2)
    lines = [line for line in ledger.lines if line.part == "remainder"]
    assert [line.name for line in lines] == ["layers.0.ffn.active"]
    assert abs(lines[0].value) > 1e-6
    assert adds_up(ledger)


def test_a_ledger_of_wrong_shares_does_not_add_up():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, d_ff=6, layers=1), t=3)
    ledger = found.contributions("layers.0.out", t=1, d_model=2)
    assert adds_up(ledger)
    assert not adds_up(replace(ledger, lines=ledger.lines[1:]))


def test_heads_and_source_positions_of_a_mix_are_its_weights_times_its_values():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, layers=1), t=3)
    ledger = found.contributions("layers.0.attention.mix", t=1, head=1, d_v=0)
    weights, values = found["layers.0.attention.weights"][0, 1, 1], found["layers.0.attention.v"][0, :, 1, 0]
    expected = {(1, s): weights[s] * values[s] for s in range(3) if weights[s] * values[s]}
    assert ledger.by("head", "position") == pytest.approx(expected)


def test_a_field_that_lines_have_not_is_refused():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, layers=1), t=3)
    with pytest.raises(GlassformerError, match="lines have no field colour: they have part, name, layer"):
        found.contributions("layers.0.out", t=0, d_model=0).by("colour")


def test_a_coordinate_of_minilm_is_the_sum_of_its_contributions_by_every_rule(minilm):
    found = open_checkpoint(minilm).run(text="a river bank")
    for rules in ALL_RULES:
        assert adds_up(found.contributions("layers.5.out", rules, t=0, d_model=7))


def test_random_numbers_of_minilm_are_sums_to_1e_9_of_themselves_without_allowance(minilm):
    found = open_checkpoint(minilm).run(text="a river bank")
    draw = np.random.default_rng(0)
    steps = [step.output for step in found.program.steps]
    for rules in ALL_RULES:
        tensor = steps[draw.integers(len(steps))]
        cell = {axis.name: int(draw.integers(axis.size)) for axis in tensor.axes}
        ledger = found.contributions(tensor.name, rules, **cell)
        assert abs(ledger.gap) <= 1e-9 * abs(ledger.value), (tensor.name, cell, rules)
        assert rules.activations == "slope" or ledger.remainder == 0
