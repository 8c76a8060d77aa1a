"""Engines on a CPU: our PyTorch path, onnxruntime, OpenVINO and CTranslate2 with the same batches, in alternation in one process.

    python bench/engines.py [--texts 500] [--rounds 5] [--threads 2] [--out figures.json]

Batches hold texts of similar length: 2,048 tokens for ours and CTranslate2, which compute no padding, 1,024 with padding for the
graphs of onnxruntime and OpenVINO; sentence-transformers makes its own. An engine that is not installed is a row that says so.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cpu import checkpoint
from measuring import Figures, alternating, rates, real_texts

import glassformer as gf
from glassformer.encoding.engines.choice import write_graph
from glassformer.encoding.engines.graphs import opened
from glassformer.model.fast.packing import ON_CPU, rows

Encode = Callable[[list[str]], Any]
SETS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8")


def ours(_: Path, __: int) -> Encode:
    model = gf.load(checkpoint())
    return lambda texts: model.encode(texts, truncate=True)


def in_int8(_: Path, __: int) -> Encode:
    model = gf.load(checkpoint())
    model.round_products()
    return lambda texts: model.encode(texts, truncate=True)


def by_graph(engine: str) -> Callable[[Path, int], Encode]:
    def make(folder: Path, threads: int) -> Encode:
        model = gf.load(checkpoint())
        write_graph(model, "states", folder / "graph.onnx")
        model.run_by("states", opened(engine, folder / "graph.onnx", threads))
        return lambda texts: model.encode(texts, truncate=True)

    return make


def ctranslate2(kind: str) -> Callable[[Path, int], Encode]:
    def make(folder: Path, threads: int) -> Encode:
        import ctranslate2
        from ctranslate2.converters import TransformersConverter

        if not (folder / "ct2").exists():
            TransformersConverter(str(checkpoint())).convert(str(folder / "ct2"))
        encoder = ctranslate2.Encoder(str(folder / "ct2"), intra_threads=threads, inter_threads=1, compute_type=kind)
        model = gf.load(checkpoint())

        def encode(texts: list[str]) -> Any:
            ids = [one.tolist() for window in model.windows(texts, truncate=True) for one in window.ids]
            vectors = np.empty((len(texts), model.spec.d_model), np.float32)
            for members in rows([len(one) for one in ids], ON_CPU):
                states = np.array(encoder.forward_batch([ids[i] for i in members]).last_hidden_state)
                for row, i in zip(states, members, strict=True):
                    vectors[i] = row[: len(ids[i])].mean(0)
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

        return encode

    return make


def theirs(_: Path, __: int) -> Encode:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(checkpoint()), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


WAYS = {
    "ours": ours,
    "ours, int8": in_int8,
    "onnxruntime": by_graph("onnx"),
    "OpenVINO": by_graph("openvino"),
    "CTranslate2": ctranslate2("float32"),
    "CTranslate2, int8": ctranslate2("int8_float32"),
    "sentence-transformers": theirs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split()
    print("instruction sets:", " ".join(name for name in SETS if name in flags), flush=True)
    texts = real_texts("topic", "sentiment")
    random.Random(0).shuffle(texts)
    texts = texts[: chosen.texts]
    figures, ways = Figures(chosen.out, 3600), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in WAYS.items():

            def tried(name: str = name, make: Any = make) -> dict[str, Any]:
                ways[name] = make(Path(folder), chosen.threads)
                return {"ready": True}

            figures.row("ways", name, tried)
        vectors = {name: np.asarray(way(texts), dtype=np.float64) for name, way in ways.items()}  # and a warm-up
        times = alternating({name: lambda way=way: way(texts) for name, way in ways.items()}, chosen.rounds)
    for name, seconds in times.items():
        cosines = (vectors[name] * vectors["ours"]).sum(1)
        found = rates(seconds, len(texts)) | {"smallest_cosine": float(cosines.min()), "mean_cosine": float(cosines.mean())}
        figures.row("texts a second", name, lambda found=found: found)


if __name__ == "__main__":
    main()
