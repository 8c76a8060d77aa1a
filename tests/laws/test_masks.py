"""Masks: rows without a token, content behind a mask, masks that are none, padding on the left; each with its figure."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from laws import book
from laws.cases import BATCH, LENGTH, cases, counts
from laws.of_sequences import padded
from laws.ways import DOUBLE, DTYPES, PROGRAM, Given, Watching, apart, furthest, numbers
from model_cases import BERT, MODERN, inputs_of, seeded

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.numbers import run
from glassformer.program import build

# Where the bias by distance wants a gradient, PyTorch takes another kernel, which rounds otherwise.
ROUNDED = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 0.06}


BLIND = {
    "bert": BERT.replace(dropout=0.0),
    "modern": MODERN.replace(dropout=0.0),
    "causal": BERT.replace(dropout=0.0, attend="causal"),
    "relative": BERT.replace(dropout=0.0, position="relative", pool="mean"),
}


def all_paths(encoder: Encoder, tokens: torch.Tensor, attend: torch.Tensor) -> list[torch.Tensor]:
    """Training and evaluation, with gradients and without, with weights and without."""
    states = []
    for training in (True, False):
        for grad in (True, False):
            for layers in ((), range(encoder.spec.layers)):
                with torch.set_grad_enabled(grad):
                    output = encoder.train(training)(tokens, attend, return_weights=layers)
                states.append(output.states.detach())
                if layers:
                    blind = ~attend.any(1)
                    assert all(not weights[blind].any() for weights in output.weights.values())
    return states


@counts(16, 1000)
def test_a_row_without_a_real_token_is_one_thing_on_every_path(count, figure):
    rng = np.random.default_rng(1)
    encoders = {(name, kind): seeded(spec).to(dtype) for name, spec in BLIND.items() for kind, dtype in DTYPES.items()}
    worst = dict.fromkeys(DTYPES, 0.0)
    for number in range(count):
        name = list(BLIND)[number % len(BLIND)]
        attend = torch.from_numpy(rng.random((BATCH, LENGTH)) < 0.6)
        attend[:, 0] |= attend.any(1)  # padding on the left is another row of the table
        attend[number % BATCH] = False
        tokens = inputs_of(BLIND[name], number)
        for kind in DTYPES:
            states = all_paths(encoders[name, kind], tokens, attend)
            assert all(one.isfinite().all() for one in states)
            same = [torch.equal(one, states[i % 4]) for i, one in enumerate(states)]  # training and evaluation
            assert all(same)
            gap = max(apart(numbers(one), numbers(states[0])) for one in states)
            assert gap <= ROUNDED[kind] if name == "relative" else gap == 0
            worst[kind] = max(worst[kind], gap)
        written = DOUBLE.lying(
            BLIND[name],
            dict(encoders[name, "float64"].ledger()),
            Given(tokens.numpy(), None, attend.numpy()),
            watch := Watching(attend),
        )
        assert written.states.isfinite().all()
        assert all(not mix[~attend.any(1)].any() for _, mix in watch.seen)
    said = ", ".join(f"{kind} {gap:.1g}" for kind, gap in worst.items())
    figure("N2", f"{count:,} masks on 8 paths in 3 formats: 0 NaN, attention output 0; bit for bit identical "
        f"except with a learned relative bias, where gradients select another kernel ({said})", cases=count)  # fmt: skip


POISON = (np.nan, np.inf, -np.inf, 1e30, -3e38)


@counts(30, 1000)
def test_masked_content_may_have_any_value(count, figure):
    for number, case in enumerate(cases(count, reads="vectors")):
        clean = padded(case)
        dirty = np.where(clean.attend[:, :, None], clean.inputs, POISON[number % len(POISON)]).astype(np.float32)
        encoder = Encoder(case.spec, fresh=False).eval()
        encoder.load_ledger(case.weights)
        attend = torch.from_numpy(clean.attend)
        answers = []
        for vectors in (clean.inputs.astype(np.float32), dirty):
            with torch.inference_mode():
                answers.append(encoder(torch.from_numpy(vectors), attend))
        assert torch.equal(answers[0].states[attend], answers[1].states[attend])
        if answers[0].pooled is not None:
            assert torch.equal(answers[0].pooled, answers[1].pooled)
        if not np.isfinite(dirty).all():
            with pytest.raises(GlassformerError, match="every input must be a finite number"):
                PROGRAM(case.spec, case.weights, clean.but(inputs=dirty))
    figure("N4", f"{count} inputs with NaN, ±inf, 1e30 or -3e38 behind the mask: bit for bit identical; the float64 run refuses "
           "non-finite values", cases=count)  # fmt: skip


def bad_mask(number: int):
    """An invalid mask for inputs of 2 × 4."""
    rng = np.random.default_rng(number)
    good = (np.arange(4) < rng.integers(1, 5, 2)[:, None]).astype(np.int64)
    where = (int(rng.integers(2)), int(rng.integers(4)))
    kind = number % 10
    if kind == 0:
        return good[:, : rng.integers(0, 4)]
    if kind == 1:
        return np.concatenate([good, good], axis=int(rng.integers(2)))
    if kind == 2:
        return good[None] if number % 20 else good[0]
    if kind == 3:
        return good.T
    if kind == 4:
        return good.astype(float)  # does a zero hide, or add nothing?
    if kind == 5:
        return np.where(good == 1, 0.0, -np.inf)
    if kind == 6:
        return np.where(good == 1, 0.0, -1e4).astype(np.float32)
    if kind == 7:
        return good + 2 * (np.indices((2, 4)).sum(0) == sum(where))
    if kind == 8:
        return good - 2 * (np.indices((2, 4)).sum(0) == sum(where))
    return np.where(good == 1, rng.choice([np.nan, 0.5]), 1.0)


@counts(200, 2000)
def test_bad_masks_are_refused_in_both_implementations(count, figure):
    encoder, tokens = seeded(BERT), torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
    program = build(BERT, batch=2, t=4, padded=True)
    weights = dict(encoder.ledger())
    for number in range(count):
        mask = bad_mask(number)
        for refuse in (
            lambda mask=mask: encoder(tokens, torch.from_numpy(mask)),
            lambda mask=mask: run(program, weights, {"tokens": tokens.numpy(), "attend": mask}),
        ):
            with pytest.raises(GlassformerError) as refusal:
                refuse()
            assert "attend" in str(refusal.value)
            assert "\n" not in str(refusal.value)
    figure("N9", f"{count} invalid masks: {count} refused by the model and {count} by the float64 run", cases=count)


@counts(30, 500)
def test_padding_on_the_left_is_right_or_refused(count, figure):
    law = book.LAWS["left padding changes nothing if positions are given"]
    worst = refused = 0
    for case in [case for case in cases(2 * count) if not case.spec.one_length][:count]:
        given = padded(case, left=True)
        worst = max(worst, law.measure(DOUBLE, case))
        if case.spec.counts_from_start:
            refused += 1
            for way in (DOUBLE, PROGRAM):
                with pytest.raises(GlassformerError, match="is padded on the left"):
                    way(case.spec, case.weights, given)
        else:
            worst = max(worst, law.measure(PROGRAM, case))
            assert furthest(DOUBLE(case.spec, case.weights, given), PROGRAM(case.spec, case.weights, given), given.attend) < 1e-12
    assert worst < 1e-12
    assert refused
    figure("N12", f"{count} specs: at most {worst:.1g} off if positions are given or only distances matter; {refused} with "
           "absolute positions refused by both implementations", cases=count)  # fmt: skip
