"""Any number of classes for a text: the loss, both F1, and folders that say so."""

import numpy as np
import pytest
import torch
from tiny_training import Quiet, losses, opinion_run, stopped_and_resumed
from torch.nn import functional

import glassformer as gf
from glassformer.training import loop
from glassformer.training.data.prepare import prepare
from glassformer.training.data.text_rows import label_array
from glassformer.training.figures import Several
from glassformer.training.starting import first_weights
from glassformer.training.tasks import TASKS


@torch.no_grad()
def test_the_loss_is_torchs_and_classes_that_a_split_lacks_count_as_absent(tmp_path):
    run, data = opinion_run(tmp_path / "run", "multilabel", fields={"classes": 5})
    encoder = first_weights(run.path, run.spec, torch.device("cpu")).eval()
    batch = prepare(data.train, run.tokenizer, max_length=24).batch(np.arange(6), seed=0, epoch=0)
    logits = encoder(batch.inputs, batch.attend).logits
    marks = functional.pad(batch.labels, (0, 2))
    wanted = functional.binary_cross_entropy_with_logits(logits, marks, reduction="none").mean(1).sum()
    assert float(TASKS["multilabel"].judge(encoder, batch).loss) == pytest.approx(float(wanted), rel=1e-6)
    batch.labels[3:] = float("nan")
    fewer = functional.binary_cross_entropy_with_logits(logits[:3], marks[:3], reduction="none").mean(1).sum()
    assert float(TASKS["multilabel"].judge(encoder, batch).loss) == pytest.approx(float(fewer), rel=1e-6)


def test_a_run_learns_and_its_figures_are_those_of_its_folder(tmp_path):
    run, data = opinion_run(tmp_path / "run", "multilabel", epochs=6, lr=1e-2)
    figures = loop.train(run, data, Quiet())
    model = gf.load(run.path)
    told = [one.to_dict() for one in model.predict(list(data.test.inputs))]
    assert model.labels == list(data.labels) and set(told[0]) == {"labels", "probabilities"}
    said = np.array([[label in one["labels"] for label in data.labels] for one in told])
    found = Several.of(said, label_array(data.test) > 0)
    assert figures["test"]["micro_f1"] == pytest.approx(found.micro_f1()) and found.micro_f1() > 0.5
    assert figures["test"]["macro_f1"] == pytest.approx(found.macro_f1())


def test_a_stopped_run_resumes_bit_for_bit(tmp_path):
    whole, data = opinion_run(tmp_path / "whole", "multilabel")
    loop.train(whole, data, Quiet())
    assert losses(stopped_and_resumed(tmp_path / "stopped", "multilabel")) == losses(whole)
