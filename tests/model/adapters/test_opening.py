"""Folders in the layout of peft: read back, they compute the same, here and in peft; what does not fit is refused."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

import glassformer as gf
from glassformer.checkpoints.adapter_folder import is_adapter
from glassformer.configs.huggingface import from_config
from glassformer.encoding.jobs.identity import checkpoint_sha256
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.adapters import lora
from glassformer.model.adapters.lora import Lora
from glassformer.model.adapters.opening import load_adapted
from glassformer.model.adapters.peft_layout import write_adapter
from glassformer.model.checkpoints.loading import load_encoder

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

SIZES = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 24}
SIZES |= {"max_position_embeddings": 20, "pad_token_id": 0}
FAMILIES = {
    "BertConfig": SIZES | {"type_vocab_size": 2},
    "RobertaConfig": SIZES | {"type_vocab_size": 1, "bos_token_id": 2, "eos_token_id": 3},
    "ModernBertConfig": SIZES | {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3},
    "DebertaV2Config": SIZES | {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "DistilBertConfig": {
        "vocab_size": 40,
        "dim": 16,
        "n_heads": 2,
        "n_layers": 2,
        "hidden_dim": 24,
        "max_position_embeddings": 20,
    },
}
TOKENS = torch.arange(4, 16).reshape(2, 6)


def written(folder, family, symbols=("W_Q", "W_V", "W_1")):
    """A base model, and a folder of adapters with a head of three classes; returns both, and the merged encoder."""
    torch.manual_seed(0)
    config = getattr(transformers, family)(**FAMILIES[family])
    transformers.AutoModel.from_config(config).save_pretrained(folder / "base")
    document = json.loads((folder / "base" / "config.json").read_text(encoding="utf-8"))
    document |= {"id2label": {str(i): f"LABEL_{i}" for i in range(3)}, "label2id": {f"LABEL_{i}": i for i in range(3)}}
    classes = transformers.AutoModelForSequenceClassification.from_config(config)
    name = type(classes).__name__
    body = load_encoder(folder / "base", as_class=name).encoder
    encoder = Encoder(from_config(document, as_class=name).spec.replace(dropout=0.0)).eval()
    views = dict(body.ledger())
    with torch.no_grad():
        for one, view in encoder.ledger():
            if not one.startswith("head.") and one in views:
                view.copy_(views[one])
    lora.apply(encoder, Lora(3, 6.0, symbols))
    for piece in lora.pieces_of(encoder):
        torch.nn.init.normal_(piece.adapter.B, std=0.2)
    (folder / "adapter").mkdir()
    write_adapter(
        encoder, folder / "adapter", config=document, model_class=name, base=str(folder / "base"), new=("head", "pooler")
    )
    return folder / "base", folder / "adapter", lora.merged(encoder).eval()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_of_adapters_opens_as_the_merged_model(tmp_path, family):
    _, adapter, merged = written(tmp_path, family)
    assert is_adapter(adapter)
    loaded = load_adapted(adapter, as_class=None)
    assert loaded.verdict == "exact" or not loaded.folder.fresh
    with torch.no_grad():
        assert (loaded.encoder(TOKENS).logits - merged(TOKENS).logits).abs().max() < 1e-5


@pytest.mark.parametrize("family", FAMILIES)
def test_peft_computes_the_same(tmp_path, family):
    peft = pytest.importorskip("peft")
    base, adapter, merged = written(tmp_path, family)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(base, num_labels=3)
    found = peft.PeftModel.from_pretrained(model, adapter).eval()
    with torch.no_grad():
        theirs = found(TOKENS, attention_mask=torch.ones_like(TOKENS)).logits
        assert (theirs - merged(TOKENS).logits).abs().max() < 1e-5


@pytest.mark.parametrize("targets", [["query", "value"], "all-linear"], ids=str)
def test_folders_saved_by_peft_are_opened(tmp_path, targets):
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    transformers.AutoModel.from_config(transformers.BertConfig(**FAMILIES["BertConfig"])).save_pretrained(tmp_path / "base")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "base", num_labels=4)
    settings = peft.LoraConfig(task_type="SEQ_CLS", r=5, lora_alpha=7, target_modules=targets, init_lora_weights=False)
    model = peft.get_peft_model(model, settings).eval()
    model.save_pretrained(tmp_path / "adapter")
    with torch.no_grad():
        theirs = model(TOKENS, attention_mask=torch.ones_like(TOKENS)).logits
        ours = load_adapted(tmp_path / "adapter", as_class=None).encoder(TOKENS).logits
    assert theirs.shape == (2, 4) and (ours - theirs).abs().max() < 1e-5


def test_verify_accepts_a_folder_of_adapters(tmp_path):
    base, adapter, _ = written(tmp_path, "BertConfig")
    found = gf.verify(adapter)
    assert found.holds and len(found.comparisons) == 3
    assert found.notes[0] == f"These are the adapters of {adapter}, merged into {base}."


def changed(adapter, **settings):
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | settings), encoding="utf-8")


def test_what_does_not_fit_is_refused_in_one_line(tmp_path):
    _, adapter, _ = written(tmp_path, "BertConfig")
    for settings, words in (
        ({"peft_type": "IA3"}, "peft_type=IA3 is not supported: only LORA is."),
        ({"peft_type": "LORA", "use_dora": True}, "use_dora=True is not supported. Merge the adapters with peft first."),
        ({"use_dora": False, "bias": "all"}, "bias=all is not supported."),
        (
            {"bias": "none", "base_model_name_or_path": "someone/bert"},
            "holds adapters of someone/bert, which is not a local model folder",
        ),
    ):
        changed(adapter, **settings)
        with pytest.raises(GlassformerError, match="^[^\n]*" + words.replace(".", r"\.") + "[^\n]*$"):
            load_adapted(adapter, as_class=None)


def test_tensors_of_another_model_are_refused(tmp_path):
    _, adapter, _ = written(tmp_path, "BertConfig")
    tensors = load_file(adapter / "adapter_model.safetensors")
    name = next(name for name in tensors if name.endswith("query.lora_B.weight"))
    save_file(tensors | {name: torch.zeros(8, 3)}, adapter / "adapter_model.safetensors")
    with pytest.raises(GlassformerError, match=r"query\.weight is \[8, 16\], and the base model has \[16, 16\]\.$"):
        load_adapted(adapter, as_class=None)
    save_file(
        {name.replace("layer.1", "layer.7"): value for name, value in tensors.items()}, adapter / "adapter_model.safetensors"
    )
    with pytest.raises(GlassformerError, match=r"^adapter_model\.safetensors does not fit .*: no class of that family has all"):
        load_adapted(adapter, as_class=None)


def test_a_job_with_adapters_is_another_one_if_the_base_model_changes(tmp_path):
    base, adapter, _ = written(tmp_path, "BertConfig")
    before = checkpoint_sha256(adapter)
    assert checkpoint_sha256(adapter) == before != checkpoint_sha256(base)
    (base / "config.json").write_text((base / "config.json").read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert checkpoint_sha256(adapter) != before
