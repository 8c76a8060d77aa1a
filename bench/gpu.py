"""Training and encoding on a GPU compared with other libraries, in one run: medians with spread, as lines and as JSON.

    PYTHONPATH=src python bench/gpu.py --out figures.json [--tables training,encoding] [--seconds 540]

A row that fails or has no time left says so; the others continue.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from functools import partial
from pathlib import Path

import gpu_encoding as encoding
import gpu_growth
import gpu_training as training
import torch
from measuring import Figures, rates, seconds_of

BATCH, LENGTH = 64, 512
PRODUCTS = {
    "8192 x 8192 x 8192": (8192, 8192, 8192),
    "65536 x 768 x 3072": (65536, 768, 3072),
    "65536 x 768 x 768": (65536, 768, 768),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help=f"of {', '.join(TABLES)}")
    parser.add_argument("--only", help="one row: 'table: name'")
    parser.add_argument("--seconds", type=float, default=3600, help="start no row after so many")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/gpu.py needs a GPU, and there is none here. bench/cpu.py needs none.")
    torch.set_float32_matmul_precision("high")
    figures = Figures(chosen.out, chosen.seconds, chosen.only)
    for name in chosen.tables.split(","):
        TABLES[name](figures)


def ceiling(figures: Figures) -> None:
    """What a matrix product alone reaches, in TFLOP/s."""
    for name, (m, k, n) in PRODUCTS.items():
        figures.row("ceiling", name, partial(product, m, k, n))


def product(m: int, k: int, n: int) -> dict[str, float]:
    a, b = (torch.randn(size, k, device="cuda", dtype=torch.bfloat16) for size in (m, n))
    times = seconds_of(lambda: [torch.nn.functional.linear(a, b) for _ in range(10)], 8)
    return {"tflops": 10 * 2 * m * k * n / statistics.median(times) / 1e12}


def bert_base(figures: Figures) -> None:
    tokens = training.random_tokens(BATCH, LENGTH)
    figures.document["useful_flops"] = training.useful_flops("bert-base", BATCH, LENGTH)
    their, own = partial(training.hugging_face, "Bert", tokens), partial(training.ours, "bert-base", tokens)
    stack = partial(training.torch_encoder, tokens)
    rows = {
        "glassformer, compiled": partial(own, how="whole"),
        "Hugging Face BERT, sdpa, compiled": partial(their, how="whole"),
        "nn.TransformerEncoder, compiled, head everywhere": partial(stack, everywhere=True),
        "nn.TransformerEncoder, compiled, head at masked": partial(stack, everywhere=False),
        "glassformer, compiled, float8": partial(own, how="whole", float8=True),
        "Hugging Face BERT, sdpa, compiled, dropout 0.1": partial(their, how="whole", dropout=0.1),
        "nn.TransformerEncoder, compiled, head everywhere, dropout 0.1": partial(stack, everywhere=True, dropout=0.1),
        "glassformer, compiled, dropout 0.1": partial(own, how="whole", dropout=0.1),
        "glassformer, compiled, float8, dropout 0.1": partial(own, how="whole", float8=True, dropout=0.1),
    }
    for name, make in rows.items():
        figures.row("training", name, partial(training.measured, make, tokens.numel()))


def bert_base_otherwise(figures: Figures) -> None:
    tokens = training.random_tokens(BATCH, LENGTH)
    their, own = partial(training.hugging_face, "Bert", tokens), partial(training.ours, "bert-base", tokens)
    rows = {
        "glassformer, layers compiled": partial(own, how="layers"),
        "glassformer, eager": partial(own, how="eager"),
        "Hugging Face BERT, sdpa, eager": partial(their, how="eager"),
    }
    for name, make in rows.items():
        figures.row("training", name, partial(training.measured, make, tokens.numel()))


def mixed(figures: Figures) -> None:
    batches = training.mixed_batches(256, 4)
    real = sum(int(attend.sum()) for _, attend in batches) / len(batches)
    rows = {
        "Hugging Face BERT, padded, layers compiled": partial(training.theirs_mixed, batches, how="layers"),
        "glassformer, padding left out, layers compiled": partial(training.ours_mixed, batches),
        "glassformer, the same with dropout 0.1": partial(training.ours_mixed, batches, dropout=0.1),
    }
    for name, make in rows.items():
        figures.row("mixed lengths", name, partial(training.measured, make, real))


def shapes(figures: Figures) -> None:
    large, vit, long = training.random_tokens(32, 512), 256, training.random_tokens(8, 8192, 50000)
    sizes = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    theirs = partial(training.hugging_face, how="layers")
    rows = {
        "ModernBERT-base, 8 x 8192": {
            "Hugging Face, sdpa": (partial(theirs, "ModernBert", long), long.numel()),
            "glassformer": (partial(training.ours, "modernbert-base", long, how="layers"), long.numel()),
        },
        "ViT-B/16, 256 images": {
            "Hugging Face, sdpa": (partial(training.their_vit, vit, how="whole"), vit),
            "glassformer": (partial(training.our_vit, vit, how="whole"), vit),
            "glassformer, float8": (partial(training.our_vit, vit, how="whole", float8=True), vit),
        },
        "BERT-large, 32 x 512": {
            "Hugging Face, sdpa": (partial(training.hugging_face, "Bert", large, how="whole", **sizes), large.numel()),
            "glassformer": (partial(training.ours, "bert-large", large, how="whole"), large.numel()),
            "glassformer, float8": (partial(training.ours, "bert-large", large, how="whole", float8=True), large.numel()),
        },
    }
    for table, entries in rows.items():
        for name, (make, amount) in entries.items():
            figures.row(table, name, partial(training.measured, make, amount))


def encode(figures: Figures) -> None:
    texts = encoding.sequences()
    real = sum(map(len, texts))
    rows = {
        "Hugging Face BERT, batches of 64 unsorted": partial(encoding.hugging_face, texts, batch=64, by_length=False),
        "Hugging Face BERT, batches of 64 sorted": partial(encoding.hugging_face, texts, batch=64, by_length=True),
        "Hugging Face BERT, batches of 256 sorted": partial(encoding.hugging_face, texts, batch=256, by_length=True),
        "glassformer, packed": partial(encoding.packed, texts, compiled=False),
        "glassformer, packed, layers compiled": partial(encoding.packed, texts, compiled=True),
    }
    for name, make in rows.items():
        figures.row("encoding", name, lambda make=make: rates(seconds_of(make(), 7), real / 1000))
    figures.row("strings", "glassformer, 4,096 texts", partial(encoding.strings, 4096))


def latency(figures: Figures) -> None:
    figures.row("latency", "Hugging Face BERT", partial(encoding.latency_theirs, 16, mode=None))
    figures.row("latency", "glassformer", partial(encoding.latency_ours, 16))


def graphs(figures: Figures) -> None:
    recorded = partial(encoding.latency_theirs, 16, mode="reduce-overhead")
    figures.row("latency", "Hugging Face BERT, compiled with CUDA graphs", recorded)


def growth(figures: Figures) -> None:
    for over, name in (("tokens", "modernbert-base"), ("layers", "bert-base"), ("batch", "bert-base")):
        figures.row("growth", over, partial(gpu_growth.growth, name, over))


def memory(figures: Figures) -> None:
    cases = {
        "training, bfloat16 autocast, 8 x 128": {"train": True, "dtype": "bfloat16", "batch": 8, "t": 128},
        "training, bfloat16 autocast, 64 x 512": {"train": True, "dtype": "bfloat16", "batch": 64, "t": 512},
        "training, float32, 32 x 512": {"train": True, "dtype": "float32", "batch": 32, "t": 512},
        "forward, bfloat16, 64 x 512": {"train": False, "dtype": "bfloat16", "batch": 64, "t": 512},
        "forward, float32, 64 x 512": {"train": False, "dtype": "float32", "batch": 64, "t": 512},
    }
    for name, case in cases.items():
        figures.row("memory", name, partial(training.peak, "bert-base", pooler="none", **case))
    for name, batch, t in (("bert-base", 64, 512), ("bert-large", 32, 512), ("vit-b16", 256, None)):
        row = f"{name}, layers compiled, {batch} x {t or 197}"
        figures.row("memory", row, partial(training.peak_compiled, name, batch, t))
        figures.row("memory", f"{row}, float8", partial(training.peak_compiled, name, batch, t, float8=True))


def curves(figures: Figures) -> None:
    for learns, steps in {"topics": 400, "masked tokens": 1000}.items():
        for how in gpu_growth.HOWS:
            figures.row("curves", f"{learns}, {how}", partial(gpu_growth.curve, learns, how=how, steps=steps))


TABLES = {
    "ceiling": ceiling,
    "training": bert_base,
    "encoding": encode,
    "latency": latency,
    "memory": memory,
    "mixed": mixed,
    "shapes": shapes,
    "growth": growth,
    "curves": curves,
    "otherwise": bert_base_otherwise,
    "graphs": graphs,
}

if __name__ == "__main__":
    main()
