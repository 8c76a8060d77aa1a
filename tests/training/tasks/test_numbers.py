"""A number for a text or a pair: the loss, the correlations, and folders that say so."""

import math

import numpy as np
import pytest
import torch
from tiny_training import Quiet, logged, losses, opinion_run, stopped_and_resumed

import glassformer as gf
from glassformer.training import loop
from glassformer.training.data.prepare import prepare
from glassformer.training.figures import pearson, spearman
from glassformer.training.starting import first_weights
from glassformer.training.tasks import TASKS


@torch.no_grad()
def test_the_loss_is_the_squared_error_and_nan_marks_a_row_to_ignore(tmp_path):
    run, data = opinion_run(tmp_path / "run", "regress")
    encoder = first_weights(run.path, run.spec, torch.device("cpu")).eval()
    batch = prepare(data.train, run.tokenizer, max_length=24).batch(np.arange(6), seed=0, epoch=0)
    said = encoder(batch.inputs, batch.attend).logits[:, 0]
    judged = TASKS["regress"].judge(encoder, batch)
    assert float(judged.loss) == pytest.approx(float(((said - batch.labels) ** 2).sum()), rel=1e-6)
    batch.labels[2:] = math.nan
    fewer = TASKS["regress"].judge(encoder, batch)
    assert float(fewer.loss) == pytest.approx(float(((said - batch.labels)[:2] ** 2).sum()), rel=1e-6)


@pytest.mark.parametrize("task", ["regress", "similarity"])
def test_a_run_learns_and_its_figures_are_those_of_its_folder(tmp_path, task):
    run, data = opinion_run(tmp_path / "run", task, epochs=4, lr=1e-2)
    figures = loop.train(run, data, Quiet())
    first, last = logged(run)[0], logged(run)[-1]
    assert last["loss"] < first["loss"] and "accuracy" not in last
    said = [one.probability for one in gf.load(run.path).predict(list(data.test.inputs))]
    true = np.asarray(data.test.targets)
    assert figures["test"]["pearson"] == pytest.approx(pearson(np.array(said), true), abs=1e-5)
    assert figures["test"]["spearman"] == pytest.approx(spearman(np.array(said), true), abs=0.05)  # ranks of near ties may swap
    assert figures["test"]["loss"] == pytest.approx(float(((np.array(said) - true) ** 2).mean()), rel=1e-4)


def test_similarity_keeps_the_epoch_of_the_best_spearman_and_regression_that_of_the_least_loss(tmp_path):
    assert TASKS["similarity"].metric.decider == "metric" and TASKS["regress"].metric.decider == "loss"
    run, data = opinion_run(tmp_path / "run", "similarity", epochs=3)
    best = loop.train(run, data, Quiet())["best"]
    assert best["spearman"] == max(line["validation"]["spearman"] for line in logged(run, "epoch"))


@pytest.mark.parametrize("task", ["regress", "similarity"])
def test_a_stopped_run_resumes_bit_for_bit(tmp_path, task):
    whole, data = opinion_run(tmp_path / "whole", task)
    loop.train(whole, data, Quiet())
    assert losses(stopped_and_resumed(tmp_path / "stopped", task)) == losses(whole)
