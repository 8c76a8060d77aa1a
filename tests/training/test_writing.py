"""Training of models that write: translation, and the next token of a text."""

import math

import pytest
import tiny_writing
import torch
from tiny_training import Quiet, logged, losses
from tiny_writing import continuing, table, texts, translating
from torch.nn import functional

import glassformer as gf
from glassformer import GlassformerError
from glassformer.model import fast
from glassformer.model.boundary.decoder import model_of
from glassformer.training import averaging, loop, state
from glassformer.training.data import load_data
from glassformer.training.data.dataset import Split
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.runs import Run
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.classes import judged
from glassformer.training.tasks.objective import Objective
from glassformer.training.tokenizers import Tokenizer

KINDS = {"translate": translating, "causal": continuing}


def example(kind, place):
    """A model of the kind, a batch with padding, and the task."""
    path = table(place / "a.tsv") if kind == "translate" else texts(place / "a.txt")
    data = load_data(path, rows_for="seq2seq" if kind == "translate" else "decoder")
    tokenizer = Tokenizer.train(data.train.texts(), vocab=320, kind="bpe", ends=TASKS[kind].ends)
    rows = prepare(data.train, tokenizer, max_length=32)
    order = rows.lengths.argsort()
    batch = rows.batch(order[[0, 5, -1]], seed=0, epoch=0)
    assert batch.padded or kind == "causal"
    name = "transformer" if kind == "translate" else "gpt2 positions=32"
    torch.manual_seed(0)
    model = model_of(gf.spec(f"{name} vocab={tokenizer.vocab} dropout=0", **tiny_writing.SIZES), dtype="float64")
    return model, batch, TASKS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_mean_over_the_tokens_of_each_text_alone(kind, tmp_path):
    model, batch, task = example(kind, tmp_path)
    whole = float(task.judge(model, batch).loss.detach())
    alone = 0.0
    for row in range(len(batch.inputs)):
        labels = batch.labels[row][batch.labels[row] != IGNORE]
        if batch.target is None:
            logits = model(batch.inputs[row : row + 1, : len(labels)]).logits
        else:
            assert batch.attend is not None
            source = batch.inputs[row][batch.attend[row]][None]
            logits = model(source, batch.target[row : row + 1, : len(labels)]).logits
        alone += float(functional.cross_entropy(logits[0].float(), labels, reduction="sum").detach())
    assert whole == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_gives_no_gradient_and_fast_parts_give_the_same(kind, tmp_path):
    model, batch, task = example(kind, tmp_path)
    task.judge(model, batch, Objective(smoothing=0.1)).loss.backward()
    plain = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    pad = {0}.difference(batch.inputs[batch.attend].tolist())
    assert pad, "padding has a token of its own"
    fast.apply(model)
    for part in batch.parts(1):  # one text at a time: no padding at all
        task.judge(model, part, Objective(smoothing=0.1)).loss.backward()
    for name, one in model.named_parameters():
        if one.grad is not None:
            assert torch.allclose(one.grad, plain[name], atol=1e-6), name


@pytest.mark.parametrize("kind", KINDS)
def test_logits_at_every_place_give_the_loss_of_those_with_labels(kind, tmp_path):
    model, batch, task = example(kind, tmp_path)
    every = judged(task.logits(model, batch, None).flatten(0, -2).float(), batch.labels.flatten(), Objective(smoothing=0.1))
    some = task.judge(model, batch, Objective(smoothing=0.1))
    assert every.loss.detach().item() == pytest.approx(some.loss.detach().item(), rel=1e-6)
    assert int(every.right) == int(some.right)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_of_the_loss_is_that_of_finite_differences(kind, tmp_path):
    model, batch, task = example(kind, tmp_path)
    named = dict(model.named_parameters())
    chosen = [*[name for name in named if name.endswith(("gamma", "b_1", "bias"))][:3], next(iter(named))]

    def loss():
        return float(functional.cross_entropy(logits(), batch.labels.flatten(), reduction="sum", ignore_index=IGNORE))

    def logits():
        with torch.no_grad():
            given = (batch.inputs,) if batch.target is None else (batch.inputs, batch.target, batch.attend)
            return model(*given).logits.flatten(0, 1)

    (task.judge(model, batch).loss).backward()
    for name in chosen:
        flat, place = named[name].data.view(-1), int(named[name].grad.abs().flatten().argmax())
        before = flat[place].item()
        values = []
        for step in (1e-4, -1e-4):
            flat[place] = before + step
            values.append(loss())
        flat[place] = before
        assert named[name].grad.flatten()[place].item() == pytest.approx((values[0] - values[1]) / 2e-4, rel=1e-3)


def test_a_translation_run_learns_and_its_folder_translates(tmp_path):
    settings = {"epochs": 50, "lr": 1e-2, "batch_tokens": 400, "label_smoothing": 0.0}
    run = translating(tmp_path, "m2m100-418m positions=64 dropout=0", **settings)
    curve = run.curves[0]
    assert curve.validation_loss[-1] < curve.validation_loss[0] / 4
    assert run.metric.name == "perplexity"
    assert run.score == pytest.approx(math.exp(run.metrics["test"]["loss"]))
    rows = load_data(**run.run.about["data"]["source"]).train
    for beams in (1, 4):
        found = gf.translate(run.folder, rows.inputs, beams=beams).texts
        assert sum(one == true for one, true in zip(found, rows.targets, strict=True)) > 0.8 * len(rows)


def test_a_decoder_learns_from_plain_text_and_its_folder_continues(tmp_path):
    run = continuing(tmp_path, epochs=30, lr=5e-3)
    curve = run.curves[0]
    assert curve.validation_loss[-1] < curve.validation_loss[0] / 3
    (found,) = gf.generate(run.folder, ["the red cat is"], max_new_tokens=20)
    assert found.ended and found.text.startswith(" le ")


def test_computed_positions_begin_after_our_padding_token_so_that_a_class_of_transformers_fits(tmp_path):
    run = translating(tmp_path, "m2m100-418m positions=64", epochs=1)
    assert run.run.spec.position_offset == 1
    assert (run.folder / "best" / "config.json").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_stopped_within_an_epoch_resumes_bit_for_bit(kind, tmp_path):
    whole = KINDS[kind](tmp_path, out="whole", save_every=2)
    stopped = stop_after(tmp_path, kind, 3)
    resumed = gf.resume(stopped, progress=False)
    assert losses(resumed.run) == losses(whole.run)
    files = [path / "best" / "model.safetensors" for path in (whole.folder, stopped)]
    assert files[0].read_bytes() == files[1].read_bytes()


def stop_after(place, kind, step):
    """The folder of a run that was interrupted after a step."""
    import os
    import signal

    def at(number):
        if number == step:
            os.kill(os.getpid(), signal.SIGTERM)

    made = KINDS[kind](place, out="first", epochs=1)
    folder = place / "stopped"
    about = made.run.about
    rows = load_data(**about["data"]["source"])
    settings = made.run.settings.replace(epochs=2, save_every=2)
    run = Run.create(folder, made.run.spec, settings, made.run.tokenizer, rows, source=about["data"]["source"])
    run.about["threads"] = about["threads"]
    with pytest.raises(loop.Interrupted):
        loop.train(run, rows, Quiet(at))
    return folder


def test_the_model_must_suit_the_rows(tmp_path):
    pairs, plain = table(tmp_path / "a.tsv"), texts(tmp_path / "a.txt")
    with pytest.raises(
        GlassformerError, match=r"^translation-en-fr is for an encoder-decoder, such as transf.*, and the model is"
    ):
        gf.train("translation-en-fr", "bert-tiny", progress=False)
    with pytest.raises(GlassformerError, match=r"a\.txt is plain text: its translations are in a second file"):
        gf.train(plain, "transformer", progress=False)
    with pytest.raises(GlassformerError, match=r"^digits is for an encoder, and the model is a decoder: choose another\.$"):
        gf.train("digits", "gpt2", progress=False)
    with pytest.raises(
        GlassformerError, match=r"has no column 'de'\. Its columns: en, fr\. Choose one with target=… \(--target\)\.$"
    ):
        gf.train(table(tmp_path / "b.tsv"), "transformer", text="en", target="de", progress=False)
    assert pairs.exists()


def test_the_scores_are_those_of_sacrebleu_with_its_signatures(tmp_path):
    sacrebleu = pytest.importorskip("sacrebleu")
    run = translating(tmp_path, epochs=3)
    test, rows = run.metrics["test"], load_data(**run.run.about["data"]["source"]).test
    found = gf.translate(run.folder, rows.inputs, beams=4).texts
    assert test["bleu"] == pytest.approx(sacrebleu.corpus_bleu(found, [rows.targets]).score)
    assert test["chrf"] == pytest.approx(sacrebleu.corpus_chrf(found, [rows.targets]).score)
    assert test["signatures"]["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert f"test BLEU {test['bleu']:.1f}, chrF {test['chrf']:.1f}" in str(run)
    report = (run.folder / "report.md").read_text(encoding="utf-8")
    assert f"BLEU {test['bleu']:.1f} (nrefs:1" in report.replace("\\|", "|")


def test_without_sacrebleu_one_line_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("glassformer.training.scoring.find_spec", lambda _: None)
    run = translating(tmp_path, epochs=1, progress=True)
    assert "bleu" not in run.metrics["test"]
    hint = "note: BLEU and chrF need the package sacrebleu: pip install 'glassformer[translate]'."
    assert capsys.readouterr().err.splitlines().count(hint) == 1


@pytest.fixture
def means_are_better(monkeypatch):
    """The validation of a mean of weights gives a loss of 0."""
    real = averaging.averaged
    monkeypatch.setattr(averaging, "averaged", lambda trainer: real(trainer) | {"loss": 0.0})


@pytest.mark.usefixtures("means_are_better")
def test_the_mean_of_the_last_epochs_is_best_where_its_loss_is_lower(tmp_path):
    run = translating(tmp_path, epochs=5, average=3, keep=5)
    steps = [line["step"] for line in logged(run.run, "epoch")][-3:]
    saved = [state.load_state(run.folder / "checkpoints", step) for step in steps]
    best = run.metrics["best"]
    assert (best["averaged"], best["epoch"], best["loss"]) == (3, 5, 0.0)
    for name, one in first_weights_of(run.folder / "best").items():
        mean = sum(found.tensors[f"weights/{name}"].double() for found in saved) / 3
        assert torch.allclose(one.double(), mean, atol=1e-6), name
    assert f"(mean of 3 epochs); run: {run.folder}" in str(run)


def first_weights_of(folder):
    from glassformer.model.checkpoints.loading import load_encoder

    return dict(load_encoder(folder, decoders=True).encoder.named_parameters())


def test_the_best_epoch_is_kept_where_the_mean_is_worse(tmp_path):
    run = translating(tmp_path, epochs=3, average=3, lr=3e-3)  # the loss still falls: older weights are worse
    assert "averaged" not in run.metrics["best"] and run.best_epoch == 3
    plain = translating(tmp_path, out="plain", epochs=3, lr=3e-3)
    assert (run.folder / "best/model.safetensors").read_bytes() == (plain.folder / "best/model.safetensors").read_bytes()
    assert not (plain.folder / "checkpoints" / "epochs").exists()


@pytest.mark.usefixtures("means_are_better")
def test_a_run_that_is_resumed_averages_the_same_epochs(tmp_path):
    settings = {"average": 3, "decay": "none", "warmup": 0.0, "save_every": 2}
    whole = translating(tmp_path, epochs=4, **settings)
    parts = translating(tmp_path, out="parts", epochs=2, **settings)
    resumed = gf.resume(parts.folder, epochs=4, progress=False)
    assert resumed.metrics["best"] == whole.metrics["best"] and "averaged" in whole.metrics["best"]
    assert (resumed.folder / "best/model.safetensors").read_bytes() == (whole.folder / "best/model.safetensors").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_trained_further_from_its_weights_and_tokenizer(kind, tmp_path):
    first = KINDS[kind](tmp_path, epochs=6, lr=5e-3)
    data = tmp_path / ("pairs.tsv" if kind == "translate" else "texts.txt")
    more = gf.train(data, first.folder, epochs=1, lr=1e-3, out=tmp_path / "more", progress=False, batch_size=8)
    assert more.run.tokenizer.fingerprint == first.run.tokenizer.fingerprint
    assert more.curves[0].validation_loss[0] < first.curves[0].validation_loss[2]
    assert more.run.about["start"]["fresh"] == []
    with pytest.raises(GlassformerError, match="is for an encoder, and the model is"):
        gf.train("digits", first.folder, progress=False)


def test_a_target_without_a_token_before_it_begins_with_padding():
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<pad>": 0, "</s>": 1, "a": 2, "b": 3}, unk_token="a"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    split = Split("train", "translate", ["a b", "b"], ["b a", "a"])
    batch = prepare(split, Tokenizer(words)).batch(torch.tensor([0]).numpy(), seed=0, epoch=0)
    assert batch.target[0].tolist() == [0, *batch.labels[0].tolist()[:-1]] and batch.labels[0].tolist()[-1] == 1
