"""The program of an encoder-decoder: two stacks in one list of steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassformer as gf
from glassformer.numbers import run
from glassformer.program import build
from glassformer.spec import Seq2SeqSpec

SMALL = "seq2seq d_model=8 heads=2 d_ff=12 layers=1 vocab=11"


@st.composite
def seq2seq_specs(draw):
    """Small encoder-decoders of every kind."""
    heads = draw(st.sampled_from([1, 2, 4]))
    fields = {
        "d_model": 8,
        "heads": heads,
        "kv_heads": draw(st.sampled_from([None, 1])),
        "layers": draw(st.integers(0, 2)),
        "d_ff": 12,
        "vocab": 11,
        "positions": 9,
        "norm": draw(st.sampled_from(["pre", "post"])),
        "norm_kind": draw(st.sampled_from(["layer", "rms"])),
        "position": draw(st.sampled_from(["none", "learned", "sinusoidal", "sinusoidal_halves", "relative", "rotary"])),
        "activation": draw(st.sampled_from(["relu", "geglu", "swiglu"])),
        "biases": draw(st.sampled_from(["all", "none"])),
        "embedding_scale": draw(st.sampled_from(["none", "sqrt_d_model"])),
        "d_k": 8,
    }
    decoder = {
        "layers": draw(st.integers(0, 2)),
        "tie": draw(st.booleans()),
        "output_scale": draw(st.sampled_from(["none", "sqrt_d_model"])),
        "token_norm": draw(st.booleans()),
        "logit_offset": draw(st.booleans()),
    }
    return Seq2SeqSpec().replace(**fields, decoder=decoder, share_tokens=draw(st.booleans()))


def weights_of(program, seed=0):
    rng = np.random.default_rng(seed)
    return {one.name: rng.normal(size=one.tensor.shape) for one in program.parameters}


def some_run(spec, t=4, u=5, padded=False, **inputs):
    program = build(spec, t=t, u=u, padded=padded)
    rng = np.random.default_rng(1)
    tokens, target = rng.integers(0, 11, (1, 9))[:, :t], rng.integers(0, 11, (1, 9))[:, :u]
    return run(program, weights_of(program), {"tokens": tokens, "target": target, **inputs})


@settings(max_examples=25, deadline=None)
@given(seq2seq_specs())
def test_a_later_target_token_changes_no_earlier_output(spec):
    found, changed = some_run(spec), some_run(spec, target=np.array([[*some_run(spec)["target"][0, :3], 9, 10]]))
    assert np.array_equal(found["head.logits"][:, :3], changed["head.logits"][:, :3])


@settings(max_examples=25, deadline=None)
@given(seq2seq_specs())
def test_padding_on_either_side_changes_nothing(spec):
    alone = some_run(spec)
    tokens, target = alone["tokens"], alone["target"]
    padded = some_run(
        spec, 6, 7, padded=True,
        tokens=np.pad(tokens, ((0, 0), (0, 2))), attend=np.pad(np.ones((1, 4), int), ((0, 0), (0, 2))),
        target=np.pad(target, ((0, 0), (0, 2))), attend_target=np.pad(np.ones((1, 5), int), ((0, 0), (0, 2))),
    )  # fmt: skip
    assert np.abs(padded["head.logits"][:, :5] - alone["head.logits"]).max() < 1e-12


@settings(max_examples=25, deadline=None)
@given(seq2seq_specs())
def test_every_cell_opens_to_what_it_is(spec):
    found = some_run(spec, t=2, u=3)
    rng = np.random.default_rng(2)
    for step in found.program.steps:
        cell = {axis.name: int(rng.integers(axis.size)) for axis in step.output.axes}
        value = step.opened(cell, found.values).evaluate(found.values)
        wanted = found[step.name][step.output.at(cell)]
        assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9) or (np.isnan(value) and np.isnan(wanted)), step.name


def test_cross_attention_reads_the_source():
    program = gf.build(SMALL, t=3, u=4)
    scores = program.step_of["decoder.layers.0.cross.scores"].output
    assert [(axis.name, axis.size) for axis in scores.axes] == [("batch", 1), ("head", 2), ("u", 4), ("s", 3)]
    assert scores.block.kind == "cross"
    found = some_run(program.spec, t=3, u=4)
    moved = some_run(program.spec, t=3, u=4, tokens=np.array([[1, 2, 3]]))
    assert np.abs(found["head.logits"] - moved["head.logits"]).max() > 1e-3


def test_both_stacks_share_one_token_table_with_the_logits():
    program = gf.build(SMALL)
    assert [one.name for one in program.parameters if one.role == "token"] == ["encoder.embeddings.E_token"]
    assert program.shared["decoder.embeddings.E_token"] == program.shared["head.W_vocab"] == "encoder.embeddings.E_token"
    apart = gf.count(SMALL, share_tokens=False, **{"decoder.tie": False})
    assert apart.total == gf.count(SMALL).total + 2 * 11 * 8


def test_a_logit_offset_is_added_and_not_counted():
    spec = gf.spec(SMALL, **{"decoder.logit_offset": True})
    program = build(spec, t=2, u=2)
    assert [one.name for one in program.constants] == ["head.c_vocab"]
    assert gf.count(spec).total == gf.count(SMALL).total
    inputs = {"tokens": [[1, 2]], "target": [[1, 2]]}
    offset = np.arange(11.0)
    plain, moved = (run(program, weights_of(program) | extra, inputs) for extra in ({}, {"head.c_vocab": offset}))
    assert np.allclose(moved["head.logits"] - plain["head.logits"], offset)


def test_relative_positions_of_a_decoder_look_back_in_all_buckets():
    program = gf.build(SMALL, position="relative", relative_buckets=8, relative_distance=16, t=20, u=20)
    tables = [step.operation.buckets(8) for step in program.steps if step.role == "relative bias"]
    assert [len(np.unique(table)) for table in tables] == [7, 8]
    assert (tables[1][0] == 0).all()  # later keys, which are masked, are at distance 0


def test_cost_counts_each_side_with_its_own_length():
    short, long = (gf.cost(SMALL, t=t, u=4).parts for t in (4, 8))
    assert long["encoder: layers: feed-forward"].multiply_adds == 2 * short["encoder: layers: feed-forward"].multiply_adds
    assert long["decoder: layers: attention"] == short["decoder: layers: attention"]
    assert long["decoder: layers: cross-attention"].multiply_adds > short["decoder: layers: cross-attention"].multiply_adds
    assert gf.cost("t5-small-seq2seq", t=16, u=8).matrix_flops == 1_325_662_208  # as PyTorch's counter says of transformers' T5
