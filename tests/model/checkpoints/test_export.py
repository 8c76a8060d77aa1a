"""Writing: what transformers reads back bit by bit, what our own layout holds, checksums, whole or not at all, ONNX."""

from __future__ import annotations

import errno
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoint_files import CONFIG, add_tokenizer, bert_folder
from model_cases import BERT, MODERN, VIT
from tiny_models import BUILT, BUILT_VARIANTS, Case, class_of, guest, model_of, save

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.files.name_tables import names_of
from glassformer.files.safetensors_header import read_header
from glassformer.model import Encoder
from glassformer.model.checkpoints import export, folders, onnx_export
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.checkpoints.original import quiet
from glassformer.numbers import open_checkpoint
from glassformer.spec import EncoderSpec

ORDINARY = """
    BertForPreTraining XLMRobertaForMaskedLM DistilBertForQuestionAnswering ElectraForPreTraining MPNetForMaskedLM
    ModernBertForSequenceClassification JinaEmbeddingsV3Model T5EncoderModel BartEncoder ViTForMaskedImageModeling
    DeiTForImageClassification BeitModel CLIPVisionModelWithProjection SiglipTextModel Siglip2VisionModel ViTMAEModel ASTModel
    RobertaForMaskedLM-tie_word_embeddings=False-hidden_act=silu
    AlbertModel-num_hidden_layers=5-num_hidden_groups=3-embedding_size=12
    Dinov2Model-use_swiglu_ffn=True-use_mask_token=False
    DINOv3ViTModel-num_register_tokens=0-query_bias=False-proj_bias=False-mlp_bias=False
""".split()


def cases() -> list[Any]:
    every = [*BUILT, *BUILT_VARIANTS]
    assert set(ORDINARY) <= {case.name for case in every}
    return [pytest.param(one, id=one.name, marks=() if one.name in ORDINARY else pytest.mark.slow) for one in every]


def same(ours: Encoder, theirs: Encoder) -> bool:
    mine, yours = dict(ours.ledger()), dict(theirs.ledger())
    return set(mine) == set(yours) and all(torch.equal(mine[name], yours[name]) for name in mine)


def refusal(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(GlassformerError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# The layout of transformers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases())
def test_what_is_exported_loads_in_transformers_bit_by_bit(case, tmp_path):
    transformers = guest("transformers")
    original = model_of(case).to(torch.float32)
    save(original, tmp_path / "theirs")
    model = gf.load(tmp_path / "theirs", as_class=case.model_class)
    model.save(tmp_path / "ours")
    with quiet():
        model_class = class_of(transformers, case.model_class)
        before = model_class.from_pretrained(tmp_path / "theirs").state_dict()
        opened, told = model_class.from_pretrained(tmp_path / "ours", output_loading_info=True)
    buffers = names_of(case.family).buffers  # what I-BERT keeps for whole numbers is no weight
    lost = {name for name in told["missing_keys"] if name.rpartition(".")[2] not in buffers}
    assert (lost, set(told["unexpected_keys"]), set(told["mismatched_keys"])) == (set(), set(), set())
    after = opened.state_dict()
    assert set(after) == set(before)
    weights = [name for name in before if name.rpartition(".")[2] not in buffers]
    assert [name for name in weights if not torch.equal(before[name], after[name])] == []
    assert same(gf.load(tmp_path / "ours").encoder, model.encoder)


def test_auto_model_finds_the_class_and_the_weights(tmp_path):
    transformers = guest("transformers")
    original = model_of(Case("bert", "BertModel")).to(torch.float32)
    save(original, tmp_path / "theirs")
    gf.load(tmp_path / "theirs").save(tmp_path / "ours")
    with quiet():
        opened = transformers.AutoModel.from_pretrained(tmp_path / "ours")
    assert type(opened) is transformers.BertModel
    assert all(torch.equal(a, b) for a, b in zip(original.parameters(), opened.parameters(), strict=True))


def test_every_key_of_the_config_is_kept_and_the_class_and_type_are_what_was_written(tmp_path):
    aside = {"id2label": {"0": "no", "1": "yes"}, "task_specific_params": {"x": [1, 2]}, "torch_dtype": "float32"}
    folder = bert_folder(tmp_path / "a", **aside)
    gf.load(folder, dtype="bfloat16").save(tmp_path / "b")
    before, after = (json.loads((tmp_path / name / "config.json").read_text()) for name in "ab")
    assert after == {**before, "torch_dtype": "bfloat16"}
    assert {entry.dtype for entry in read_header(tmp_path / "b" / "model.safetensors").tensors.values()} == {"BF16"}
    gf.load(folder, as_class="BertForMaskedLM").save(tmp_path / "c")
    assert json.loads((tmp_path / "c" / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]
    assert gf.load(tmp_path / "c").verdict == "exact"


def test_a_tied_matrix_is_written_once(tmp_path):
    original = model_of(Case("bert", "BertForMaskedLM"))
    gf.load(save(original, tmp_path / "a")).save(tmp_path / "b")
    held = read_header(tmp_path / "b" / "model.safetensors").tensors
    assert "bert.embeddings.word_embeddings.weight" in held
    assert "cls.predictions.decoder.weight" not in held


def test_tokenizer_and_settings_go_along_and_code_does_not(tmp_path):
    folder = add_tokenizer(bert_folder(tmp_path / "a"))
    (folder / "modules.json").write_text("[]")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "modeling.py").write_text("raise SystemExit")
    gf.load(folder).save(tmp_path / "b")
    made = sorted(path.relative_to(tmp_path / "b").as_posix() for path in (tmp_path / "b").rglob("*") if path.is_file())
    assert made == ["1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "tokenizer.json"]


def test_a_config_of_another_encoder_is_refused(tmp_path):
    encoder = load_encoder(bert_folder(tmp_path / "a")).encoder
    said = refusal(export.save, encoder, tmp_path / "b", config={**CONFIG, "num_hidden_layers": 3})
    assert said == "the config says layers=3, the encoder has layers=2: give the config that belongs to it."


# Our own layout ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [BERT, MODERN, VIT, EncoderSpec(d_model=8, heads=2, layers=1, d_k=3, d_v=5)], ids=str)
def test_any_spec_is_written_in_our_own_layout_and_read_back(spec, tmp_path):
    encoder = Encoder(spec)
    gf.save(encoder, tmp_path / "m", labels=["a", "b", "c"] if spec is BERT else ())
    model = gf.load(tmp_path / "m")
    assert (model.spec, model.verdict) == (spec, "exact")
    assert same(model.encoder, encoder)
    assert set(read_header(tmp_path / "m" / "model.safetensors").tensors) == {name for name, _ in encoder.ledger()}
    if spec is BERT:
        assert model.labels == ["a", "b", "c"]
        assert json.loads((tmp_path / "m" / "spec.json").read_text()) == spec.to_dict()
    model.save(tmp_path / "again")
    assert same(gf.load(tmp_path / "again").encoder, encoder)


def test_the_float64_run_and_the_counting_read_our_own_layout_too(tmp_path):
    encoder = Encoder(BERT, dtype=torch.float64).eval()
    gf.save(encoder, tmp_path / "m")
    tokens = np.array([[3, 1, 4, 1, 5]])
    run = open_checkpoint(tmp_path / "m").run(tokens=tokens)
    assert np.abs(run.output - encoder(torch.as_tensor(tokens)).logits.detach().numpy()).max() < 1e-12
    assert gf.count(tmp_path / "m").total == sum(parameter.numel() for parameter in encoder.parameters())


def test_our_own_layout_is_strict_too(tmp_path):
    gf.save(Encoder(BERT), tmp_path / "m")
    document = json.loads((tmp_path / "m" / "spec.json").read_text())
    (tmp_path / "m" / "spec.json").write_text(json.dumps({**document, "layers": 3}))
    assert refusal(gf.load, tmp_path / "m").startswith("spec.json has 3 layers, but model.safetensors has 2 (0 to 1).")
    (tmp_path / "m" / "spec.json").write_text(json.dumps({**document, "classes": 4}))
    assert refusal(gf.load, tmp_path / "m").startswith("model.safetensors does not fit spec.json: of ")
    assert refusal(gf.load, tmp_path / "m", as_class="BertModel").startswith("--as BertModel is for a Hugging Face config; ")


# Checksums ---------------------------------------------------------------------------------------------------------------


def test_each_tensor_carries_its_sha256_and_safetensors_reads_the_file(tmp_path):
    gf.load(bert_folder(tmp_path / "a")).save(tmp_path / "b")
    path = tmp_path / "b" / "model.safetensors"
    header, data = read_header(path), path.read_bytes()
    assert header.metadata["format"] == "pt"
    for name, entry in header.tensors.items():
        assert header.metadata[f"sha256:{name}"] == hashlib.sha256(data[entry.start : entry.stop]).hexdigest()
    assert set(guest("safetensors.numpy").load_file(path)) == set(header.tensors)


def test_a_flipped_bit_is_named_by_its_tensor(tmp_path):
    gf.load(bert_folder(tmp_path / "a")).save(tmp_path / "b")
    path = tmp_path / "b" / "model.safetensors"
    good, tensors = path.read_bytes(), read_header(path).tensors
    rng = np.random.default_rng(3)
    start = min(entry.start for entry in tensors.values())
    for place in rng.integers(start, len(good), 25):
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        name = next(name for name, entry in tensors.items() if entry.start <= place < entry.stop)
        said = refusal(gf.load, tmp_path / "b")
        assert said.startswith(f"model.safetensors: tensor {name} does not match its sha256: at least one bit has changed")
        assert name in refusal(open_checkpoint(tmp_path / "b").run, tokens=[[1, 2]])
    path.write_bytes(good)
    assert gf.load(tmp_path / "b").verdict == "exact"


# Whole, or not at all ----------------------------------------------------------------------------------------------------


def test_nothing_is_overwritten(tmp_path):
    model = gf.load(bert_folder(tmp_path / "a"))
    assert refusal(model.save, tmp_path / "a").endswith("/a is not empty: choose another one; nothing is overwritten.")
    (tmp_path / "file").write_text("x")
    assert refusal(model.save, tmp_path / "file").endswith("already exists, and is not a folder: choose another name.")
    assert refusal(model.save, tmp_path / "no" / "where").endswith("/no: create it first.")
    (tmp_path / "empty").mkdir()
    model.save(tmp_path / "empty")
    assert gf.load(tmp_path / "empty").verdict == "exact"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_export_leaves_nothing(tmp_path, monkeypatch, error):
    model = gf.load(bert_folder(tmp_path / "a"))

    def fails(file: Any, parts: Any) -> None:
        file.write(b"half")
        raise error

    monkeypatch.setattr(export, "write_safetensors", fails)
    with pytest.raises(
        (GlassformerError, KeyboardInterrupt), match=r"^$|cannot be written: No space left on device\. Choose another place\.$"
    ):
        model.save(tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_is_reported_before_anything_is_written(tmp_path, monkeypatch):
    model = gf.load(bert_folder(tmp_path / "a"))
    monkeypatch.setattr(export.shutil, "disk_usage", lambda _: type("Room", (), {"free": 100}))
    assert refusal(model.save, tmp_path / "b").endswith("and 100 bytes are free there. Nothing was written.")


def test_a_folder_takes_its_name_only_after_all_of_it_is_on_the_disk(tmp_path, monkeypatch):
    order: list[str] = []
    sync, rename = folders.sync, Path.rename
    monkeypatch.setattr(folders, "sync", lambda path: (order.append(f"sync {path.name}"), sync(path)))
    monkeypatch.setattr(Path, "rename", lambda path, to: (order.append("rename"), rename(path, to)))
    gf.save(Encoder(BERT), tmp_path / "m")
    at = order.index("rename")
    assert {"sync spec.json", "sync model.safetensors"} <= set(order[:at])
    assert order[at - 1].startswith("sync .m.")
    assert order[at + 1 :] == [f"sync {tmp_path.name}"]


# ONNX --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(BERT, id="bert"),
        pytest.param(VIT, id="vit", marks=pytest.mark.slow),
        pytest.param(MODERN, id="modern", marks=pytest.mark.slow),
        pytest.param(BERT.replace(position="relative", positions=None, relative_buckets=8), id="t5", marks=pytest.mark.slow),
    ],
)
def test_an_onnx_graph_takes_any_batch_and_any_length(spec, tmp_path):
    runtime = guest("onnxruntime")
    guest("onnxscript")
    encoder = Encoder(spec).eval()
    checked = onnx_export.export_onnx(encoder, tmp_path / "m.onnx")
    assert len(checked.differences) == 3
    assert checked.worst < 1e-5
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    given = onnx_export.Graph(encoder).example(5, 11, seed=9)
    theirs = session.run(["logits"], {name: part.numpy() for name, part in zip(checked.inputs, given, strict=True)})[0]
    ours = encoder(*(part if i != 1 else part.bool() for i, part in enumerate(given))).logits.detach().numpy()
    real = given[1].bool().numpy() if len(given) > 1 and ours.ndim == 3 else slice(None)
    assert np.abs(ours - theirs)[real].max() < 1e-5


def test_a_graph_that_is_wrong_is_not_kept(tmp_path, monkeypatch):
    guest("onnxruntime")
    monkeypatch.setattr(onnx_export, "_write", lambda _, path: path.write_bytes(b"x"))
    checked = onnx_export.Checked(tmp_path, [], [], {"batch=1 t=3": 0.5, "batch=2 t=8": float("inf")})
    monkeypatch.setattr(onnx_export, "_check", lambda *_: checked)
    said = refusal(onnx_export.export_onnx, Encoder(BERT), tmp_path / "m.onnx")
    assert said.startswith("the ONNX graph differs from the model by ")
    assert list(tmp_path.iterdir()) == []


def test_missing_extras_are_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    said = refusal(onnx_export.export_onnx, Encoder(BERT), tmp_path / "m.onnx")
    assert said == "ONNX needs the onnxscript package: pip install 'glassformer[export]'."
    assert refusal(onnx_export.export_onnx, Encoder(BERT), tmp_path / "m.bin").endswith(
        "the name of an ONNX graph ends in .onnx."
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": "abc"}, "labels=abc is not allowed: it is a list with the name of each class."),
        ({"labels": [1, 2, 3]}, "labels=[1, 2, 3] is not allowed"),
        ({"labels": ["a", "b"]}, "labels has 2 names, the head classes=3: give each class one name."),
        ({"config": "config.json"}, "config=config.json is not allowed: it must be a mapping with the content of a config.json."),
        ({"as_class": "BertModel"}, "as_class=BertModel belongs to a Hugging Face config: give config, or leave it out."),
        ({"beside": "nowhere"}, "no such folder: nowhere."),
        ({"beside": 5}, "beside=5 is not allowed: beside must be a path"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_written(tmp_path, options, said):
    assert said in refusal(gf.save, Encoder(BERT), tmp_path / "m", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["", " ", None, b"m", 5, "a\0b"])
def test_a_folder_without_a_name_is_not_the_current_one(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    assert "folder must be a path" in refusal(gf.save, Encoder(BERT), folder)
    assert "folder must be a path" in refusal(gf.load, folder)
    assert list(tmp_path.iterdir()) == []


def test_only_encoders_are_saved_and_companions_may_be_given_as_a_string(tmp_path):
    model = gf.load(add_tokenizer(bert_folder(tmp_path / "bert")))
    assert "gf.save expects an encoder" in refusal(gf.save, model, tmp_path / "m")
    gf.save(model.encoder, tmp_path / "m", beside=str(tmp_path / "bert"))
    assert (tmp_path / "m" / "tokenizer.json").is_file()
