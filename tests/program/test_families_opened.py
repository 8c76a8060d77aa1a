"""Cells of every step of the newer text families: their arithmetic gives the number of the run, and contributions add up."""

import numpy as np
import pytest

from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec

SMALL = EncoderSpec(
    vocab=9, segments=2, positions=8, position="learned", embedding_norm=True, d_model=12, heads=2, d_ff=12, layers=1,
    activation="gelu", head="mlm", eps=1e-5,
)  # fmt: skip
SPECS = {
    "groups": SMALL.replace(groups=(2, 3, 4, 2, 6, 2), pooler="dense", spare_pooler=True),
    "first": SMALL.replace(window=2, global_attention="first"),
    "bottleneck": SMALL.replace(
        embedding_size=4, token_kernel=3, bottleneck=6, ffn_blocks=2, norm_kind="scale", wide_output=True, tie=True
    ),
    "whole bottleneck": SMALL.replace(bottleneck=6, bottleneck_reads="all"),
    "page": SMALL.replace(page=5),
}


def ran(spec):
    program, rng = build(spec, batch=2, t=4, padded=True), np.random.default_rng(0)
    given = {"tokens": rng.integers(0, 9, (2, 4)), "attend": np.arange(4) < np.array([[4], [3]])}
    if spec.page is not None:
        given["boxes"] = np.sort(rng.integers(0, 5, (2, 4, 2, 2)), axis=2).reshape(2, 4, 4)
    return run(program, legible_weights(program, 0), given)


@pytest.mark.parametrize("name", SPECS)
def test_the_arithmetic_of_a_cell_of_every_step_gives_its_number(name):
    found, rng = ran(SPECS[name]), np.random.default_rng(1)
    values = {tensor: found[tensor] for tensor in found.program.tensors if tensor in found}
    for step in found.program.steps:
        cell = {axis.name: int(rng.integers(axis.size)) for axis in step.output.axes}
        value = values[step.name][step.output.at(cell)]
        opened = step.opened(cell, values).evaluate(values)
        assert opened == value or abs(opened - value) < 1e-10, step.name


@pytest.mark.parametrize("name", SPECS)
def test_the_contributions_to_a_logit_add_up(name):
    found = ran(SPECS[name])
    ledger = found.contributions("head.logits", batch=1, t=2, vocab=3)
    assert abs(ledger.total - found["head.logits"][1, 2, 3]) < 1e-9
