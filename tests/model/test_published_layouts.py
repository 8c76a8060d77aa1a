"""Files in a published form that transformers has only under another name: the same tensors, the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import EVEN, Case, all_in_float64, forward, guest, inputs_for, model_of, save

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.answers import our_answer
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.numbers import open_checkpoint

NEW = {"position_embedding_type": "rope", "pack_qkv": True, "layer_norm_type": "layer_norm", "auto_map": {"AutoModel": "m.M"}}
NTK = {"rope_theta": 500.0, "rope_scaling": {"type": "ntk", "factor": 3.0}}


def as_published(folder: Path, name: str, changes: dict[str, Any]) -> None:
    """Rewrite the config of a saved GTE in the form of `new`."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["rope_parameters"]
    config |= {"model_type": "new", "architectures": [name], **NEW, **changes}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def ntk_speeds(model: Any, base: float, factor: float) -> None:
    """Give a GTE of transformers the angles of the published code: a base times the factor, and all divided by its root."""
    torch = guest("torch")
    half = len(model.rotary_emb.inv_freq)
    speeds = (base * factor) ** (-torch.arange(half, dtype=torch.float64) / half) / factor ** (1 / half)
    model.rotary_emb.inv_freq = speeds


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_gte_in_the_published_form_computes_what_transformers_computes(scaled, padded, tmp_path):
    torch = guest("torch")
    case = Case("gte", "GteModel", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}})
    model = model_of(case)
    save(model, tmp_path)
    as_published(tmp_path, "NewModel", NTK if scaled else {"rope_theta": 500.0})
    if scaled:
        ntk_speeds(model, 500.0, 3.0)
    given = inputs_for(case, padded=padded)
    names = {"tokens": "input_ids", "segments": "token_type_ids", "attend": "attention_mask"}
    with all_in_float64(), torch.no_grad():
        theirs = model(**{names[key]: torch.as_tensor(value) for key, value in given.items()}).last_hidden_state.numpy()
    real = np.asarray(given.get("attend", np.ones(theirs.shape[:2]))).astype(bool)
    loaded = load_encoder(tmp_path, dtype="float64")
    assert loaded.verdict == "exact"
    ours = our_answer(loaded.encoder, given).outputs["states"]
    assert np.abs(ours - theirs)[real].max() < 1e-10 * np.abs(theirs).max()
    run = open_checkpoint(tmp_path).run(**given)
    assert np.abs(run["layers.1.out"] - theirs)[real].max() < 1e-10 * np.abs(theirs).max()


# Jina's second BERT -----------------------------------------------------------------------------------------------------

JINA = {
    "_name_or_path": "jinaai/jina-bert-implementation",
    "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
    "architectures": ["JinaBertModel"],
    "model_type": "bert",
    "position_embedding_type": "alibi",
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "vocab_size": 37,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "intermediate_size": 20,
    "max_position_embeddings": 19,
    "type_vocab_size": 2,
    "emb_pooler": "mean",
}
SLOPES = {3: [1 / 16, 1 / 256, 1 / 4], 6: [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]}


def jina_tensors(kind: str, head: bool) -> dict[str, tuple[int, ...]]:
    """The tensors of the published files of a model with this feed-forward block, with their shapes."""
    d, f, shapes = 12, 20, {"embeddings.word_embeddings.weight": (37, 12), "embeddings.token_type_embeddings.weight": (2, 12)}
    linear = {"pooler.dense": (d, d)} if not head else {}
    norms = ["embeddings.LayerNorm"]
    for n in range(2):
        at = f"encoder.layer.{n}."
        linear |= {f"{at}attention.self.{name}": (d, d) for name in ("query", "key", "value")}
        linear |= {f"{at}attention.output.dense": (d, d)}
        norms += [f"{at}attention.output.LayerNorm", f"{at}output.LayerNorm" if kind == "original" else f"{at}mlp.layernorm"]
        if kind == "original":
            linear |= {f"{at}intermediate.dense": (f, d), f"{at}output.dense": (d, f)}
        else:
            linear |= {f"{at}mlp.wo": (d, f)}
            shapes[f"{at}mlp.gated_layers.weight"] = (2 * f, d)
    for name, (rows, columns) in linear.items():
        shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    shapes |= {f"{name}.{part}": (d,) for name in norms for part in ("weight", "bias")}
    if not head:
        return shapes
    top = {"transform.dense.weight": (d, d), "transform.dense.bias": (d,), "bias": (37,)}
    top |= {"transform.LayerNorm.weight": (d,), "transform.LayerNorm.bias": (d,)}
    return {f"bert.{name}": shape for name, shape in shapes.items()} | {f"cls.predictions.{k}": v for k, v in top.items()}


def jina_states(w: dict[str, Any], kind: str, heads: int, given: dict[str, Any]) -> Any:
    """What the published code computes, written down from its description: the states after the last layer."""
    torch = guest("torch")
    functional = torch.nn.functional

    def linear(name: str, x: Any) -> Any:
        return functional.linear(x, w[f"{name}.weight"], w.get(f"{name}.bias"))

    def norm(name: str, x: Any) -> Any:
        return functional.layer_norm(x, (12,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    tokens, segments = torch.as_tensor(given["tokens"]), torch.as_tensor(given["segments"])
    x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.token_type_embeddings.weight"][segments]
    x = norm("embeddings.LayerNorm", x)
    away = (torch.arange(tokens.shape[1])[:, None] - torch.arange(tokens.shape[1])).abs()
    bias = -torch.tensor(SLOPES[heads])[:, None, None] * away
    mask = torch.as_tensor(given.get("attend", np.ones(tokens.shape)))[:, None, None].bool()
    for n in range(2):
        at = f"encoder.layer.{n}."
        q, k, v = (
            linear(f"{at}attention.self.{name}", x).unflatten(-1, (heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        scores = (q @ k.mT / q.shape[-1] ** 0.5 + bias).masked_fill(~mask, -torch.inf)
        mix = (scores.softmax(-1) @ v).transpose(1, 2).flatten(-2)
        x = norm(f"{at}attention.output.LayerNorm", x + linear(f"{at}attention.output.dense", mix))
        if kind == "original":
            wide = functional.gelu(linear(f"{at}intermediate.dense", x))
            x = norm(f"{at}output.LayerNorm", x + linear(f"{at}output.dense", wide))
        else:
            gate, other = linear(f"{at}mlp.gated_layers", x).chunk(2, -1)
            gate = functional.relu(gate) if kind == "reglu" else functional.gelu(gate)
            x = norm(f"{at}mlp.layernorm", x + linear(f"{at}mlp.wo", gate * other))
    return x


def in_folder(folder: Path, shapes: dict[str, tuple[int, ...]], config: dict[str, Any]) -> dict[str, Any]:
    """Write random weights of these shapes, and the config; return the weights."""
    torch, safetensors = guest("torch"), guest("safetensors.torch")
    chance = torch.Generator().manual_seed(0)
    weights = {name: torch.randn(*shape, generator=chance, dtype=torch.float64) * 0.4 for name, shape in shapes.items()}
    safetensors.save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return weights


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("kind", "heads"), [("original", 3), ("geglu", 6), ("reglu", 3)])
def test_jinas_second_bert_computes_what_its_code_computes(kind, heads, padded, tmp_path):
    config = JINA | {"feed_forward_type": kind, "num_attention_heads": heads}
    weights = in_folder(tmp_path, jina_tensors(kind, head=False), config)
    given = inputs_for(Case("bert", "BertModel"), padded=padded)
    theirs = jina_states(weights, kind, heads, given).numpy()
    real = np.asarray(given.get("attend", np.ones(theirs.shape[:2]))).astype(bool)
    loaded = load_encoder(tmp_path, dtype="float64")
    assert loaded.verdict == "exact"
    assert sum(value.numel() for value in loaded.encoder.parameters()) == sum(value.numel() for value in weights.values())
    assert np.abs(our_answer(loaded.encoder, given).outputs["states"] - theirs)[real].max() < 1e-12
    assert np.abs(open_checkpoint(tmp_path).run(**given)["layers.1.out"] - theirs)[real].max() < 1e-12


def load_safetensors(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = guest("safetensors.torch").load_file(file)
    return found


@pytest.mark.parametrize("kind", ["original", "geglu"])
def test_jinas_masked_token_head_finds_every_tensor(kind, tmp_path):
    config = JINA | {"feed_forward_type": kind, "num_attention_heads": 3, "architectures": ["JinaBertForMaskedLM"]}
    weights = in_folder(tmp_path, jina_tensors(kind, head=True), config)
    loaded = load_encoder(tmp_path, dtype="float64")
    assert loaded.verdict == "exact"
    assert sum(value.numel() for value in loaded.encoder.parameters()) == sum(value.numel() for value in weights.values())
    gf.load(tmp_path, dtype="float64").save(tmp_path / "again")
    again = load_safetensors(tmp_path / "again" / "model.safetensors")
    assert set(again) == set(weights)
    assert all(bool((again[name] == value).all()) for name, value in weights.items())


# NeoBERT ----------------------------------------------------------------------------------------------------------------

NEOBERT = {
    "auto_map": {"AutoModel": "model.NeoBERT"},
    "architectures": ["NeoBERTLMHead"],
    "model_type": "neobert",
    "vocab_size": 37,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_length": 19,
    "norm_eps": 1e-5,
    "dim_head": 4,
}


def neobert_tensors() -> dict[str, tuple[int, ...]]:
    """The tensors of the published file of a model with a masked-token head, with their shapes."""
    shapes = {"model.encoder.weight": (37, 12), "model.layer_norm.weight": (12,)}
    for n in range(2):
        at = f"model.transformer_encoder.{n}."
        shapes |= {f"{at}qkv.weight": (36, 12), f"{at}wo.weight": (12, 12)}
        shapes |= {f"{at}ffn.w12.weight": (32, 12), f"{at}ffn.w3.weight": (12, 16)}
        shapes |= {f"{at}attention_norm.weight": (12,), f"{at}ffn_norm.weight": (12,)}
    return {**shapes, "decoder.weight": (37, 12), "decoder.bias": (37,)}


def neobert_logits(w: dict[str, Any], given: dict[str, Any]) -> Any:
    """What the published code computes, written down from its description, with rotations as products of complex numbers."""
    torch = guest("torch")
    functional = torch.nn.functional

    def norm(name: str, x: Any) -> Any:
        return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w[f"model.{name}.weight"]

    tokens = torch.as_tensor(given["tokens"])
    x = w["model.encoder.weight"][tokens]
    angles = torch.arange(tokens.shape[1])[:, None] / 10_000.0 ** (torch.arange(0, 4, 2) / 4).double()
    turn = torch.polar(torch.ones_like(angles), angles)[None, :, None]
    mask = torch.as_tensor(given.get("attend", np.ones(tokens.shape)))[:, None, None].bool()
    for n in range(2):
        at = f"transformer_encoder.{n}."
        qkv = functional.linear(norm(f"{at}attention_norm", x), w[f"model.{at}qkv.weight"])
        q, k, v = qkv.unflatten(-1, (3, 12)).chunk(3, -1)
        pairs = [torch.view_as_complex(y.unflatten(-1, (2, 2)).contiguous()) for y in (q, k)]
        q, k = (torch.view_as_real(pair * turn).flatten(-2) for pair in pairs)
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        weights = (q @ k.mT / 2).masked_fill(~mask, -torch.inf).softmax(-1)
        x = x + functional.linear((weights @ v).transpose(1, 2).flatten(-2), w[f"model.{at}wo.weight"])
        gate, other = functional.linear(norm(f"{at}ffn_norm", x), w[f"model.{at}ffn.w12.weight"]).chunk(2, -1)
        x = x + functional.linear(functional.silu(gate) * other, w[f"model.{at}ffn.w3.weight"])
    return functional.linear(norm("layer_norm", x), w["decoder.weight"], w["decoder.bias"])


@pytest.mark.parametrize("padded", [False, True])
def test_neobert_computes_what_its_code_computes(padded, tmp_path):
    weights = in_folder(tmp_path, neobert_tensors(), NEOBERT)
    given = inputs_for(Case("bert", "BertModel"), padded=padded)
    del given["segments"]
    theirs = neobert_logits(weights, given).numpy()
    real = np.asarray(given.get("attend", np.ones(theirs.shape[:2]))).astype(bool)
    loaded = load_encoder(tmp_path, dtype="float64")
    assert loaded.verdict == "exact"
    assert sum(value.numel() for value in loaded.encoder.parameters()) == sum(value.numel() for value in weights.values())
    assert np.abs(our_answer(loaded.encoder, given).outputs["logits"] - theirs)[real].max() < 1e-12
    assert np.abs(open_checkpoint(tmp_path).run(**given)["head.logits"] - theirs)[real].max() < 1e-12
    gf.load(tmp_path, dtype="float64").save(tmp_path / "again")
    again = load_safetensors(tmp_path / "again" / "model.safetensors")
    assert set(again) == set(weights)
    assert all(bool((again[name] == value).all()) for name, value in weights.items())


# Jina's XLM-RoBERTa ----------------------------------------------------------------------------------------------------

FLASH = {
    "model_type": "xlm-roberta",
    "architectures": ["XLMRobertaModel"],
    "auto_map": {"AutoConfig": "jinaai/xlm-roberta-flash-implementation--configuration_xlm_roberta.XLMRobertaFlashConfig"},
    "position_embedding_type": "rotary",
    "rotary_emb_base": 20000.0,
    "lora_adaptations": ["query", "passage"],
    "lora_rank": 3,
    **{key: value for key, value in EVEN.items() if key != "num_labels"},
    "type_vocab_size": 1,
}
FLASH_NAMES = {"norm1": "post_attention_layernorm", "norm2": "post_mlp_layernorm", "mlp.fc1": "mlp.fc1", "mlp.fc2": "mlp.fc2"}


def flash_tensors(model: Any) -> dict[str, Any]:
    """The weights of a Jina v3 of transformers as its authors publish them, with two adapters for every matrix."""
    torch = guest("torch")
    adapted = ("embeddings.word", "embeddings.token_type", "mixer.", "mlp.", "pooler.")
    found: dict[str, Any] = {}
    weights = dict(model.state_dict())
    for number in range(FLASH["num_hidden_layers"]):
        for kind in ("weight", "bias"):
            own = f"layers.{number}.self_attn"
            parts = [weights.pop(f"{own}.{letter}_proj.{kind}") for letter in "qkv"]
            weights[f"encoder.layers.{number}.mixer.Wqkv.{kind}"] = torch.cat(parts)
            weights[f"encoder.layers.{number}.mixer.out_proj.{kind}"] = weights.pop(f"{own}.o_proj.{kind}")
            for new, old in FLASH_NAMES.items():
                weights[f"encoder.layers.{number}.{new}.{kind}"] = weights.pop(f"layers.{number}.{old}.{kind}")
    for name, value in weights.items():
        name = name.replace("embeddings.LayerNorm", "emb_ln")
        if name.endswith(".weight") and any(part in name for part in adapted):
            inside = f"roberta.{name.removesuffix('weight')}parametrizations.weight."
            found |= {f"{inside}original": value, f"{inside}0.lora_A": torch.randn(2, 3, value.shape[1])}
            found[f"{inside}0.lora_B"] = torch.randn(2, value.shape[0], 3)
            if "embeddings" in name:  # a table's rows are what goes in
                found |= {
                    f"{inside}0.lora_A": torch.randn(2, 3, len(value)),
                    f"{inside}0.lora_B": torch.randn(2, value.shape[1], 3),
                }
        elif "rotary" not in name and "_ids" not in name:
            found[f"roberta.{name}"] = value
    return {name: value.contiguous() for name, value in found.items()}


@pytest.mark.parametrize("padded", [False, True])
def test_a_published_jina_v3_computes_what_transformers_computes_beside_its_adapters(padded, tmp_path):
    case = Case("jina_embeddings_v3", "JinaEmbeddingsV3Model", {"type_vocab_size": 1, "rope_theta": 20000.0})
    model, given = model_of(case), inputs_for(case, padded=padded)
    tensors = flash_tensors(model)
    guest("safetensors.torch").save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(FLASH), encoding="utf-8")
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.parameters == sum(value.numel() for value in tensors.values())
    theirs = forward(case, model, given).last_hidden_state.numpy()
    real = given["attend"] == 1 if padded else np.ones(given["tokens"].shape, dtype=bool)
    assert np.abs(checkpoint.run(**given).hidden[-1] - theirs)[real].max() < 1e-10
    with pytest.raises(GlassformerError, match="adapters=2,3 is not implemented in the model"):
        gf.load(tmp_path)
