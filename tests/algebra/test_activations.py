"""Activations: each statement about stored tensors changes the bytes by their size."""

from dataclasses import replace
from fractions import Fraction

import pytest

import glassformer as gf
from glassformer.algebra.activations import Activations, prediction_steps
from glassformer.program.kept import MATERIALISED

SIZES = {"d_model": 16, "heads": 4, "d_ff": 64, "layers": 3, "t": 10, "batch": 2, "dropout": 0.0}
WIDTH = 4


def activations(program, **stated):
    return Activations(program, replace(MATERIALISED, **stated), WIDTH)


def saved_bytes(program, **stated):
    return sum(one.size for one in activations(program, **stated).saved().values())


@pytest.fixture
def program():
    return gf.build("layer", **SIZES)


def test_recomputed_activations_are_not_saved(program):
    less = saved_bytes(program) - saved_bytes(program, recomputed=("ffn activation",))
    assert less == WIDTH * 3 * 2 * 10 * 64


def test_a_fused_kernel_saves_one_number_a_row_of_weights(program):
    less = saved_bytes(program) - saved_bytes(program, fused_attention=True)
    assert less == WIDTH * 3 * 2 * 4 * 10 * (10 - 1)


def test_parts_of_one_tensor_are_saved_together():
    program = gf.build("layer", **SIZES, position="rotary")
    alone, together = (activations(program, one_tensor=roles).saved() for roles in ((), ("query", "key", "value")))
    assert {*together} - {*alone} == {f"layers.{layer}.attention.{one}" for layer in range(3) for one in "qk"}


def test_the_input_of_a_layer_may_be_held_until_its_end(program):
    assert activations(program, holds_layer_input=True).most_alive() >= activations(program).most_alive()


def test_results_written_in_place_take_no_memory():
    program = gf.build("layer", **SIZES | {"d_ff": 1000})
    less = activations(program).most_alive() - activations(program, in_place=lambda _: ("ffn activation",)).most_alive()
    assert less == WIDTH * 2 * 10 * (1000 - 16)  # the peak is then one step later, when the output is there too


def test_dropout_saves_a_mask_of_its_input():
    with_dropout = activations(gf.build("layer", **SIZES | {"layers": 1, "dropout": 0.1})).saved()
    masks = [name for name in with_dropout if name.endswith("mask")]
    assert masks == [f"layers.0.{name}: dropout mask" for name in ("attention.weights", "attention.out", "ffn.out")]


def test_a_masked_token_head_is_computed_where_it_predicts():
    program = gf.build("bert-tiny", head="mlm", t=8)
    steps = [program.step_of[name] for name in prediction_steps(program, MATERIALISED)]
    assert {step.block.part for step in steps} == {"head"}
    after = prediction_steps(program, replace(MATERIALISED, predicts_after="mix"))
    assert after[0] == "layers.1.attention.out"
    assert Activations(program, MATERIALISED, WIDTH, Fraction(1, 2)).shares == dict.fromkeys(
        [step.name for step in steps], Fraction(1, 2)
    )
    assert prediction_steps(gf.build("bert-tiny", t=8), MATERIALISED) == []
