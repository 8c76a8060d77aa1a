"""Sentence embeddings: the loss, its gradients in parts, retrieval, and folders that sentence-transformers opens."""

import json
import math

import numpy as np
import pytest
import torch
from tiny_training import Quiet, logged, losses, opinion_run, stopped_and_resumed
from torch.nn import functional

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.training import loop
from glassformer.training.data.prepare import prepare
from glassformer.training.feed import Feed
from glassformer.training.figures import mean_reciprocal_rank, reciprocal_ranks
from glassformer.training.prediction import prediction
from glassformer.training.settings import Settings
from glassformer.training.starting import first_weights
from glassformer.training.tasks.embeddings import Embeddings, false_negatives
from glassformer.training.worker import Worker


def a_batch(path, rows=12, **settings):
    run, data = opinion_run(path, "embed", **settings)
    encoder = first_weights(run.path, run.spec, torch.device("cpu"))
    return encoder, prepare(data.train, run.tokenizer, max_length=24).batch(np.arange(rows), seed=0, epoch=0)


@torch.no_grad()
def test_the_loss_is_the_cross_entropy_of_cosines_over_the_other_rows(tmp_path):
    encoder, batch = a_batch(tmp_path / "run")
    encoder.eval()
    means = [
        encoder(batch.inputs[[place]], batch.attend[[place]]).states[0][batch.attend[place]].mean(0)
        for place in batch.places.tolist()
    ]
    every = [functional.normalize(one, dim=0) for one in means]
    scores = torch.stack(every[:12]) @ torch.stack(every[12:]).T / 0.1
    wanted = functional.cross_entropy(scores, torch.arange(12), reduction="sum")
    judged = Embeddings(0.1).judge(encoder, batch)
    assert float(judged.loss) == pytest.approx(float(wanted), rel=1e-5)
    assert int(judged.right) == int((scores.argmax(1) == torch.arange(12)).sum())


@torch.no_grad()
def test_the_loss_is_that_of_sentence_transformers(tmp_path):
    ranking = pytest.importorskip("sentence_transformers.sentence_transformer.losses").MultipleNegativesRankingLoss
    encoder, batch = a_batch(tmp_path / "run")
    judged = Embeddings(0.05).judge(encoder.eval(), batch)
    loss = ranking(model=None, scale=20.0).compute_loss_from_embeddings([judged.predicted[:12], judged.predicted[12:]], None)
    assert float(judged.loss) / 12 == pytest.approx(float(loss), rel=1e-5)


def gradients(encoder, batch, task):
    encoder.zero_grad(set_to_none=True)
    torch.manual_seed(1)
    judged = task.judge(encoder, batch)
    judged.loss.backward()
    return float(judged.loss.detach()), {
        name: one.grad.clone() for name, one in encoder.named_parameters() if one.grad is not None
    }


@pytest.mark.parametrize("cache", [1, 40, 10**6])
def test_the_gradients_in_parts_are_those_of_the_whole_batch(tmp_path, cache):
    encoder, batch = a_batch(tmp_path / "run", fields={"dropout": 0.0})
    whole, wanted = gradients(encoder.train(), batch, Embeddings(0.05))
    loss, found = gradients(encoder, batch, Embeddings(0.05, cache))
    assert loss == pytest.approx(whole, rel=1e-6) and found.keys() == wanted.keys()
    largest = max(float(one.abs().max()) for one in wanted.values())
    assert all(float((found[name] - one).abs().max()) < 1e-5 * largest for name, one in wanted.items())


def test_a_part_is_computed_again_with_the_same_dropout(tmp_path):
    encoder, batch = a_batch(tmp_path / "run", fields={"dropout": 0.3})
    first, other = (gradients(encoder.train(), batch, Embeddings(0.05, 40))[1] for _ in range(2))
    assert all(torch.equal(first[name], other[name]) for name in first)
    with torch.no_grad():  # a step along the gradient lowers the loss under the same masks: both passes drew the same
        for name, one in encoder.named_parameters():
            if name in first:
                one -= 1e-3 * first[name] / math.sqrt(sum(float(g.square().sum()) for g in first.values()))
    torch.manual_seed(1)
    after = float(Embeddings(0.05, 40).judge(encoder, batch).loss.detach())
    encoder2, _ = a_batch(tmp_path / "again", fields={"dropout": 0.3})
    assert after < gradients(encoder2.train(), batch, Embeddings(0.05, 40))[0]


def test_only_one_part_keeps_activations_between_the_passes(tmp_path):
    encoder, batch = a_batch(tmp_path / "run", rows=32)
    kept = {}
    for cache in (None, 40):
        sizes = []
        with torch.autograd.graph.saved_tensors_hooks(lambda one, sizes=sizes: sizes.append(one.nbytes) or one, lambda one: one):
            Embeddings(0.05, cache).judge(encoder, batch)
        kept[cache] = sum(sizes)
    assert kept[40] < kept[None] / 5


def test_equal_texts_are_not_negatives():
    numbers = torch.tensor([0, 1, 0, 2, 5, 6, 5, 0])  # anchors 0, 1, 0, 2; the texts 5, 6, 5, 0 belong to them
    wanted = [[0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert false_negatives(numbers, 4).int().tolist() == wanted


def test_reciprocal_ranks_by_hand():
    anchors, texts = np.eye(3), np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.0], [0.1, 0.6, 0.5], [0.0, 0.0, 0.5]])
    found = reciprocal_ranks(anchors, texts, np.array([10, 11, 12]), np.array([0, 1, 2]), np.array([0, 1, 2, 3]))
    assert found.tolist() == [1.0, 0.5, 0.5]  # the second is beaten by text 2, the third ties with text 3
    assert mean_reciprocal_rank(found) == pytest.approx(2 / 3)
    assert mean_reciprocal_rank(np.array([1 / 10, 1 / 11])) == pytest.approx(0.05)


def test_texts_that_occur_twice_are_one_candidate_and_all_matches_of_an_anchor_count():
    anchors, texts = np.array([[1.0], [1.0]]), np.array([[0.1], [0.9], [0.9]])
    found = reciprocal_ranks(anchors, texts, np.array([7, 7]), np.array([0, 1]), np.array([0, 1, 1]))
    assert found.tolist() == [1.0, 1.0]


def test_vectors_that_are_all_the_same_find_nothing():
    found = reciprocal_ranks(np.ones((20, 4)), np.ones((20, 4)), np.arange(20), 100 + np.arange(20), 100 + np.arange(20))
    assert mean_reciprocal_rank(found) == 0.0


def test_a_run_learns_and_its_folder_gives_its_vectors(tmp_path):
    run, data = opinion_run(tmp_path / "run", "embed", epochs=3, lr=1e-2)
    figures = loop.train(run, data, Quiet())
    assert logged(run)[-1]["loss"] < logged(run)[0]["loss"]
    model = gf.load(run.path)
    assert (model.settings.pool, model.settings.normalise, model.settings.longest) == ("mean", True, 24)
    first, second = (model.encode([row[column] for row in data.test.inputs]) for column in (0, 1))
    count = np.arange(len(first))
    found = reciprocal_ranks(first, second, count, 1000 + count, 1000 + count)
    assert figures["test"]["mrr_at_10"] == pytest.approx(mean_reciprocal_rank(found), abs=1e-6)


@pytest.mark.parametrize("settings", [{}, {"gradient_cache": 100}, {"batch_tokens": 400}], ids=str)
def test_a_stopped_run_resumes_bit_for_bit(tmp_path, settings):
    whole, data = opinion_run(tmp_path / "whole", "embed", **settings)
    loop.train(whole, data, Quiet())
    assert losses(stopped_and_resumed(tmp_path / "stopped", "embed", **settings)) == losses(whole)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 1}, "batch_size=1 leaves no other row to compare with"),
        ({"train_only": "head"}, "the task embed has no head to train"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(settings, message):
    with pytest.raises(GlassformerError, match=message):
        Embeddings().configured(Settings(**settings))


def test_several_processes_are_refused_in_one_line(tmp_path):
    run, data = opinion_run(tmp_path / "run", "embed")
    worker = Worker(torch.device("cpu"), rank=0, world=2)
    with pytest.raises(GlassformerError, match=r"the task embed compares the rows of a batch .*, not in 2: start it without"):
        Feed(run, data, worker, first_weights(run.path, run.spec, worker.device))


def test_the_forecast_counts_every_text_and_what_a_gradient_cache_computes_again(tmp_path):
    run, _ = opinion_run(tmp_path / "run", "embed")
    plain = prediction(run.spec, run.settings, texts=2)
    once = prediction(run.spec, run.settings)
    cached = prediction(run.spec, run.settings.replace(gradient_cache=100), texts=2)
    assert plain["batch"] == 2 * once["batch"] and plain["matrix_flops"] == 2 * once["matrix_flops"]
    assert cached["matrix_flops"] == pytest.approx(4 / 3 * plain["matrix_flops"], rel=0.01)
    larger = prediction(run.spec, run.settings.replace(gradient_cache=100, batch_size=10_000), texts=2)
    assert larger["bytes"] == cached["bytes"] < plain["bytes"]


@pytest.mark.parametrize(
    ("change", "why"), [({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": False}, "it pools by max")]
)
def test_a_checkpoint_with_unsupported_pooling_is_refused(tmp_path, change, why):
    run, data = opinion_run(tmp_path / "run", "embed", epochs=1)
    loop.train(run, data, Quiet())
    path = run.path / "best" / "1_Pooling" / "config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": False})
    )
    with pytest.raises(GlassformerError, match="it pools by max"):
        Embeddings().body(run.path / "best")


def test_a_bert_is_opened_by_sentence_transformers_with_equal_vectors(tmp_path):
    package = pytest.importorskip("sentence_transformers")
    from tiny_training import opinions

    opinions(tmp_path)
    trained = gf.train(
        tmp_path / "pairs.csv", "bert-tiny d_model=32 heads=2 layers=1", text="first,second", task="embed", epochs=1, vocab=300,
        max_length=24, out=tmp_path / "run", progress=False,
    )  # fmt: skip
    assert (trained.folder / "best" / "config.json").is_file()
    other = package.SentenceTransformer(str(trained.folder / "best"), device="cpu")
    texts = ["good film 12", "a bad and awful story", "x"]
    assert other.max_seq_length == 24
    np.testing.assert_allclose(other.encode(texts), gf.load(trained.folder).encode(texts), atol=2e-6)
    assert gf.verify(trained.folder / "best").holds
