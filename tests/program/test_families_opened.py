"""Cells of every step of the newer text families: their arithmetic gives the number of the run, and contributions add up."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers import legible_weights, run
from glassformer.numbers.seeded import seeded_run
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
    "boxes apart": SMALL.replace(
        page=5,
        page_parts=(2, 2),
        page_relative=(8, 6),
        position="learned_relative",
        relative_scaled=True,
        beside_picture=(8, 4, 1),
    ),
    "values of neighbours": SMALL.replace(value_kernel=3),
    "funnel": SMALL.replace(segments=3, positions=None, position="none", funnel=(1, 2), funnel_repeats=(1, 2), layers=6),
    "tasks": SMALL.replace(tasks=3),
    "small blocks": SMALL.replace(norm="pre", layer_adapter=3),
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


CODED = EncoderSpec(
    mels=1, samples=24, conv_widths=(3, 4), conv_kernels=(4, 2), conv_strides=(3, 2), d_model=8, heads=2, layers=1,
    feature_norm=True, head="compare_codes", codebooks=(2, 3, 4, 5),
)  # fmt: skip


def test_the_code_with_the_highest_score_is_taken_from_the_table():
    found = seeded_run(CODED)
    scores, table, code = (found[f"head.{name}"] for name in ("code_scores", "E_code", "code"))
    assert scores.shape[-2:] == (2, 3) and code.shape[-2:] == (2, 2)
    for group in range(2):
        assert (code[0, 0, group] == table[group, scores[0, 0, group].argmax()]).all()
    opened = str(found.explain("head.code", batch=0, t=0, code_group=1, d_code=0))
    assert f"E_code[code_group 1, code {scores[0, 0, 1].argmax()}, d_code 0]" in opened


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head": "letters_of_codes"}, "replaces states by random codes, which is not implemented"),
        ({"head": "store_codes"}, None),
    ],
)
def test_random_codes_are_counted_and_not_computed(changes, message):
    spec = CODED.replace(**changes)
    assert sum(parameter.size for parameter in build(spec).parameters if parameter.role == "code")
    if message is None:
        assert not any(step.role.startswith("code") for step in build(spec).steps)
        return
    with pytest.raises(GlassformerError, match=message):
        seeded_run(spec)


def test_landmarks_are_counted_with_their_cost_and_not_computed():
    spec = SMALL.replace(landmarks=2)
    inverse = next(step for step in build(spec, t=4).steps if step.role == "landmark inverse")
    assert inverse.operation.macs(inverse.inputs, inverse.output) == 6 * 4 * 2**3 * 2  # in each of two heads
    with pytest.raises(GlassformerError, match="landmarks need an iterative matrix inverse, which is not implemented"):
        seeded_run(spec, t=4)
    with pytest.raises(GlassformerError, match="t=3 is not a multiple of landmarks=2"):
        build(spec, t=3)
