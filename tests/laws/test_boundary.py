"""Input checks: indices out of range, independent rows, empty input; each with its figure."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from laws.cases import cases, counts
from laws.ways import DOUBLE, PROGRAM
from model_cases import BERT, seeded

from glassformer.errors import GlassformerError
from glassformer.model import Encoder, encode_packed
from glassformer.model.boundary.checks import check_batch, checked
from glassformer.model.encoder import Inputs
from glassformer.numbers import run
from glassformer.program import build
from glassformer.spec import EncoderSpec


def out_of_range(number: int):
    """A valid input of BERT with one invalid id, and the message for it."""
    rng = np.random.default_rng(number)
    name, rows = (("tokens", BERT.vocab), ("segments", BERT.segments), ("positions", BERT.positions))[number % 3]
    given = {part: rng.integers(0, 2, (2, 6)) for part in ("tokens", "segments", "positions")}
    place = tuple(rng.integers(0, (2, 6)))
    given[name][place] = int(rng.choice([-1, rows, rows + 7, 10**12, -(10**12)]))
    return given, f"{name}[{place[0]},{place[1]}] = {given[name][place]} is out of range"


@counts(60, 600)
def test_a_number_that_indexes_nothing_is_refused_with_place_value_and_range(count, figure):
    encoder = seeded(BERT)
    for number in range(count):
        given, said = out_of_range(number)
        tensors = {part: torch.from_numpy(value) for part, value in given.items()}
        with pytest.raises(GlassformerError) as refusal:
            encoder(tensors["tokens"], segments=tensors["segments"], positions=tensors["positions"])
        assert said in str(refusal.value)
    spec = EncoderSpec(vocab=30522, d_model=384, heads=12, layers=6, d_ff=1536, positions=512, position="learned", segments=2)
    large, ids = Encoder(spec).eval(), torch.randint(0, 30522, (8, 64))
    given = Inputs(ids, torch.arange(64) < torch.arange(57, 65)[:, None], ids % 2)
    with torch.inference_mode():
        check = best(lambda: checked(spec, given, large.here, ()), 50)
        share = check / best(lambda: large(ids, given.attend, given.segments), 3)
    assert share < 0.03
    figure("N8", f"{count} of {count} refused with index, value and range; the check costs {share:.2%} of a forward pass of "
           "6 layers on 512 tokens", cases=count)  # fmt: skip


def best(work, times: int) -> float:
    """The least processor time of several tries."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


@counts(30, 500)
def test_no_row_of_a_batch_reaches_another(count, figure):
    for case in cases(count):
        other = case.inputs(number=5)
        mixed = case.given.each(lambda part: part.copy())
        mixed.inputs[1] = other.inputs[1]
        for way in (PROGRAM, DOUBLE):
            one, two = (way(case.spec, case.weights, given) for given in (case.given, mixed))
            kept = [0, 2]
            assert all(np.array_equal(a[kept], b[kept]) for a, b in zip(one.tokens, two.tokens, strict=True))
    for spec, wrong in ((BERT, torch.zeros(4, dtype=torch.long)), (EncoderSpec(d_model=8, heads=2), torch.zeros(4, 8))):
        with pytest.raises(GlassformerError, match=r"must be \(batch, t"):
            Encoder(spec)(wrong)
    figure(
        "N10",
        f"one layout, (batch, t, …), named in every message; {count} specs: changing one row changes no bit of another",
        cases=count,
    )


def test_empty_inputs_give_empty_results_or_words(figure):
    empty, none = torch.zeros(0, 4, dtype=torch.long), torch.zeros(2, 0, dtype=torch.long)
    output = seeded(BERT)(empty, return_weights=[0])
    assert (output.states.shape, output.logits.shape, output.weights[0].shape) == ((0, 4, 16), (0, 3), (0, 4, 4, 4))
    assert seeded(BERT)(empty, torch.zeros(0, 4, dtype=torch.bool)).states.shape == (0, 4, 16)
    assert encode_packed(seeded(BERT), []) == []
    check_batch(BERT, empty)
    doors = {
        "encoder": lambda: seeded(BERT)(none),
        "vectors": lambda: Encoder(EncoderSpec(d_model=8, heads=2))(torch.zeros(2, 0, 8)),
        "packed": lambda: encode_packed(seeded(BERT), [none[0]]),
        "loader": lambda: check_batch(BERT, none),
        "program of no batch": lambda: build(BERT, batch=0, t=3),
        "program of no tokens": lambda: build(BERT, batch=1, t=0),
        "run": lambda: run(build(BERT, batch=1, t=3), {}, {"tokens": np.zeros((1, 0), dtype=int)}),
    }
    for name, door in doors.items():
        with pytest.raises(GlassformerError) as refusal:
            door()
        assert "\n" not in str(refusal.value), name
    figure(
        "N11",
        f"an empty batch gives empty results of the right shape; {len(doors)} entry points refuse an empty sequence in one line",
        cases=7,
    )
