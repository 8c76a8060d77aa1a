"""The ledger of a number: it adds up, for any model, by any rules."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from drawn_numbers import EVERY_RULE, FAMILY_CASES, OPENED, agrees, cancels, draws, family_run, random_runs

from glassformer.errors import GlassformerError
from glassformer.lab.pages.trace_models import HOME
from glassformer.numbers import Run, open_checkpoint, random_weights, run
from glassformer.numbers.contributions.ledger import Contributions
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.seeded import seeded_run
from glassformer.program import build
from glassformer.spec import DecoderSpec, EncoderSpec


def check_law(runs: Iterable[Run], each: int) -> list[Contributions]:
    """The ledgers of some numbers of each run; those that cancel are at most 1 in 100, and their gap is rounding."""
    found, cancelled = [], 0
    for number, one in enumerate(runs):
        for name, cell, rules in draws(one, each, np.random.default_rng(number)):
            ledger = one.contributions(name, rules, **cell)
            found.append(ledger)
            if not agrees(ledger):
                assert cancels(ledger, name, cell), (name, cell, rules, ledger.value, ledger.gap)
                cancelled += 1
            assert rules.activations == "slope" or ledger.remainder == 0, (name, rules)
    assert cancelled <= len(found) / 100, cancelled
    return found


@pytest.mark.parametrize("runs", [50, pytest.param(400, marks=pytest.mark.slow)])
def test_random_numbers_of_random_models_are_the_sums_of_their_contributions(runs):
    found = check_law(random_runs(runs), each=4)
    assert len(found) >= 3.5 * runs


@pytest.mark.parametrize("each", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_random_numbers_of_every_family_are_the_sums_of_their_contributions(each):
    found = check_law((family_run(case) for case in FAMILY_CASES), each)
    assert len(found) >= 0.9 * each * len(FAMILY_CASES)


@pytest.mark.parametrize("numbers", [32, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_numbers_of_minilm_are_the_sums_of_their_contributions(minilm, numbers):
    check_law([open_checkpoint(minilm).run(text="a river bank")], numbers)


@pytest.mark.parametrize("numbers", [32, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_numbers_of_a_trained_classifier_are_the_sums_of_their_contributions(numbers):
    check_law([open_checkpoint(HOME / "walk").run(text="The animal did not cross the street because it was too tired")], numbers)


def test_with_everything_opened_the_remainder_is_0():
    for number, one in enumerate(random_runs(20)):
        for name, cell, _ in draws(one, 2, np.random.default_rng(number)):
            ledger = one.contributions(name, OPENED, **cell)
            assert ledger.remainder == 0
            assert not [line for line in ledger.lines if line.part == "remainder"]


@pytest.mark.parametrize(
    "fields", [{"score_cap": 0.5, "logit_cap": 0.7}, {"norm_offset": True}, {"rotary_width": 2, "position": "rotary"}]
)
@pytest.mark.parametrize("rules", [OPENED, Rules(depth="input", activations="slope")])
def test_what_only_decoders_have_adds_up(fields, rules):
    program = build(DecoderSpec(vocab=9, d_model=8, heads=2, d_ff=6, layers=2, norm_kind="rms", **fields), batch=1, t=3)
    found = run(program, random_weights(program, 1), {"tokens": [[3, 1, 4]]})
    ledger = found.contributions("head.logits", rules, t=1, vocab=5)
    assert agrees(ledger)


def test_a_sigmoid_of_0_is_a_line_of_its_own():
    """A gate's sigmoid is 1/2 at 0, which no input gets."""
    spec = EncoderSpec(d_model=8, heads=2, layers=1, position="relative", relative_gate=True)
    program = build(spec, t=3)
    weights = random_weights(program, 0) | {
        name: 0 * value for name, value in random_weights(program, 0).items() if "gate" in name
    }
    found = run(program, weights, {"x": np.random.default_rng(0).normal(size=(1, 3, 8))})
    (parts,) = [step.output for step in found.program.steps if step.role == "gate parts"]
    ledger = found.contributions(parts.name, OPENED, **{axis.name: 0 for axis in parts.axes})
    assert (ledger.value, [(line.part, line.value) for line in ledger.lines if line.value]) == (0.5, [("bias", 0.5)])


def test_a_masked_score_is_refused():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, layers=1, attend="causal"), t=3)
    with pytest.raises(GlassformerError, match=r"layers\.0\.attention\.masked is -inf in this cell, which is not a sum"):
        found.contributions("layers.0.attention.masked", head=0, t=0, s=2)


def test_by_slope_the_remainder_is_a_line_of_its_own():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, d_ff=6, layers=1, activation="gelu"), t=3)
    ledger = found.contributions("layers.0.ffn.out", Rules(depth="input", activations="slope"), t=1, d_model=2)
    lines = [line for line in ledger.lines if line.part == "remainder"]
    assert [line.name for line in lines] == ["layers.0.ffn.active"]
    assert abs(lines[0].value) > 1e-6
    assert agrees(ledger)


def test_a_ledger_of_wrong_shares_does_not_add_up():
    found = seeded_run(EncoderSpec(d_model=4, heads=2, d_ff=6, layers=1), t=3)
    ledger = found.contributions("layers.0.out", t=1, d_model=2)
    assert agrees(ledger)
    assert not agrees(replace(ledger, lines=ledger.lines[1:]))


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
    for rules in EVERY_RULE:
        assert agrees(found.contributions("layers.5.out", rules, t=0, d_model=7))
