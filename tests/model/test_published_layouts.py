"""Files in a published form that transformers has only under another name: the same tensors, the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Case, all_in_float64, guest, inputs_for, model_of, save

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
