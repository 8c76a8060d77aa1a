"""Translation on a GPU: the commands `train` and `translate` compared with nn.Transformer and Marian of transformers, in one run.

    PYTHONPATH=src python bench/gpu_translation.py --out FOLDER --pairs FILE.tsv [--epochs 3] [--batch-tokens 25000]

A model of 6 + 6 layers, 512 wide. Training: real tokens (of sources and targets) a second, over whole epochs with validation and
checkpoints for the command, over steps alone for the others, whose batches are of like length, padded to a multiple of 8, and
made in advance. All use bfloat16 and fused AdamW, with layers compiled one by one. Translating: 1,000 sources of that file with
beam 4, the command's model compared with `generate` of transformers on the same weights.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from measuring import GPU, Gate, wait
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.examples import Batch
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.runs import Run

WIDTH, HEADS, LAYERS, LONGEST, SMOOTHING, DROPOUT = 512, 8, 6, 64, 0.1, 0.1
DEVICE, WARM_UPS, SIZES = "cuda" if GPU else "cpu", 40 if GPU else 2, (64, 256, 1024)
SPEC = ("opus-mt-en-fr", f"dropout={DROPOUT}")  # Marian's sizes: those above


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True, help="a table with columns en and fr")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=25_000)
    parser.add_argument("--seconds", type=float, default=20, help="for which a peer is timed")
    parser.add_argument("--way", choices=("ours", "torch", "marian", "translate"))
    parser.add_argument("--vocab", type=int, default=16_000)
    parser.add_argument("--options", default="", help="further options of the command")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    ways = {"ours": ours, "torch": peer, "marian": peer, "translate": translate}
    found = ways[chosen.way](chosen)
    print(chosen.way, json.dumps(found), flush=True)
    (chosen.out / f"{chosen.way}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def ours(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run `glassformer train`; read its rates from the log that it writes."""
    run = chosen.out / "run"
    settings = {"epochs": chosen.epochs, "batch-tokens": chosen.batch_tokens, "max-length": LONGEST, "vocab": chosen.vocab}
    settings |= {"log-every": 1, "out": run, "lr": 5e-4, "text": "en", "target": "fr"}
    words = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
    command = [sys.executable, "-m", "glassformer", "train", str(chosen.pairs), *SPEC, *words, *chosen.options.split()]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-3000:])
    log = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    steps, epochs = ([line for line in log if line["kind"] == kind] for kind in ("step", "epoch"))
    figures: dict[str, Any] = {
        "whole_command_s": time.perf_counter() - began,
        "steps": len(steps),
        "compiled": log[0]["measured"]["compiled"],
    }
    before = 0.0
    for number, line in enumerate(epochs, 1):
        tokens = sum(step["tokens"] for step in steps if step["epoch"] == number)
        figures[f"epoch_{number}_tokens_s"] = tokens / (line["seconds"] - before)
        before = line["seconds"]
    late = sorted(step["per_second"] for step in steps[-len(steps) // 3 :])
    figures |= {"step_tokens_s": late[len(late) // 2], "slowest_step": late[0], "peak_gb": (log[-1].get("peak_bytes") or 0) / 1e9}
    return figures | {"train_losses": [steps[0]["loss"], steps[-1]["loss"]], "test": log[-1].get("test", {}).get("bleu")}


def peer(chosen: argparse.Namespace) -> dict[str, Any]:
    """Train a peer for some seconds on the same rows, its layers compiled one by one, and then not compiled."""
    run = Run.open(chosen.out / "run")
    rows = prepare(load_data(**run.about["data"]["source"]).train, run.tokenizer, max_length=LONGEST)
    stream = BatchStream(rows, batch_tokens=chosen.batch_tokens, order="by_length", multiple=8)
    order = torch.randperm(stream.steps(0), generator=torch.Generator().manual_seed(0)).tolist()
    batches = [stream.at(0, place) for place in order[:300]]
    batches = [batch.with_tensors(Tensor.pin_memory) for batch in batches] if GPU else batches
    assert run.tokenizer is not None
    model = (Plain if chosen.way == "torch" else marian)(run.tokenizer.vocab).to(DEVICE).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=GPU)
    for layer in model.modules():
        if type(layer).__name__.endswith(("EncoderLayer", "DecoderLayer")):
            compile_layer(layer)

    def step(batch: Batch) -> None:
        with torch.autocast(DEVICE, torch.bfloat16):
            value = loss_of(model, batch.to(DEVICE, non_blocking=True)) / batch.targets
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    def rate() -> float:
        wait()
        began, tokens, steps = time.perf_counter(), 0, 0
        while time.perf_counter() - began < chosen.seconds:
            for batch in batches[steps % len(batches) :][:20]:
                step(batch)
                tokens, steps = tokens + batch.tokens, steps + 1
            wait()
        return tokens / (time.perf_counter() - began)

    torch._dynamo.config.recompile_limit = 64
    began = time.perf_counter()
    for batch in batches[:WARM_UPS]:
        step(batch)
    wait()
    padded = sum(one.inputs.numel() + one.target.numel() for one in batches if one.target is not None)
    figures: dict[str, Any] = {
        "warm_up_s": time.perf_counter() - began,
        "real_share": sum(one.tokens for one in batches) / padded,
    }
    with Gate():
        figures["compiled_tokens_s"] = rate()
        with torch.compiler.set_stance("force_eager"):
            figures["eager_tokens_s"] = rate()
    return figures | {"parameters": sum(p.numel() for p in model.parameters())}


def compile_layer(layer: nn.Module) -> None:
    """Compile a layer in place. `layer.compile()` leaves PyTorch's own layers as they are: Dynamo skips their files."""

    def call(*given: Any, **named: Any) -> Any:
        return type(layer).forward(layer, *given, **named)

    layer.forward = torch.compile(call, dynamic=True)  # type: ignore[method-assign]


class Plain(nn.Module):
    """`torch.nn.Transformer` with one table of tokens and sinusoidal positions."""

    def __init__(self, vocab: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab, WIDTH)
        nn.init.normal_(self.table.weight, std=WIDTH**-0.5)
        how = {"dropout": DROPOUT, "batch_first": True, "norm_first": True}
        self.body = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, 4 * WIDTH, **how)
        places, rates = torch.arange(512)[:, None], torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10_000) / WIDTH))
        self.register_buffer("waves", torch.cat([torch.sin(places * rates), torch.cos(places * rates)], dim=1))

    def embedded(self, tokens: Tensor) -> Tensor:
        return nn.functional.dropout(self.table(tokens) * WIDTH**0.5 + self.waves[: tokens.shape[1]], DROPOUT)

    def forward(self, source: Tensor, attend: Tensor, target: Tensor) -> Tensor:
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        masks = {"src_key_padding_mask": ~attend, "memory_key_padding_mask": ~attend}
        states = self.body(self.embedded(source), self.embedded(target), tgt_mask=later, tgt_is_causal=True, **masks)
        return linear(states, self.table.weight)


def marian(vocab: int) -> nn.Module:
    """Marian of transformers with the same sizes."""
    import transformers

    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", 4 * WIDTH))
    }
    names = {"vocab_size": vocab, "d_model": WIDTH, "pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 1}
    config = transformers.MarianConfig(**sides, **names, dropout=DROPOUT, max_position_embeddings=512, attn_implementation="sdpa")
    return transformers.MarianMTModel(config)


def loss_of(model: nn.Module, batch: Batch) -> Tensor:
    """The sum of the losses of a batch."""
    if isinstance(model, Plain):
        logits = model(batch.inputs, batch.attend, batch.target)
    else:
        logits = model(
            input_ids=batch.inputs, attention_mask=batch.attend, decoder_input_ids=batch.target, use_cache=False
        ).logits
    how = {"reduction": "sum", "ignore_index": IGNORE, "label_smoothing": SMOOTHING}
    return cross_entropy(logits.flatten(0, 1).float(), batch.labels.flatten(), **how)


def translate(chosen: argparse.Namespace) -> dict[str, Any]:
    """Translate 1,000 sources with beam 4: our translator and transformers' `generate`, on the same weights."""
    from transformers import AutoModelForSeq2SeqLM

    from glassformer.model.generation import steady, translations
    from glassformer.model.generation.translations import Translator

    folder = chosen.out / "run" / "best"
    sources = [line.split("\t")[0] for line in chosen.pairs.read_text(encoding="utf-8").splitlines()[1:]]
    sources = sources[:: max(1, len(sources) // 1000)][:1000]
    figures: dict[str, Any] = {}
    for dtype in ("float32", "bfloat16"):
        translator, texts = Translator(folder, dtype=dtype, device=DEVICE), []
        for name, served in (("ours_step_by_step", False), ("ours", True)):  # without and with recorded steps
            translations.serves_steadily = steady.serves if served else lambda *_: False
            translator.steady = None
            took, texts = translated(translator, sources)
            figures[f"{name}_{dtype}_texts_s"] = len(sources) / min(took[1:])
            figures[f"{name}_{dtype}_first_s"] = took[0]
        profile(translator, sources, chosen.out / f"profile_{dtype}.txt")
        model = (
            AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=getattr(torch, dtype), attn_implementation="sdpa")
            .to(DEVICE)
            .eval()
        )
        ids = [one.ids for one in translator.tokenizer.encode_batch(sources)]
        for size in SIZES:
            took, written = generated(model, ids, size)
            theirs = [translator.tokenizer.decode(row).strip() for row in written]
            figures[f"generate_{dtype}_{size}_texts_s"] = len(sources) / took
            figures[f"same_{dtype}_{size}"] = sum(one == other for one, other in zip(texts, theirs, strict=True)) / len(texts)
        print(figures, flush=True)
    (chosen.out / "translations.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return figures


def translated(translator: Any, sources: list[str], rounds: int = 4) -> tuple[list[float], list[str]]:
    """Seconds of each round, and what was written in the last."""
    from glassformer.model.generation.settings import Choice

    choice, times = Choice(beams=4, max_new_tokens=LONGEST), []
    texts: list[str] = []
    for _ in range(rounds):
        wait()
        began = time.perf_counter()
        texts = [one.text or "" for one in translator.write(sources, choice)]
        wait()
        times.append(time.perf_counter() - began)
    return times, texts


def profile(translator: Any, sources: list[str], path: Path) -> None:
    """Write where the time of one round goes: kernels, and what the host does."""
    from torch.profiler import ProfilerActivity

    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if GPU else [])]
    with torch.profiler.profile(activities=kinds) as found:
        translated(translator, sources, rounds=1)
    orders = ("self_cuda_time_total", "self_cpu_time_total") if GPU else ("self_cpu_time_total",)
    tables = [found.key_averages().table(sort_by=order, row_limit=30, max_name_column_width=70) for order in orders]
    path.write_text("\n".join(tables), encoding="utf-8")


@torch.inference_mode()
def generated(model: Any, ids: list[list[int]], size: int) -> tuple[float, list[list[int]]]:
    """Seconds of `generate` for sources sorted by length, and what it wrote."""
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    pad = model.config.pad_token_id
    found: list[list[int]] = [[] for _ in ids]
    wait()
    began = time.perf_counter()
    for start in range(0, len(order), size):
        some = order[start : start + size]
        longest = max(len(ids[row]) for row in some)
        tokens = torch.tensor([ids[row] + [pad] * (longest - len(ids[row])) for row in some], device=DEVICE)
        real = torch.arange(longest, device=DEVICE) < torch.tensor([len(ids[row]) for row in some], device=DEVICE)[:, None]
        written = model.generate(tokens, attention_mask=real, num_beams=4, max_new_tokens=LONGEST, do_sample=False)
        for row, one in zip(some, written.tolist(), strict=True):
            found[row] = one
    wait()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main()
