"""A numerical check of contributions: that of a head or an activation is the slope of scaling it, by finite differences."""

import numpy as np
import pytest

from glassformer.numbers import Rules
from glassformer.numbers.seeded import seeded_run
from glassformer.spec import EncoderSpec

STEP = 1e-5
SIZES = {"d_model": 8, "heads": 2, "d_ff": 12, "layers": 2, "vocab": 20, "activation": "gelu"}


def scaled(run, name, factor, head=None):
    """A value, or one head of it, times a factor."""
    value = run[name].copy()
    where = value if head is None else value[:, :, head]
    where *= factor
    return value


def slope(run, changed, number, held=()):
    """The central difference of a number where `changed(factor)` is set; the values in `held` stay what they are."""
    fixed = {name: run[name] for name in held}
    up, down = (run.what_if({**fixed, **changed(1 + sign * STEP)}).after for sign in (1, -1))
    return (number(up) - number(down)) / (2 * STEP)


def slope_of_head(run, name, head, held):
    """The slope of the logit of class 2 when one head is scaled."""
    return slope(run, lambda factor: {name: scaled(run, name, factor, head)}, lambda after: after["head.logits"][0, 2], held)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("norm_kind", ["layer", "rms"])
def test_what_a_head_adds_is_the_slope_of_scaling_it_while_the_rule_holds_the_rest(norm, norm_kind):
    """By the rule, deviations of norms are held, and what other heads and feed-forward blocks write."""
    spec = EncoderSpec(**SIZES, norm=norm, norm_kind=norm_kind, head="classify", classes=3)
    run = seeded_run(spec, t=4, seed=3)
    ledger = run.contributions("head.logits", **{"class": 2})
    parts = ledger.by("part", "layer", "head")
    writers = [step.name for step in run.program.steps if step.role in ("mix", "ffn output", "variance")]
    assert len(writers) >= 4
    for layer in range(spec.layers):
        for head in range(spec.heads):
            name = f"layers.{layer}.attention.mix"
            held = [one for one in writers if one != name]
            found = slope_of_head(run, name, head, held)
            assert parts.get(("attention", layer, head), 0.0) == pytest.approx(found, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("activation", ["gelu", "relu", "silu", "tanh", "geglu"])
def test_what_an_activation_adds_by_slope_is_its_derivative(activation):
    spec = EncoderSpec(**{**SIZES, "activation": activation})
    run = seeded_run(spec, t=3, seed=1)
    name = "layers.0.ffn.hidden"
    ledger = run.contributions("layers.0.ffn.active", Rules(depth="input", activations="slope"), t=1, d_ff=5)
    found = slope(run, lambda factor: {name: scaled(run, name, factor)}, lambda after: after["layers.0.ffn.active"][0, 1, 5])
    assert ledger.total == pytest.approx(found, rel=1e-6, abs=1e-9)
    if activation != "relu":
        assert abs(ledger.remainder) > 1e-6
    assert ledger.total + ledger.remainder == pytest.approx(ledger.value, rel=1e-12, abs=1e-15)


def test_a_wrong_line_is_found_by_its_slope():
    run = seeded_run(EncoderSpec(**SIZES, head="classify", classes=3), t=4, seed=3)
    name = "layers.1.attention.mix"
    held = [step.name for step in run.program.steps if step.role in ("mix", "ffn output", "variance") and step.name != name]
    found = slope_of_head(run, name, 0, held)
    other = run.contributions("head.logits", **{"class": 2}).by("part", "layer", "head")[("attention", 1, 1)]
    assert not np.isclose(found, other, rtol=1e-3)
