"""On a GPU, from strings in Parquet to Parquet on disk, compared with `encode` in memory and sentence-transformers.

    python bench/gpu_files.py [--texts 200000] [--budget 220] [--out figures.json]

Weights are random, texts are real words of mixed lengths (a mean of about 90 tokens). sentence-transformers runs in bfloat16
with each of several batch sizes on a sample, and then with the best of them; its rate is without reading and writing files.
Rows that no longer fit into the budget of seconds say so. On a machine without a GPU the figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from measuring import GPU, Figures, mixed_lengths, once, real_texts

import glassformer as gf
from glassformer.training.tokenizers import Tokenizer

DEVICE = "cuda" if GPU else "cpu"
DTYPE = "bfloat16" if GPU else "float32"
MODELS = {"12 × 384": {"hidden_size": 384, "intermediate_size": 1536}, "BERT-base": {}}  # 12 layers and 12 heads
SIZES = (128, 256, 512, 1024)
SAMPLE = 8_192


def texts_of(count: int) -> list[str]:
    written = real_texts("topic", "sentiment", "mlm", split="train")
    draw = random.Random(0)
    pool = [" ".join(draw.choices(written, k=6)).split() for _ in range(4096)]
    return [" ".join(draw.choice(pool)[: max(4, int(0.6 * most))]) for most in (mixed_lengths() * (count // 4096 + 1))[:count]]


def made(folder: Path, sizes: dict[str, int], texts: list[str]) -> Path:
    """A checkpoint in the layout of transformers with fresh weights, and a tokenizer."""
    from transformers import BertConfig, BertModel

    tokenizer = Tokenizer.train(texts[:4000], vocab=30522)
    BertModel(BertConfig(**sizes), add_pooling_layer=True).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **special}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def written(path: Path, texts: list[str]) -> Path:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    parquet.write_table(arrow.table({"text": texts, "id": list(range(len(texts)))}), path, row_group_size=8192)
    return path


def from_files(model: Path, file: Path, count: int) -> dict[str, float]:
    """The whole command with its default workers: when the first and the last shard are there, and when it has ended."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        words = ["--out", out, "--truncate", "--dtype", DTYPE, "--store", "float16", "--device", DEVICE]
        began = time.perf_counter()
        line = [sys.executable, "-m", "glassformer", "encode", model, file, *words]
        job = subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL)
        seen: dict[str, float] = {}
        while job.poll() is None:
            for shard in out.glob("shards/[0-9]*.parquet"):
                seen.setdefault(shard.name, time.perf_counter() - began)
            time.sleep(0.005)
        seconds = time.perf_counter() - began
        if job.returncode != 0:
            raise RuntimeError(f"the command ended with {job.returncode}")
        manifest = json.loads((out / "manifest.json").read_text())
        for shard in manifest["shards"]:
            seen.setdefault(f"{shard['name']}.parquet", seconds)
        first, last = min(seen.values()), max(seen.values())
        after = count - manifest["shards"][0]["rows"]
        return {
            "rows_s": count / seconds,
            "rows_s_after_first_shard": after / (last - first),  # to the last shard
            "rows_s_after_first_shard_to_the_end": after / (seconds - first),
            "first_shard_s": first,
            "last_shard_s": last,
            "end_s": seconds,
            "tokens": manifest["tokens"],
        }


def in_memory(model: Path, texts: list[str]) -> dict[str, float]:
    loaded = gf.load(model, dtype=DTYPE, device=DEVICE)
    loaded.encode(texts[:SAMPLE], truncate=True)
    return {"rows_s": len(texts) / once(lambda: loaded.encode(texts, truncate=True))}


def theirs(model: Path, texts: list[str]) -> dict[str, float]:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(str(model), device=DEVICE, model_kwargs={"dtype": getattr(torch, DTYPE)})
    loaded.max_seq_length = 512
    loaded.encode(texts[:256], batch_size=128, show_progress_bar=False)
    rates = {
        size: SAMPLE / once(lambda size=size: loaded.encode(texts[:SAMPLE], batch_size=size, show_progress_bar=False))
        for size in SIZES
    }
    best = max(rates, key=rates.__getitem__)
    some = texts[: min(len(texts), 3 * SAMPLE)]
    seconds = once(lambda: loaded.encode(some, batch_size=best, show_progress_bar=False))
    return {"rows_s": len(some) / seconds, "best_batch": best, **{f"rows_s_at_{size}": rate for size, rate in rates.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--budget", type=float, default=220, help="seconds after which no row is begun")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    figures, texts = Figures(chosen.out, chosen.budget), texts_of(chosen.texts)
    with tempfile.TemporaryDirectory() as place:
        for name, fields in MODELS.items():
            model = made(Path(place) / str(len(name)), fields, texts)
            some = texts if name != "BERT-base" else texts[: len(texts) // 2]
            file = written(Path(place) / f"{len(some)}.parquet", some)
            figures.row(name, "sentence-transformers, strings in memory", lambda m=model, t=some: theirs(m, t))
            figures.row(name, "glassformer, strings in memory", lambda m=model, t=some: in_memory(m, t))
            count = len(some)
            figures.row(name, "glassformer encode, Parquet to Parquet", lambda m=model, f=file, n=count: from_files(m, f, n))
            print(f"{name}: {ratios(*figures.document[name].values())}", flush=True)


def ratios(peer: dict[str, float], memory: dict[str, float], files: dict[str, float]) -> str:
    if not all("rows_s" in row for row in (peer, memory, files)):
        return "a row is missing, so there are no ratios"
    rates = {"from the first shard to the last": "rows_s_after_first_shard", "the whole command": "rows_s"}
    told = [
        f"{what}: {files[rate]:,.0f} rows/s, {files[rate] / memory['rows_s']:.0%} of encode in memory (goal 85%), "
        f"{files[rate] / peer['rows_s']:.1f} × the peer (goal 8)"
        for what, rate in rates.items()
    ]
    return "; ".join([*told, f"first shard after {files['first_shard_s']:.1f} s (goal 10)"])


if __name__ == "__main__":
    main()
