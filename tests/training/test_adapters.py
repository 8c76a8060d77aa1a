"""Runs with --lora: only adapters and head learn; best/ holds merged weights, best/adapter/ the adapters as peft stores them."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from tiny_training import BERT_CONFIG, Quiet, losses, warm_or_cold

from glassformer.configs.presets import preset
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.adapters import lora
from glassformer.model.checkpoints.export import save
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.sentences.loaded_model import load
from glassformer.training import entry_points, loop
from glassformer.training.choosing import Choice, frozen_blocks, lora_of
from glassformer.training.runs import Run
from glassformer.training.settings import Settings
from glassformer.training.starting import first_weights, start_from
from glassformer.training.tokenizers import Tokenizer

TEXTS = ["a red thing, number 3", "a blue thing, number 7"]
BERT = {"d_model": 16, "heads": 2, "layers": 2, "positions": 24, "d_ff": 64}
SETTINGS = {"epochs": 2, "batch_size": 16, "max_length": 16, "log_every": 1, "lora": 4, "lr": 0.01}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return warm_or_cold(tmp_path_factory.mktemp("data") / "rows.csv")


@pytest.fixture(scope="module")
def checkpoint(rows, tmp_path_factory):
    """A bare BERT in the layout of transformers, with its pooler and its tokenizer."""
    folder = tmp_path_factory.mktemp("models") / "bert"
    tokenizer = Tokenizer.train(rows.train.texts(), vocab=60)
    torch.manual_seed(5)
    encoder = Encoder(preset("bert-tiny").replace(**BERT, vocab=tokenizer.vocab, pooler="dense"))
    config = BERT_CONFIG | {"vocab_size": tokenizer.vocab, "max_position_embeddings": 24}
    save(encoder, folder, config=config, as_class="BertModel")
    tokenizer.save(folder / "tokenizer.json")
    return folder


def made(path, checkpoint, rows, **settings):
    chosen = Settings(**SETTINGS | settings)
    start = start_from(checkpoint, {}, rows, chosen)
    return Run.create(path, start.encoder.spec, chosen, start.tokenizer, rows, source={"what": "rows"}, start=start)


@pytest.fixture(scope="module")
def finished(checkpoint, rows, tmp_path_factory):
    run = made(tmp_path_factory.mktemp("runs") / "run", checkpoint, rows)
    loop.train(run, rows, Quiet())
    return run


def test_only_the_adapted_matrices_and_the_head_differ_at_the_end(finished):
    start = dict(first_weights(finished.path, finished.spec, torch.device("cpu")).ledger())
    end = dict(load_encoder(finished.path / "last").encoder.ledger())
    changed = {name for name in start if not torch.equal(start[name], end[name])}
    adapted = {f"layers.{layer}.attention.W_{one}" for layer in (0, 1) for one in "QV"}
    assert changed == {*adapted, "head.W_C", "head.b_C"}
    counts = finished.about["counts"]
    assert counts["trained"] == 2 * 2 * 4 * (16 + 16) + 16 * 2 + 2
    assert counts["parameters"] == sum(view.numel() for view in start.values()) + 2 * 2 * 4 * 32


def test_a_state_holds_what_is_trained_and_nothing_else(finished):
    newest = max((finished.path / "checkpoints").glob("step-*"))
    with safe_open(newest / "state.safetensors", "pt") as state:
        names = [name.split("/")[1] for name in state.keys() if name.startswith("weights/")]  # noqa: SIM118
    assert len(names) == 2 * 2 * 2 + 2 and all("adapters" in name or name.startswith("head.") for name in names)


def test_a_run_that_was_stopped_resumes_bit_for_bit(finished, checkpoint, rows, tmp_path):
    run = made(tmp_path / "run", checkpoint, rows, save_every=3)

    def stop(step):
        if step in (2, 5):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            loop.train(Run.open(run.path), rows, Quiet(stop))
    loop.train(Run.open(run.path), rows, Quiet())
    assert losses(run) == losses(finished)
    ours, theirs = (load_file(one.path / "best" / "adapter" / "adapter_model.safetensors") for one in (run, finished))
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())


def test_best_is_a_whole_model_for_transformers(finished):
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(finished.path / "best").eval()
    words = transformers.AutoTokenizer.from_pretrained(finished.path / "best")
    with torch.no_grad():
        said = model(**words(TEXTS, return_tensors="pt", padding=True)).logits.softmax(-1).numpy()
    ours = [list(one.values.values()) for one in load(finished.path / "best").predict(TEXTS)]
    assert np.allclose(said, ours, atol=1e-6)


def test_peft_computes_what_we_compute(finished, checkpoint):
    peft, transformers = pytest.importorskip("peft"), pytest.importorskip("transformers")
    base = transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)
    adapter = finished.path / "best" / "adapter"
    model = peft.PeftModel.from_pretrained(base, adapter).eval()
    words = transformers.AutoTokenizer.from_pretrained(finished.path / "best")
    with torch.no_grad():
        said = model(**words(TEXTS, return_tensors="pt", padding=True)).logits.softmax(-1).numpy()
    ours = [list(one.values.values()) for one in load(finished.path / "best").predict(TEXTS)]
    assert np.allclose(said, ours, atol=1e-6)
    assert not np.allclose(said, 0.5, atol=1e-2)


def test_the_adapter_alone_is_small_and_says_what_it_belongs_to(finished, checkpoint):
    adapter = finished.path / "best" / "adapter"
    said = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    assert said["base_model_name_or_path"] == str(checkpoint) and said["task_type"] == "SEQ_CLS"
    assert (said["r"], said["lora_alpha"], said["target_modules"]) == (4, 8.0, ["attention.self.query", "attention.self.value"])
    tensors = load_file(adapter / "adapter_model.safetensors")
    first = "base_model.model.bert.encoder.layer.0.attention.self.query"
    assert tensors[f"{first}.lora_A.weight"].shape == (4, 16) and tensors[f"{first}.lora_B.weight"].shape == (16, 4)
    assert len(tensors) == 2 * 2 * 2 + 2 and "base_model.model.classifier.weight" in tensors


def test_settings_that_exclude_each_other_are_refused(checkpoint, rows, tmp_path):
    train = lambda **settings: entry_points.train("digits", checkpoint, progress=False, out=tmp_path / "run", **settings)  # noqa: E731
    with pytest.raises(GlassformerError, match=r"^lora=4 and train_only=head both select what is trained: give one\.$"):
        train(lora=4, train_only="head")
    with pytest.raises(GlassformerError, match=r"^lora=4 freezes everything but adapters and head: leave freeze=head out\.$"):
        train(lora=4, freeze="head")
    with pytest.raises(GlassformerError, match=r"^lora=4 needs a checkpoint: give its folder after the data\.$"):
        entry_points.train("digits", lora=4, progress=False)
    with pytest.raises(GlassformerError, match=r"^lora_on=queries is not allowed: one or several of query, key, value, "):
        Settings(lora=4, lora_on="queries")


def test_words_of_lora_on_are_matrices():
    assert lora_of(Settings(lora=4, lora_on="value, ffn")) == lora.Lora(4, 8.0, ("W_V", "W_1", "W_2", "W_3"))
    assert lora_of(Settings(lora=4, lora_alpha=16, lora_on="all-linear")).scale == 4.0
    assert lora_of(Settings()) is None


def test_models_that_write_are_refused():
    with pytest.raises(
        GlassformerError, match=r"^lora=4 is for encoders, and this model generates text: leave it out, or freeze parts"
    ):
        Choice.of(preset("gpt2"), {}, Settings(lora=4))


def test_frozen_parts_are_named_by_their_blocks():
    spec = preset("bert-base").replace(head="classify", classes=3)
    assert frozen_blocks(spec, "embeddings,layers.0-2") == ("embeddings", "layers.0", "layers.1", "layers.2")
    assert frozen_blocks(spec, "layers.10-11.ffn") == ("layers.10.ffn", "layers.11.ffn")
    with pytest.raises(GlassformerError, match=r"^freeze=layers\.12 is not allowed: 'layers\.12' is not a part of this encoder"):
        frozen_blocks(spec, "layers.12")
    with pytest.raises(GlassformerError, match=r"leaves nothing to train: leave a part out\.$"):
        frozen_blocks(spec, "embeddings,layers,pooler,head")


def test_the_adapters_alone_predict_what_best_predicts(finished):
    whole, alone = (load(finished.path / "best" / name) for name in (".", "adapter"))
    assert alone.labels == whole.labels == ["cold", "warm"]
    ours, theirs = ([list(one.values.values()) for one in model.predict(TEXTS)] for model in (alone, whole))
    assert np.allclose(ours, theirs, atol=1e-6)
    assert np.allclose(alone.encode(TEXTS), whole.encode(TEXTS), atol=1e-6)
