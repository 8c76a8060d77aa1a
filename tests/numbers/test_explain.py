"""Any number opens down to its arithmetic, down to inputs and parameters."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shown_arithmetic import worked_out
from strategies import specs
from tiny_run import tiny

from glassformer.errors import GlassformerError
from glassformer.lab.cells import how
from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec


def test_a_mixed_value_is_the_sum_of_weights_times_values():
    found = tiny()
    opened = found.explain("layers.0.attention.mix", batch=0, t=1, head=0, d_v=3)
    weights, v = found["layers.0.attention.weights"], found["layers.0.attention.v"]
    assert opened.rule == "mix = weights v"
    assert [term.value for term in opened.terms] == sorted(weights[0, 0, 1] * v[0, :, 0, 3], key=lambda x: -abs(x))
    assert {ref.tensor.symbol for ref in opened.refs} == {"weights", "v"}


def test_explanations_end_at_parameters_and_inputs():
    opened = tiny().explain("layers.0.attention.q", batch=0, t=1, head=0, d_k=0)
    while opened.expression is not None:
        opened = opened.open(0)
    assert opened.source in ("parameter", "input")
    assert opened.terms == []


def test_the_four_steps_of_a_layer_norm():
    found = tiny()
    cell = {"batch": 0, "t": 1}
    out = found.explain("layers.0.norm_1", **cell, d_model=2)
    normalised = found.explain("layers.0.norm_1.normalised", **cell, d_model=2)
    assert out.rule == "norm_1 = γ ⊙ normalised + β"
    assert normalised.rule == "normalised = (sum_1 − mean) / √(σ² + 1e-05)"
    assert found.explain("layers.0.norm_1.variance", **cell).rule == "variance = mean((sum_1 − mean)²) over d_model"
    assert "√(" in normalised.numbers()


def test_a_softmax_shows_its_exponentials():
    opened = tiny().explain("layers.0.attention.weights", batch=1, head=0, t=0, s=1)
    assert opened.numbers().startswith("exp(")
    assert "exp(−∞)" in opened.numbers()
    assert len(opened.terms) == 4


def test_a_masked_score_gives_the_reason():
    opened = tiny().explain("layers.0.attention.masked", batch=1, head=0, t=0, s=3)
    assert opened.numbers() == "−∞ (padding)"


def test_a_token_is_explained_by_its_row_of_the_table():
    opened = tiny().explain("embeddings.token", batch=0, t=3, d_model=5)
    assert [(ref.tensor.symbol, ref.cell["vocab"]) for ref in opened.refs] == [("E_token", 3)]


def test_long_sums_are_cut_and_the_rest_summed():
    program = build(EncoderSpec(d_model=64, heads=1, layers=1), t=2)
    found = run(program, legible_weights(program), {"x": np.ones((1, 2, 64))})
    opened = found.explain("layers.0.attention.q", t=0, head=0, d_k=0)
    assert "(57 more)" in opened.numbers()
    document = opened.to_dict(depth=0)
    assert len(document["terms"]) == 8
    assert document["rest"]["terms"] == 57
    assert sum(term["value"] for term in document["terms"]) + document["rest"]["sum"] == pytest.approx(opened.value)


def test_the_tree_prints_and_is_json():
    opened = tiny().explain("layers.1.out", batch=0, t=0, d_model=0)
    assert opened.text(depth=3).count("\n") > 10
    assert any(part["opens"] for part in opened.to_dict(depth=2)["opens"])
    assert repr(opened).startswith("<layers.1.out[batch 0, t 0, d_model 0] = ")


BAD = [
    ({"t": 0}, "a cell of layers.0.attention.q is selected by batch, t, head, d_k: batch is not given."),
    ({"batch": 0, "t": 0, "head": 0, "d_k": 0, "s": 1}, "it has no axis s."),
    ({"batch": 0, "t": 9, "head": 0, "d_k": 0}, "t=9 is out of range in layers.0.attention.q: t runs from 0 to 3."),
    ({"batch": 0, "t": "x", "head": 0, "d_k": 0}, "t=x is out of range"),
]


@pytest.mark.parametrize(("cell", "message"), BAD)
def test_an_invalid_cell_is_refused(cell, message):
    with pytest.raises(GlassformerError) as refusal:
        tiny().explain("layers.0.attention.q", **cell)
    assert message in str(refusal.value)


def test_a_fully_masked_row_shows_its_rule_and_not_zero_divided_by_zero():
    program = build(EncoderSpec(d_model=4, heads=2, layers=1, vocab=9), t=2, padded=True)
    found = run(program, legible_weights(program, 0), {"tokens": [[1, 2]], "attend": [[0, 0]]})
    opened = found.explain("layers.0.attention.weights", head=0, t=0, s=1)
    assert opened.value == 0
    assert opened.numbers() == "0 (all keys are masked: by convention the weights of such a row are 0)"


def shown_value(told, terms):
    """What the terms give under the sentence that the lab puts below them: their sum, divided, or one term's share of it."""
    total = math.fsum(terms)
    if told["kind"] == "share":
        return told["own"] / total
    return total / told["by"] if told["kind"] == "divided" else total


def assert_the_arithmetic_gives_the_value(opened):
    """Read from its text, in whole and cut to a few terms, and from the terms that the lab lists."""
    texts = [opened.numbers(digits=17, most=most) for most in (3, 10**6)]
    terms, told = [term.value for term in opened.terms], how(opened)
    if told["kind"] == "given":
        assert opened.source != "step"
        assert [worked_out(text) for text in texts] == pytest.approx([opened.value] * 2, rel=1e-9)
        return
    if not math.isfinite(opened.evaluated):
        assert not math.isfinite(opened.value)
        return
    room = 1e-9 * (1 + sum(map(abs, terms)) / min(1, abs(told.get("by", 1.0)) or 1))
    for found in (opened.evaluated, shown_value(told, terms), *map(worked_out, texts)):
        assert found == pytest.approx(opened.value, rel=1e-9, abs=room), (opened.label, texts)


def random_inputs(program, draws):
    """Something for every input; of padded texts, the first tokens are real."""
    spec, found = program.spec, {}
    for tensor in program.inputs:
        rows = {"tokens": spec.vocab, "segments": spec.segments}.get(tensor.name)
        if tensor.name == "attend":
            found[tensor.name] = np.arange(tensor.shape[1]) < draws.integers(1, tensor.shape[1] + 1, (tensor.shape[0], 1))
        else:
            found[tensor.name] = draws.normal(size=tensor.shape) if rows is None else draws.integers(0, rows, tensor.shape)
    return found


@settings(max_examples=100)
@given(specs(), st.integers(0, 10**6), st.booleans(), st.integers(0, 4))
def test_the_arithmetic_shown_gives_the_value_shown_before_and_after_any_edit(spec, seed, padded, edits):
    try:
        program = build(spec, batch=2, t=None if spec.one_length else 3, padded=padded and not spec.one_length)
    except GlassformerError:
        assume(False)
    draws = np.random.default_rng(seed)
    found = run(program, legible_weights(program, seed), random_inputs(program, draws))
    names = [name for name in found if found[name].size and found[name].dtype.kind == "f"]

    def cell_of(name):
        return tuple(int(draws.integers(size)) for size in found[name].shape)

    changes = {
        str(name): {cell_of(name): float(draws.choice([0.0, 1.0, -2.5, 40.0, -1000.0, 1e6]))}
        for name in draws.choice(names, min(edits, len(names)), replace=False)
    }
    with np.errstate(all="ignore"):  # a variance below 0 has no root
        after = found.what_if(changes).after
    cells = [(name, cell_of(name)) for name in names] + [(name, cell) for name, cells in changes.items() for cell in cells]
    for name, cell in cells:
        opened = after.explain(name, **{axis.name: place for axis, place in zip(after.tensor(name).axes, cell, strict=True)})
        assert_the_arithmetic_gives_the_value(opened)
        if cell in changes.get(name, {}) and opened.value != found[name][cell]:
            assert (opened.source, opened.was) == ("edit", found[name][cell])


def test_the_law_above_can_fail():
    found = tiny()
    found.values["layers.0.attention.scores"] = found["layers.0.attention.scores"] + 1.0  # replaced, and nobody was told
    with pytest.raises(AssertionError):
        assert_the_arithmetic_gives_the_value(found.explain("layers.0.attention.scores", batch=0, head=0, t=1, s=2))


def test_large_scores_are_shifted_by_the_exact_largest_score():
    after = tiny().what_if({"layers.0.attention.masked": {(0, 0, 1, 2): 12345678.75}}).after
    opened = after.explain("layers.0.attention.weights", batch=0, head=0, t=1, s=2)
    assert opened.numbers().startswith("exp(1.235e+07 − 1.235e+07) / (exp(")
    assert worked_out(opened.numbers(digits=17)) == opened.value == 1.0


def test_a_rotary_angle_is_written_as_it_is_computed():
    program = build(EncoderSpec(d_model=4, heads=1, layers=1, vocab=9, position="rotary"), t=3)
    found = run(program, legible_weights(program), {"tokens": [[1, 2, 3]]})
    opened = found.explain("layers.0.attention.q_rotated", t=2, head=0, d_k=1)
    assert "cos(2 / 10000^(2/4))" in opened.numbers()
    assert "cos(2)" in found.explain("layers.0.attention.q_rotated", t=2, head=0, d_k=0).numbers()


def test_a_scale_is_written_as_a_number():
    program = build(
        EncoderSpec(d_model=4, heads=1, layers=1, vocab=9, embedding_scale="sqrt_d_model", position="sinusoidal"), t=2
    )
    opened = run(program, legible_weights(program), {"tokens": [[1, 2]]}).explain("embeddings.scaled", t=0, d_model=1)
    assert opened.rule == "scaled = √d_model token"
    assert opened.numbers().startswith("√4 · ")


def test_a_negative_variance_is_explained_and_has_no_root():
    with np.errstate(invalid="ignore"):
        after = tiny().what_if({"layers.0.norm_1.variance": {(0, 1): -2.0}}).after
    opened = after.explain("layers.0.norm_1.normalised", batch=0, t=1, d_model=0)
    assert math.isnan(opened.value)
    assert math.isnan(opened.evaluated)
    assert "√(−2 + 1e-05)" in opened.numbers()
