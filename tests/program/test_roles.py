"""Every tensor has a block and a role, and its name agrees with them."""

from typing import get_args

import pytest
from hypothesis import given, settings
from strategies import specs

import glassformer as gf
from glassformer.configs.presets import preset_names
from glassformer.program import build
from glassformer.program.program import Program, Sizes, Writer
from glassformer.program.roles import ENCODER, BlockKind, Role
from glassformer.spec import EncoderSpec


def disagreements(program: Program) -> list[str]:
    """What is wrong with the blocks, roles and names of a program."""
    hidden = {tensor.name for tensor in program.hidden}
    faults = []
    for tensor in program.tensors.values():
        given = tensor in program.inputs
        if tensor.role == "other" or tensor.role not in get_args(Role):
            faults.append(f"{tensor.name} has no role")
        if tensor.block.kind not in get_args(BlockKind) or (tensor.block == ENCODER) != given:
            faults.append(f"{tensor.name} has no block")
        named_after = {tensor.block.tensor(tensor.symbol)} | ({tensor.block.name} if tensor.role == "norm output" else set())
        if tensor.name not in named_after and tensor.name not in hidden:
            faults.append(f"{tensor.name} is not named after {tensor.block.name}")
    return faults


@given(specs())
@settings(max_examples=200)
def test_every_tensor_has_a_block_and_a_role_that_agree_with_its_name(spec):
    assert disagreements(build(spec, t=None if spec.one_length else 2, padded=not spec.one_length)) == []


@pytest.mark.parametrize("name", preset_names())
def test_every_tensor_of_a_preset_has_a_block_and_a_role_that_agree_with_its_name(name):
    program = gf.build(name)
    assert disagreements(program) == []
    for tensor in program.tensors.values():
        words = tensor.block.name.split(".") if tensor.block.name else []
        layers = [int(word) for word in words if word.isdecimal()]
        assert [block.word for block in tensor.block.path] == words
        assert [tensor.block.layer] == (layers or [None])


def test_a_symbol_has_one_role_in_each_kind_of_block():
    roles: dict[tuple[str, str], set[str]] = {}
    for program in map(gf.build, preset_names()):
        hidden = {tensor.name for tensor in program.hidden}
        for tensor in program.tensors.values():
            if tensor.name not in hidden:
                roles.setdefault((tensor.block.kind, tensor.symbol), set()).add(tensor.role)
    assert {key: found for key, found in roles.items() if len(found) > 1} == {}


def test_a_tensor_without_block_and_role_is_found():
    program = Program(EncoderSpec(), Sizes(1, 1))
    Writer(program).parameter("W", "other")
    block = ENCODER.inside("ffn", "ffn")
    Writer(program, block).parameter("W_1", "ffn hidden")
    program.parameters[-1] = program.parameters[-1]._replace(tensor=program.parameters[-1].tensor._replace(name="head.W_1"))
    assert disagreements(program) == ["W has no role", "W has no block", "head.W_1 is not named after ffn"]


def test_the_outputs_of_the_layers_are_listed():
    assert [tensor.name for tensor in gf.build("bert-base", layers=2).hidden] == ["x", "layers.0.out", "layers.1.out"]
    assert [tensor.name for tensor in gf.build("layer").hidden] == ["x", "layers.0.out"]


def test_the_last_step_of_a_layer_stays_in_the_block_that_made_it():
    made = {name: gf.build(name, layers=1).hidden[1] for name in ("bert-base", "vit-b16", "attention")}
    assert {name: (tensor.block.name, tensor.role) for name, tensor in made.items()} == {
        "bert-base": ("layers.0.norm_2", "norm output"),
        "vit-b16": ("layers.0", "ffn residual"),
        "attention": ("layers.0.attention", "attention output"),
    }


def test_a_block_knows_the_blocks_around_it():
    block = gf.build("bert-base").step_of["layers.3.attention.weights"].block
    assert (block.name, block.word, block.kind, block.layer, block.part) == (
        "layers.3.attention",
        "attention",
        "attention",
        3,
        "layers",
    )
    assert [one.name for one in block.path] == ["layers", "layers.3", "layers.3.attention"]
    assert block.any_layer == "layers.*.attention"


def test_weights_that_layers_share_belong_to_the_layer_that_owns_them():
    program = gf.build("albert-base")
    step = program.step_of["layers.5.attention.q"]
    assert (step.block.layer, step.inputs[1].block.layer) == (5, 0)


def test_parameters_have_the_role_of_the_step_that_they_make():
    program = gf.build("bert-base", layers=1)
    roles = {
        parameter.tensor.symbol: (parameter.kind, parameter.role)
        for parameter in program.parameters
        if parameter.block.kind == "attention"
    }
    assert (roles["W_Q"], roles["b_Q"], roles["W_O"]) == (("weight", "query"), ("bias", "query"), ("weight", "attention output"))
