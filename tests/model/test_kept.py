"""What the encoder states about its activations can be read without torch; test_memory.py holds it against a real step."""

import pytest
from test_architecture import python_without_torch

import glassformer as gf
from glassformer.model.kept import COMPILED, FUSED, KERNELS


def test_it_is_stated_without_torch():
    done = python_without_torch(
        "import glassformer as gf\nprint(gf.cost('bert-tiny', train=True, kernel='compiled').memory.total)"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == gf.cost("bert-tiny", train=True, kernel="compiled").memory.total


def test_every_kernel_states_its_own_name():
    assert {name: memory_model.kernel for name, memory_model in KERNELS.items()} == {name: name for name in KERNELS}


@pytest.mark.parametrize(("activation", "replaced"), [("gelu", True), ("relu", True), ("quick_gelu", False), ("swiglu", False)])
def test_an_activation_overwrites_its_input_where_nothing_else_reads_that(activation, replaced):
    assert bool(FUSED.in_place(gf.spec("bert-base", activation=activation))) == replaced


def test_only_compiled_layers_recompute_activations():
    assert not FUSED.recomputed
    assert COMPILED.recomputed
