"""Witnesses: the two implementations against each other, each cell against its arithmetic, and both against torch's own."""

from __future__ import annotations

import random

import torch
from laws.cases import Case
from laws.law import EXACT, Law, Measure
from laws.of_sequences import padded
from laws.of_weights import with_layers
from laws.ways import DOUBLE, PROGRAM, SINGLE, Watching, Way, apart, furthest
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from glassformer.algebra import cost, count, shapes
from glassformer.program import build
from glassformer.spec import EncoderSpec

WITNESSES: dict[str, Law] = {}


def witness(**how: object):
    """Enter a function among the witnesses, under its own name."""

    def enter(measure: Measure) -> Measure:
        name = measure.__name__.replace("_", " ")
        WITNESSES[name] = Law(name, measure, **how)
        return measure

    return enter


@witness(ways=(DOUBLE, SINGLE), every=True)
def the_model_agrees_with_the_program(way: Way, case: Case) -> float:
    """Every hidden state, every attention weight and mix, all that comes out; with padding where there can be any."""
    inputs = [case.given] if case.spec.one_length else [case.given, padded(case)]
    gaps = []
    for given in inputs:
        ours, theirs = (one(case.spec, case.weights, given) for one in (way, PROGRAM))
        gaps.append(furthest(ours, theirs, given.attend))
        insides = (one.inside(case.spec, case.weights, given) for one in (way, PROGRAM))
        for one, other in zip(*insides, strict=True):
            gaps += [apart(a, b) for a, b in zip(one, other, strict=True)] if given.attend is None else []
    return max(gaps)


@witness(ways=(PROGRAM,), double=1e-9, every=True)
def an_explanation_evaluates_to_its_cell(way: Way, case: Case) -> float:
    given = case.given if case.spec.one_length else padded(case)
    found, chance = PROGRAM.run(case.spec, case.weights, given), random.Random(case.seed)
    gaps = [0.0]
    for step in found.program.steps:
        opened = found.explain(step.name, **{axis.name: chance.randrange(axis.size) for axis in step.output.axes})
        if opened.value != opened.evaluated:  # minus infinity is equal to itself, and has no difference
            gaps.append(abs(opened.value - opened.evaluated) / max(1.0, abs(opened.value)))
    return max(gaps)


def like_torchs(spec: EncoderSpec) -> EncoderSpec:
    """What nn.TransformerEncoderLayer can be."""
    heads = spec.heads
    activation = "relu" if spec.activation.startswith("re") else "gelu"
    return EncoderSpec(
        d_model=4 * heads, heads=heads, d_ff=spec.d_ff, layers=1, norm=spec.norm, activation=activation, final_norm="none",
        eps=spec.eps, dropout=0.0,
    )  # fmt: skip


def torchs_layer(case: Case) -> nn.TransformerEncoderLayer:
    """torch's own layer with the weights of the case: its matrices are [out, in], all heads side by side."""
    spec, at = case.spec, "layers.0."
    layer = nn.TransformerEncoderLayer(
        spec.d_model, spec.heads, spec.d_ff, dropout=0.0, activation=spec.activation, layer_norm_eps=spec.eps, batch_first=True,
        norm_first=spec.norm == "pre", dtype=torch.float64,
    )  # fmt: skip
    weights = {name: torch.from_numpy(value) for name, value in case.weights.items()}
    matrices = [weights[f"{at}attention.W_{letter}"].flatten(1).T for letter in "QKV"]
    biases = [weights[f"{at}attention.b_{letter}"].flatten() for letter in "QKV"]
    named = {"self_attn.in_proj_weight": torch.cat(matrices), "self_attn.in_proj_bias": torch.cat(biases)}
    named["self_attn.out_proj.weight"] = weights[f"{at}attention.W_O"].flatten(0, 1).T
    named["self_attn.out_proj.bias"] = weights[f"{at}attention.b_O"]
    for number in "12":
        named |= {
            f"linear{number}.weight": weights[f"{at}ffn.W_{number}"].T,
            f"linear{number}.bias": weights[f"{at}ffn.b_{number}"],
        }
        gamma, beta = (weights[f"{at}norm_{number}.{name}"] for name in ("gamma", "beta"))
        named |= {f"norm{number}.weight": gamma, f"norm{number}.bias": beta}
    layer.load_state_dict(named)
    return layer.train()  # in training there is no hidden fast path


@witness(fit=like_torchs)
def torch_nn_transformer_encoder_layer_agrees(way: Way, case: Case) -> float:
    given = padded(case)
    with torch.no_grad():
        wanted = torchs_layer(case)(torch.from_numpy(given.inputs), src_key_padding_mask=torch.from_numpy(~given.attend))
    found = way(case.spec, case.weights, given).tokens[-1]
    return apart(found[given.attend], wanted.numpy()[given.attend])


@witness(ways=(DOUBLE,), every=True, **EXACT)
def the_ledger_lists_the_tensors_of_the_model(way: Way, case: Case) -> float:
    """Name by name and axis by axis, and the model has no number that is not in it."""
    rows = {row.name: tuple(axis.size for axis in row.axes) for row in count(case.spec).rows}
    encoder = DOUBLE.encoder(case.spec, case.weights)
    tensors = {name: tuple(view.shape) for name, view in encoder.ledger()}
    numbers = sum(parameter.numel() for parameter in encoder.parameters())
    return 0.0 if rows == tensors and numbers == count(case.spec).total else 1.0


@witness(ways=(PROGRAM,), every=True, **EXACT)
def every_value_has_the_predicted_shape(way: Way, case: Case) -> float:
    given = case.given if case.spec.one_length else padded(case)
    found = PROGRAM.run(case.spec, case.weights, given)
    return float(sum(found[row.name].shape != row.shape for row in shapes(found.program).rows))


@witness(ways=(DOUBLE,), **EXACT)
def multiply_adds_equal_those_counted_by_torch(way: Way, case: Case) -> float:
    """One input through the model, attention written out, under torch's counter of matrix products."""
    given = case.given.each(lambda part: part[:1])
    layout = Watching(None, written_out=True)
    with FlopCounterMode(display=False) as counter:
        DOUBLE.lying(case.spec, case.weights, given, layout, weights_too=False)
    t = None if case.spec.one_length else given.inputs.shape[1]
    return abs(counter.get_total_flops() - cost(build(case.spec, t=t)).matrix_flops)


PUBLISHED = {"bert-base": 109_482_240, "bert-large": 335_141_888, "albert-base": 11_683_584, "vit-b16": 86_567_656}


@witness(ways=(PROGRAM,), fit=lambda _: with_layers(EncoderSpec(d_model=4, heads=1)), **EXACT)
def published_parameter_counts_are_reproduced(way: Way, case: Case) -> float:
    import glassformer as gf

    found = [gf.count("bert-base").total, gf.count("bert-large").total, gf.count("albert-base").total]
    found.append(gf.count("vit-b16", head="classify", classes=1000).total)
    spent = abs(gf.cost("bert-base", t=512).multiply_adds - 48_318_971_904)
    return float(spent + sum(abs(one - other) for one, other in zip(found, PUBLISHED.values(), strict=True)))
