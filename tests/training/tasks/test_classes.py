"""A class for each pair of texts: segments reach the encoder, and runs of pairs resume to the bit."""

import numpy as np
import pytest
import torch
from tiny_training import Quiet, logged, losses, opinion_run, stopped_and_resumed

import glassformer as gf
from glassformer.training import loop
from glassformer.training.data.packing import Packer
from glassformer.training.data.prepare import prepare
from glassformer.training.starting import first_weights
from glassformer.training.tasks.classes import logits_of


@pytest.mark.parametrize("segments", [2, 1, None])
def test_segments_are_read_by_encoders_that_have_two(tmp_path, segments):
    run, data = opinion_run(tmp_path / "run", "pair", fields={"segments": segments})
    encoder = first_weights(run.path, run.spec, torch.device("cpu")).eval()
    batch = prepare(data.train, run.tokenizer, max_length=24).batch(np.arange(6), seed=0, epoch=0)
    given = batch.segments if segments == 2 else None
    assert batch.segments.sum() > 0
    assert torch.equal(logits_of(encoder, batch), encoder(batch.inputs, batch.attend, given).logits)


def test_a_packed_row_keeps_the_segments_of_its_pairs(tmp_path):
    run, data = opinion_run(tmp_path / "run", "pair")
    encoder = first_weights(run.path, run.spec, torch.device("cpu")).eval()
    batch = prepare(data.train, run.tokenizer, max_length=24).batch(np.arange(6), seed=0, epoch=0)
    packed = Packer(longest=24)(batch)
    torch.testing.assert_close(logits_of(encoder, packed)[:6], logits_of(encoder, batch))


def test_a_run_learns_and_predicts_pairs(tmp_path):
    run, data = opinion_run(tmp_path / "run", "pair", epochs=2)
    figures = loop.train(run, data, Quiet())
    assert run.spec.segments == 2 and logged(run)[-1]["loss"] < logged(run)[0]["loss"]
    said = [one.label for one in gf.load(run.path).predict(list(data.test.inputs))]
    true = [data.labels[label] for label in data.test.targets]
    assert figures["test"]["accuracy"] == pytest.approx(np.mean([one == other for one, other in zip(said, true, strict=True)]))


def test_a_stopped_run_resumes_bit_for_bit(tmp_path):
    whole, data = opinion_run(tmp_path / "whole", "pair")
    loop.train(whole, data, Quiet())
    assert losses(stopped_and_resumed(tmp_path / "stopped", "pair")) == losses(whole)
