"""Where weights begin: a checkpoint's body and a fresh head, all of it trained or the head alone; and what is refused."""

import shutil
from pathlib import Path

import pytest
import torch
from tiny_training import Quiet, losses, tiny_run, warm_or_cold

from glassformer.configs.presets import preset
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.checkpoints.export import save
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.spec import EncoderSpec
from glassformer.training import loop
from glassformer.training.choosing import parameter_counts
from glassformer.training.data import load_data
from glassformer.training.runs import Run
from glassformer.training.settings import Settings
from glassformer.training.starting import first_weights, is_checkpoint, start_from
from glassformer.training.tokenizers import Tokenizer

BODY = {"d_model": 16, "heads": 2, "layers": 2, "positions": 24, "dropout": 0.1}
SETTINGS = {"epochs": 1, "batch_size": 16, "max_length": 16, "log_every": 1}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return warm_or_cold(tmp_path_factory.mktemp("data") / "rows.csv")


@pytest.fixture(scope="module")
def checkpoint(rows, tmp_path_factory):
    """A bare encoder with a pooler, as BERT's is, and its tokenizer."""
    folder = tmp_path_factory.mktemp("models") / "bert"
    tokenizer = Tokenizer.train(rows.train.texts(), vocab=60)
    torch.manual_seed(5)
    save(Encoder(EncoderSpec(**BODY, vocab=tokenizer.vocab, pooler="dense")), folder)
    tokenizer.save(folder / "tokenizer.json")
    return folder


def made(path, checkpoint, rows, **settings):
    chosen = Settings(**SETTINGS | settings)
    start = start_from(checkpoint, {}, rows, chosen)
    return Run.create(path, start.encoder.spec, chosen, start.tokenizer, rows, source={"what": "rows"}, start=start)


def named(encoder):
    return {name: value.clone() for name, value in encoder.ledger()}


def test_the_body_is_the_checkpoints_and_the_head_is_fresh(checkpoint, rows, tmp_path):
    run = made(tmp_path / "run", checkpoint, rows)
    ours, theirs = named(first_weights(run.path, run.spec, torch.device("cpu"))), named(load_encoder(checkpoint).encoder)
    assert set(ours) - set(theirs) == {"head.W_C", "head.b_C"} == set(run.about["start"]["fresh"])
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert run.about["counts"]["task_specific"] == 16 * 2 + 2
    assert run.tokenizer.fingerprint == Tokenizer.load(checkpoint).fingerprint


def test_five_classes_on_768_are_3_845_parameters_of_the_task():
    spec = preset("bert-base").replace(head="classify", classes=5)
    alone = parameter_counts(spec, {"fresh": ["head.W_C", "head.b_C"]}, Settings(train_only="head"))
    assert alone == {"parameters": 109_482_240 + 3845, "trained": 3845, "task_specific": 3845}
    with_pooler = parameter_counts(spec, {"fresh": ["pooler.W_P", "pooler.b_P", "head.W_C", "head.b_C"]}, Settings())
    assert with_pooler == {"parameters": 109_486_085, "trained": 109_486_085, "task_specific": 3845 + 768 * 768 + 768}


def test_the_head_alone_learns_while_the_body_keeps_every_bit(checkpoint, rows, tmp_path):
    run = made(tmp_path / "run", checkpoint, rows, train_only="head", lr=0.05, epochs=2)
    start = named(first_weights(run.path, run.spec, torch.device("cpu")))
    loop.train(run, rows, Quiet())
    end = named(load_encoder(run.path / "last").encoder)
    changed = {name for name in start if not torch.equal(start[name], end[name])}
    assert changed == {"head.W_C", "head.b_C"}
    newest = max((run.path / "checkpoints").iterdir())
    from safetensors import safe_open

    with safe_open(newest / "state.safetensors", "pt") as state:
        moments = {name.split("/")[1] for name in state.keys() if name.startswith("optimizer/")}  # noqa: SIM118
    assert moments == {"head.classifier.classes.weight", "head.classifier.classes.bias"}


def test_all_weights_learn_and_a_run_that_was_stopped_needs_no_checkpoint(checkpoint, rows, tmp_path):
    whole = made(tmp_path / "whole", checkpoint, rows, epochs=2)
    loop.train(whole, rows, Quiet())
    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    run = made(tmp_path / "run", copy, rows, epochs=2)
    shutil.rmtree(copy)

    def stop(step):
        if step in (2, 6):
            raise KeyboardInterrupt

    for _ in range(2):  # before the first state was saved, and after it
        with pytest.raises(KeyboardInterrupt):
            loop.train(Run.open(run.path), rows, Quiet(stop))
    loop.train(Run.open(run.path), rows, Quiet())
    assert losses(run) == losses(whole)
    start, end = named(load_encoder(whole.path / "start").encoder), named(load_encoder(whole.path / "last").encoder)
    still = {name for name in start if torch.equal(start[name], end[name])}
    assert not still - {"embeddings.E_position"}


def test_a_run_is_a_checkpoint_and_the_same_labels_keep_their_head(checkpoint, rows, tmp_path):
    run = made(tmp_path / "run", checkpoint, rows)
    assert is_checkpoint(str(run.path)) and is_checkpoint(str(checkpoint)) and not is_checkpoint("bert-base")
    with pytest.raises(
        GlassformerError, match=r"is a training run that has not finished: best/ is missing\. Continue it: glassformer resume "
    ):
        start_from(run.path, {}, rows, Settings())
    loop.train(run, rows, Quiet())
    again = start_from(run.path, {"dropout": 0.3}, rows, Settings())
    assert again.about["fresh"] == [] and again.encoder.spec.dropout == 0.3
    best = named(load_encoder(run.path / "best").encoder)
    assert all(torch.equal(value, best[name]) for name, value in named(again.encoder).items())


def test_other_labels_have_a_fresh_head_of_their_own(checkpoint, rows, tmp_path):
    run = made(tmp_path / "run", checkpoint, rows)
    loop.train(run, rows, Quiet())
    other = load_data("lid4")
    start = start_from(run.path / "best", {}, other, Settings())
    assert start.about["fresh"] == ["head.W_C", "head.b_C"] and start.encoder.spec.classes == 4


def test_an_impossible_start_is_a_one_line_error(checkpoint, rows, tmp_path):
    with pytest.raises(GlassformerError, match=r"bert reads texts, but digits contains images: start from another checkpoint\.$"):
        start_from(checkpoint, {}, load_data("digits"), Settings())
    with pytest.raises(GlassformerError, match=r"^layers=1 does not match the encoder of the checkpoint: layers\.1\."):
        start_from(checkpoint, {"layers": 1}, rows, Settings())
    with pytest.raises(GlassformerError, match=r"^d_model=32 does not match the encoder of the checkpoint"):
        start_from(checkpoint, {"d_model": 32}, rows, Settings())
    with pytest.raises(GlassformerError, match=r"^classes=7 does not fit .*rows\.csv: it needs 2\. Leave it out\.$"):
        start_from(checkpoint, {"classes": 7}, rows, Settings())
    picture = EncoderSpec(d_model=8, heads=1, layers=1, image=16, patch=8, channels=1, vocab=None, position="learned")
    save(Encoder(picture), tmp_path / "vit")
    with pytest.raises(GlassformerError, match=r"vit reads images, but .*rows\.csv contains texts"):
        start_from(tmp_path / "vit", {}, rows, Settings())
    with pytest.raises(GlassformerError, match=r"reads images of 1×16×16, but those of digits are 1×8×8 .*: try --resize 16\.$"):
        start_from(tmp_path / "vit", {}, load_data("digits"), Settings())
    with pytest.raises(GlassformerError, match=r"^train_only=head needs a checkpoint"):
        tiny_run(tmp_path / "run", train_only="head")


def test_narrow_matrices_begin_larger_and_wide_ones_as_bert_does():
    torch.manual_seed(0)
    spec = EncoderSpec(d_model=48, heads=2, layers=1, d_ff=768, image=8, patch=2, channels=1, vocab=None, position="learned")
    encoder = first_weights(Path("nowhere"), spec, torch.device("cpu"))
    block = encoder.layers["0"]
    # A normal distribution that is cut at twice its spread has 0.88 of it.
    assert float(block.attention.qkv.weight.detach().std()) == pytest.approx(0.88 * 0.02 * 4, rel=0.05)
    assert float(block.ffn.narrow.weight.detach().std()) == pytest.approx(0.88 * 0.02, rel=0.05)
    assert float(encoder.embeddings.positions.E_position.detach().std()) == pytest.approx(0.88 * 0.02 * 768**0.5, rel=0.1)
