"""Texts in, vectors and classes out: a real model against sentence-transformers, streams, settings as data, predictions."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of
from model_cases import VIT
from tiny_models import Case, guest, model_of, save

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast import packing
from glassformer.model.sentences import streams
from glassformer.model.sentences.settings import SentenceSettings, read_settings

CLASSES = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "glass", "1": "wall"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return add_tokenizer(bert_folder(tmp_path / "m"))


def classifier(folder: Path, **changes: Any) -> Path:
    config = {**CONFIG, **CLASSES, **changes}
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(config), **CLASSES, **changes))


def texts(count: int, *, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 13))) for _ in range(count)]


def said(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(GlassformerError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# A real model ------------------------------------------------------------------------------------------------------------


def test_minilm_sentences_are_those_of_sentence_transformers(minilm):
    guest("sentence_transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(minilm), device="cpu", local_files_only=True)
        sentences = [
            "glass",
            "Time flies like an arrow; fruit flies like a banana.",
            "Tom a été entarté cet été.",
            "東京は日本の首都です。",
            "word " * 900,  # cut at 256 tokens by both
            " ".join(f"number {i}" for i in range(60)),
            "!?",
        ] * 2
        wanted = theirs.encode(sentences, show_progress_bar=False)
    found = gf.load(minilm).encode(sentences, truncate=True)
    assert found.shape == (14, 384)
    assert np.abs(found - wanted).max() < 1e-5


def test_minilm_cuts_no_text_in_silence(minilm):
    assert said(gf.load(minilm).encode, ["short", "word " * 900]) == (
        "text 1 has 902 tokens, this model takes 256. Split it, or truncate it, which drops the last 646."
    )


# Vectors -----------------------------------------------------------------------------------------------------------------


def test_every_pooling_is_what_its_name_says(folder):
    model = gf.load(folder, dtype="float64")
    some = texts(9)
    rows = [torch.tensor([model.tokenizer.encode(text).ids]) for text in some]
    with torch.inference_mode():
        outputs = [model(row) for row in rows]
    ways = {
        "mean": lambda output: output.states[0].mean(0),
        "first": lambda output: output.states[0, 0],
        "last": lambda output: output.states[0, -1],
        "max": lambda output: output.states[0].amax(0),
        "pooled": lambda output: output.pooled[0],
    }
    for pool, way in ways.items():
        wanted = torch.stack([way(output) for output in outputs])
        assert np.abs(model.encode(some, pool=pool, normalise=False) - wanted.numpy()).max() < 1e-12
        unit = wanted / wanted.norm(dim=-1, keepdim=True)
        assert np.abs(model.encode(some, pool=pool, normalise=True) - unit.numpy()).max() < 1e-12


def test_one_text_gives_one_vector_and_none_give_none(folder):
    model = gf.load(folder)
    assert model.encode("the glass").shape == (8,)
    assert model.encode(["the glass"]).shape == (1, 8)
    assert model.encode([]).shape == (0, 8)
    assert model.encode(iter(["the", "glass"])).shape == (2, 8)
    assert np.abs(np.linalg.norm(model.encode(texts(5)), axis=-1) - 1).max() < 1e-6  # length one by default


def test_windows_and_batches_change_nothing_and_the_order_stays(folder, monkeypatch):
    model = gf.load(folder, dtype="float64")
    some = texts(300)
    one_by_one = np.stack([model.encode(text) for text in some])
    for window, batch in ((1024, None), (7, 16), (300, 1), (64, 5000)):
        monkeypatch.setattr(streams, "TEXTS_AT_ONCE", window)
        assert np.abs(model.encode(some, batch_tokens=batch) - one_by_one).max() < 1e-12


@pytest.mark.parametrize("write", ["merged", "averaged"])
def test_weights_that_are_written_to_through_data_are_those_that_encode(folder, write):
    """As an adapter is merged, and as an average of weights is copied: PyTorch keeps no count of either."""
    model, some = gf.load(folder), texts(20)
    before = model.encode(some)
    for name, parameter in model.encoder.layers.named_parameters():
        if name.endswith("weight") and write == "merged":
            parameter.data += 0.3 * torch.randn(len(parameter), 2) @ torch.randn(2, parameter.shape[1])
        elif write == "averaged":
            parameter.data.copy_(0.5 * parameter.data + 0.5 * torch.randn_like(parameter))
    fresh = gf.load(model.save(folder.parent / "saved"))
    assert np.abs(model.encode(some) - before).max() > 0.01
    assert np.abs(model.encode(some) - fresh.encode(some)).max() < 1e-5


def test_an_encoder_in_training_encodes_and_predicts_without_dropout(folder, tmp_path):
    for model, ask in (
        (gf.load(folder), lambda model: model.encode(texts(9))),
        (gf.load(classifier(tmp_path / "c")), lambda model: [one.probability for one in model.predict(texts(9))]),
    ):
        evaluated = ask(model)
        model.encoder.train()
        assert np.array_equal(ask(model), evaluated)
        assert all(module.training for module in model.encoder.modules()), "it is in training still"


def test_packed_rows_give_the_same_vectors(folder, monkeypatch):
    model = gf.load(folder, dtype="float64")
    some = texts(40)
    for pool in ("mean", "first", "last", "max", "pooled"):
        padded = model.encode(some, pool=pool)
        with monkeypatch.context() as patch:
            patch.setattr(packing, "packable", lambda _: True)  # as on a GPU, with the plain counterpart of the kernel
            assert np.abs(model.encode(some, pool=pool) - padded).max() < (1e-6 if pool == "max" else 1e-12)


def test_a_shorter_limit_may_be_requested_and_a_longer_one_not(folder):
    model = gf.load(folder)
    assert said(model.encode, ["the glass walls"], longest=4).startswith("text 0 has 5 tokens, this model takes 4.")
    assert said(model.encode, ["glass " * 20], longest=99).startswith("text 0 has 22 tokens, this model takes 16.")


def test_a_stream_without_end_gives_its_first_vectors(folder):
    stream = gf.load(folder).encode_stream(itertools.cycle(["the glass", "walls"]))
    first = next(stream)
    assert first.numbers == list(range(streams.TEXTS_AT_ONCE))
    assert next(stream).numbers[0] == streams.TEXTS_AT_ONCE


def test_windows_tokenized_in_a_thread_hold_the_same_texts(folder, monkeypatch):
    monkeypatch.setattr(streams, "FIRST_ON_GPU", (5,))
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 8)
    model, some = gf.load(folder), texts(30)
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 30)
    (whole,) = streams.windows(some, model.tokenizer, model.spec, streams.ReadingOptions())
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 8)
    found = list(streams.windows(some, model.tokenizer, model.spec, streams.ReadingOptions(), beside=True))
    assert [window.seen for window in found] == [5, 8, 8, 8, 1]
    assert [number for window in found for number in window.numbers] == whole.numbers
    assert all(map(torch.equal, (ids for window in found for ids in window.ids), whole.ids))


def test_texts_truncated_in_a_thread_lose_the_same_tokens(folder, monkeypatch):
    """Long texts are cut a second time, to fewer tokens: with the same tokenizer, which another window may be using."""
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 8)
    model, some = gf.load(folder), ["the glass walls " * count for count in range(1, 200)]
    reading = streams.ReadingOptions(longest=12, truncate=True)
    alone, beside = (list(streams.windows(some, model.tokenizer, model.spec, reading, beside=way)) for way in (False, True))
    ids, dropped = (
        [[one for window in way for one in window.ids] for way in (alone, beside)],
        [{number: lost for window in way for number, lost in window.dropped.items()} for way in (alone, beside)],
    )
    assert all(map(torch.equal, *ids))
    assert max(map(len, ids[0])) == 12
    assert dropped[0] == dropped[1]
    whole = [len(model.tokenizer.encode(text).ids) for text in some]
    assert dropped[0] == {number: length - 12 for number, length in enumerate(whole) if length > 12}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same_vectors_window_after_window(folder, monkeypatch):
    monkeypatch.setattr(streams, "FIRST_ON_GPU", (5,))
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 8)
    here, there = gf.load(folder, device="cpu"), gf.load(folder, device="cuda")
    assert np.abs(here.encode(texts(100)) - there.encode(texts(100))).max() < 1e-5


def test_long_texts_make_a_window_small(folder, monkeypatch):
    monkeypatch.setattr(streams, "CHARACTERS_AT_ONCE", 24_000)
    long = "glass " * 1000
    stream = gf.load(folder).encode_stream(itertools.repeat(long), truncate=True)
    first = next(stream)
    assert len(first.numbers) == 4
    assert first.dropped == dict.fromkeys(range(4), 1002 - 16)


def test_a_masked_token_head_is_not_computed_for_vectors(tmp_path):
    config = {**CONFIG, "architectures": ["BertForMaskedLM"]}
    model = gf.load(add_tokenizer(bert_folder(tmp_path, tensors=tensors_of(config), architectures=["BertForMaskedLM"])))
    called: list[Any] = []
    model.encoder.head.register_forward_hook(lambda *_: called.append(1))
    assert model.encode(["the glass"]).shape == (1, 8)
    assert called == []
    assert model(torch.tensor([[1, 2]])).logits is not None
    assert called == [1]


def test_a_pair_of_texts_fills_the_segments(folder):
    model = gf.load(folder)
    pair, single = model.encode([("the glass", "walls")]), model.encode(["the glass walls"])
    ids = model.tokenizer.encode("the glass", "walls")
    with torch.inference_mode():
        states = model(torch.tensor([ids.ids]), segments=torch.tensor([ids.type_ids])).states[0].mean(0)
    assert np.abs(pair[0] - (states / states.norm()).numpy()).max() < 1e-6
    assert np.abs(pair - single).max() > 1e-3


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (["the", ""], {}, "text 1 is empty: it contains no tokens. empty=skip omits such texts."),
        (["the", 3], {}, "text 1 must be a text or a pair of texts, found 3."),
        (["glass \ud800"], {}, "text 0 has an invalid character (U+D800) at position 6."),
        (["x" * 1_000_001], {}, "text 0 has 1,000,001 characters; at most 1,000,000 are allowed."),
        (["glass " * 20], {}, "text 0 has 22 tokens, this model takes 16. Split it, or truncate it, which drops the last 6."),
        (["a"], {"pool": "median"}, "pool=median is not known."),
    ],
)
def test_a_bad_text_or_wish_is_refused_in_one_line(folder, given, options, message):
    assert said(gf.load(folder).encode, given, **options).startswith(message)


def test_empty_texts_are_left_out_or_are_their_special_tokens(folder):
    model = gf.load(folder)
    some = ["the glass", "", "walls"]
    (skipped,) = model.encode_stream(some, empty="skip")
    assert (skipped.numbers, skipped.seen) == ([0, 2], 3)
    kept = model.encode(some, empty="encode")
    assert kept.shape == (3, 8)
    assert np.abs(kept[[0, 2]] - skipped.values).max() < 1e-6


def test_a_model_without_tokenizer_or_without_texts_says_so(tmp_path):
    assert said(gf.load(bert_folder(tmp_path / "a")).encode, ["x"]).startswith("tokenizer.json is missing in ")
    gf.save(Encoder(VIT), tmp_path / "b")
    assert (
        said(gf.load(tmp_path / "b").encode, ["x"])
        == "this encoder reads images, not texts. Give images: --images FILE, or predict(images)."
    )
    assert said(gf.load(bert_folder(tmp_path / "c"), as_class="BertForMaskedLM").encode, ["x"], pool="pooled").startswith(
        "pool=pooled: this model has no pooler."
    )


# Settings of sentence-transformers ---------------------------------------------------------------------------------------

PLAIN = [{"type": "sentence_transformers.models.Transformer", "path": ""}]
POOLING = {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}


def settings(folder: Path, modules: Any, pooling: Any = None) -> SentenceSettings:
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or {"pooling_mode": "cls"}))
    return read_settings(folder)


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode": ["lasttoken"]}, "last"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "first"),
        ({"pooling_mode_max_tokens": True}, "max"),
    ],
)
def test_pooling_and_normalisation_are_the_folders_own(folder, pooling, pool):
    found = settings(folder, [*PLAIN, POOLING, {"type": "x.y.Normalize", "path": "2_Normalize"}], pooling)
    assert (found.pool, found.normalise) == (pool, True)
    assert settings(folder, [*PLAIN, POOLING], pooling).normalise is False
    model = gf.load(folder)
    assert np.abs(model.encode(["the glass"]) - model.encode(["the glass"], pool=pool, normalise=False)).max() == 0


def test_length_small_letters_and_prompt_are_the_folders_own(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 5, "do_lower_case": true}')
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"q": "the "}, "default_prompt_name": "q"}')
    model = gf.load(folder)
    assert np.abs(model.encode("GLASS") - model.encode("the glass", prompt="")).max() == 0
    assert said(model.encode, "glass glass glass").startswith("text 0 has 6 tokens, this model takes 5.")


@pytest.mark.parametrize(
    ("modules", "pooling", "obstacle"),
    [
        ([*PLAIN, POOLING, {"type": "os.system.Dense", "path": "2_Dense"}], None, "modules.json names a part Dense"),
        ([*PLAIN, POOLING], {"pooling_mode": ["cls", "mean"]}, "1_Pooling/config.json pools by cls and mean"),
        ([*PLAIN, POOLING], {"pooling_mode_weightedmean_tokens": True}, "1_Pooling/config.json pools by weightedmean"),
    ],
)
def test_unsupported_settings_of_a_folder_are_reported(folder, modules, pooling, obstacle):
    assert settings(folder, modules, pooling).obstacle.startswith(obstacle)
    model = gf.load(folder)
    assert said(model.encode, "the").endswith("Give pool and normalise yourself to take the vectors before it.")
    assert model.encode("the", pool="mean", normalise=True).shape == (8,)


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({}, "modules.json must be a list […], found an object."),
        (["x"], "modules.json: each part has a type and a path, found x."),
        ([{"type": "a.Pooling", "path": "../1_Pooling"}], "modules.json names a folder outside the model folder"),
        ([{"type": "a.Pooling", "path": "/etc"}], "modules.json names a folder outside the model folder"),
    ],
)
def test_bad_settings_are_one_line(folder, modules, message):
    (folder / "modules.json").write_text(json.dumps(modules))
    assert said(read_settings, folder).startswith(message)


def test_settings_in_the_download_cache_are_links_one_folder_down(tmp_path):
    snapshot = tmp_path / "models--x" / "snapshots" / "abc"
    settings(bert_folder(snapshot), [*PLAIN, POOLING])
    blobs = tmp_path / "models--x" / "blobs"
    blobs.mkdir()
    (snapshot / "1_Pooling" / "config.json").rename(blobs / "sha")
    (snapshot / "1_Pooling" / "config.json").symlink_to(Path("../../../blobs/sha"))
    assert read_settings(snapshot).pool == "first"
    (snapshot / "1_Pooling" / "config.json").unlink()
    (tmp_path / "sha").write_text("{}")
    (snapshot / "1_Pooling" / "config.json").symlink_to(tmp_path / "sha")
    assert said(read_settings, snapshot).startswith("config.json is a link to a file outside the model folder")


WATCHED = """
    import sys
    import glassformer as gf
    model = gf.load(sys.argv[1])
    model.encode(["the glass"], pool="mean", normalise=True)
    seen = []
    sys.addaudithook(lambda event, arguments: seen.append((event, arguments)) if event in EVENTS else None)
    EVENTS = ("import", "exec", "compile", "subprocess.Popen", "os.system", "socket.connect")
    model = gf.load(sys.argv[1])
    model.encode(["the glass"], pool="mean", normalise=True)
    print([one for one in seen if "evil" in str(one)], len(seen))
"""


def test_what_a_file_names_is_never_imported(folder):
    settings(folder, [{"type": "evil.Transformer", "path": ""}, {"type": "evil.Thing", "path": ""}])
    (folder / "evil.py").write_text("raise SystemExit('run')")
    words = [sys.executable, "-c", textwrap.dedent(WATCHED), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, cwd=folder)
    assert done.stdout == "[] 0\n"


# Predictions -------------------------------------------------------------------------------------------------------------


def test_classes_come_with_their_names_and_probabilities(tmp_path):
    model = gf.load(classifier(tmp_path), dtype="float64")
    some = texts(20)
    found = model.predict(some)
    for text, one in zip(some, found, strict=True):
        with torch.inference_mode():
            wanted = model(torch.tensor([model.tokenizer.encode(text).ids])).logits[0].softmax(-1).tolist()
        assert one.values == pytest.approx(dict(zip(["glass", "wall"], wanted, strict=True)), abs=1e-12)
        assert one.label == max(one.values, key=one.values.get)
    assert model.predict(some[0]).to_dict()["probabilities"] == pytest.approx(found[0].values, abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({"id2label": None, "num_labels": 2}, ["LABEL_0", "LABEL_1"]),
        ({"id2label": {"0": "a", "1": "a"}}, ["LABEL_0", "LABEL_1"]),
        ({"id2label": {"0": "a", "7": "b"}}, ["LABEL_0", "LABEL_1"]),
        ({"id2label": {"1": "b", "0": "a"}}, ["a", "b"]),
    ],
)
def test_names_that_do_not_name_each_class_once_are_not_used(tmp_path, changes, labels):
    config = {**CONFIG, **CLASSES}
    folder = bert_folder(tmp_path, tensors=tensors_of(config), **{**CLASSES, **changes})
    assert gf.load(folder).labels == labels


def test_multilabel_predictions_and_scores_are_distinguished(tmp_path):
    several = gf.load(classifier(tmp_path / "a", problem_type="multi_label_classification")).predict("the glass")
    assert several.kind == "labels"
    assert set(several.to_dict()) == {"labels", "probabilities"}
    score = gf.load(classifier(tmp_path / "b", problem_type="regression")).predict("the glass")
    assert set(score.to_dict()) == {"scores"}


def tagger(folder: Path) -> Path:
    config = {**CONFIG, "architectures": ["BertForTokenClassification"], "id2label": {"0": "O", "1": "NAME"}}
    kept = {key: config[key] for key in ("architectures", "id2label")}
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(config), **kept))


def test_tags_are_reported_for_every_token(tmp_path):
    long, short = gf.load(tagger(tmp_path)).predict(["the glass walls", "the"])
    assert [one.token for one in long] == ["[CLS]", "the", "glass", "walls", "[SEP]"]
    assert len(short) == 3
    assert set(long[1].to_dict()) == {"token", "label", "probability"}


def test_words_that_were_learned_by_themselves_are_read_by_themselves(tmp_path, monkeypatch):
    model = gf.load(tagger(tmp_path / "m"))
    as_a_whole = model.predict("the glass walls")
    alone = {word: model.predict(word)[1].prediction.values for word in ("the", "glass", "walls")}
    (tmp_path / "m" / "reading.json").write_text('{"context": "word"}', encoding="utf-8")
    monkeypatch.setattr(streams, "TEXTS_AT_ONCE", 2)
    model = gf.load(tmp_path / "m")
    said = model.predict(["the  glass\twalls", "glass", "walls the"])
    assert [[one.token for one in text] for text in said] == [["the", "glass", "walls"], ["glass"], ["walls", "the"]]
    for one in itertools.chain(*said):
        assert one.prediction.values == pytest.approx(alone[one.token], rel=1e-4)
    assert said[0][1].prediction.values != pytest.approx(as_a_whole[2].prediction.values, rel=1e-4)
    kept = [some.numbers for some in model.predict_stream(["the", "", "glass walls"], empty="skip")]
    assert kept == [[0], [2]]
    assert gf.load(model.save(tmp_path / "own", own=True)).predict("walls the") == said[2], "an export keeps the note"


def test_an_unknown_context_note_is_refused(tmp_path):
    folder = tagger(tmp_path)
    assert said(gf.load(folder).predict, "the", word_by_word=True).startswith("unknown option 'word_by_word'.")
    (folder / "reading.json").write_text('{"context": "words"}', encoding="utf-8")
    line = said(gf.load(folder).predict, "the")
    assert line == "reading.json: context=words is not known. Did you mean 'word'? One of row, word."


def test_images_are_classified(tmp_path):
    original = model_of(Case("vit", "ViTForImageClassification")).to(torch.float32)
    model = gf.load(save(original, tmp_path))
    images = np.random.default_rng(0).normal(size=(3, 3, 8, 8)).astype(np.float32)
    found = model.predict(images)
    with torch.inference_mode():
        wanted = original(torch.as_tensor(images)).logits.softmax(-1).numpy()
    assert np.abs(np.array([list(one.values.values()) for one in found]) - wanted).max() < 1e-5
    assert model.predict(images[0]).label == found[0].label
    assert said(model.predict, (images * 255).astype(np.uint8)).startswith("images must be numbers as the model was trained on")
    assert said(model.predict, images[:, :, :4]).startswith(
        "image must be (batch, channels=3, height=8, width=8), got (3, 3, 4, 8)"
    )
    images[2, 0, 0, 0] = np.inf
    assert said(model.predict, images) == "image 2 has a NaN or infinite pixel. Fix it or leave it out."
    assert (
        said(model.predict, ["a text"]) == "this encoder reads images, not texts. Give images: --images FILE, or predict(images)."
    )


def test_a_model_that_names_no_classes_says_what_it_does(folder):
    assert said(gf.load(folder).predict, "the") == (
        "BertModel predicts no classes: it has no head. Classifiers and taggers do; encode returns vectors."
    )


# What is misspelt, or of another kind ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"truncat": True}, "unknown option 'truncat'. Did you mean 'truncate'?"),
        ({"normalize": True}, "unknown option 'normalize'. Did you mean 'normalise'?"),
        ({"truncate": "no"}, "truncate=no is not allowed: truncate must be True or False."),
        ({"normalise": "no"}, "normalise=no is not allowed: normalise must be True or False."),
        ({"empty": "skpi"}, "empty=skpi is not known. Did you mean 'skip'? One of refuse, skip, encode."),
        ({"batch_tokens": 0}, "batch_tokens=0 is not allowed: batch_tokens must be a whole number from 1."),
        ({"batch_tokens": "8"}, "batch_tokens=8 is not allowed: batch_tokens must be a whole number from 1."),
        ({"longest": float("nan")}, "longest=nan is not allowed: longest must be a whole number from 1."),
        ({"prompt": None}, "prompt=None is not allowed: prompt must be a string, found NoneType."),
        ({"pool": ["mean"]}, "pool=['mean'] is not known. One of mean, first, last, max, pooled."),
    ],
)
def test_an_option_without_effect_is_refused(folder, options, line):
    assert said(gf.load(folder).encode, ["the glass"], **options) == line


@pytest.mark.parametrize("texts", [None, 5, 1.5, np.array(1)])
def test_anything_but_a_list_of_texts_is_refused(folder, texts):
    model = gf.load(folder)
    assert said(model.encode, texts) == f"expected a text or a list of texts, found {texts!r}."


def test_an_array_of_texts_is_a_list_of_texts(folder):
    model = gf.load(classifier(folder))
    words = ["the glass", "walls"]
    assert model.predict(np.array(words)) == model.predict(words)
    assert np.array_equal(model.encode(np.array(words, dtype=object)), model.encode(words))


def test_a_model_that_has_encoded_can_be_copied_and_packed(folder):
    model = gf.load(folder)
    vectors = model.encode(["the glass", "walls"])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.encode(["the glass", "walls"]), vectors)


def test_images_take_no_options_of_texts(tmp_path):
    gf.save(Encoder(VIT.replace(head="classify")), tmp_path / "m")
    model = gf.load(tmp_path / "m")
    image = np.zeros((VIT.channels, *VIT.image_size))
    assert said(model.predict, image, truncate=True) == "the option truncate is for texts, and has no effect on images."
    assert said(model.predict, np.array(1.0)) == "images must be [channel, row, column], or several of them, got []."
