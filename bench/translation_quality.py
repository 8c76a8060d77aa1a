"""BLEU of `glassformer train` beside torch.nn.Transformer and Marian of transformers: same sizes, data, batches, steps and rates.

    PYTHONPATH=src python bench/translation_quality.py --out FOLDER [--seeds 0,1,2] [--lrs 7e-4] [--pairs FILE.tsv]

The data are the built-in set `translation-en-fr`, with `--pairs` (a table with columns en and fr) more training pairs: those that
share no sentence with its validation and test splits. Every run is a process of its own; all run at once. The peers have the
command's tokenizer, batches, schedule, label smoothing, weight decay, clipping and number format, Xavier-uniform matrices, and
the weights of the epoch with the lowest validation loss, as the command has. Every model translates the test split with the same
beam search; the peers compute the whole target anew for each token. Of several learning rates, the table has the one with the
lowest mean validation loss of each way.
"""

from __future__ import annotations

import argparse
import bz2
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.generation.beams import beam_search
from glassformer.model.generation.settings import Choice
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.optimizer import learning_rate
from glassformer.training.runs import Run
from glassformer.training.scoring import scores

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WAYS = ("glassformer", "nn.Transformer", "Marian")
SPLITS = ("train", "validation", "test")
Logits: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]  # sources, which of their tokens are real, targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, help="more training pairs: a table with columns en and fr")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--lrs", default="7e-4")
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--vocab", type=int, default=8000)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--max-length", type=int, default=64)
    parser.add_argument("--fields", default="norm=pre", help="further fields of our spec")
    parser.add_argument("--rows", type=int, help="keep so many pairs of each split, for a trial")
    parser.add_argument("--job", help="WAY,SEED,LR: what a process of its own does")
    chosen = parser.parse_args()
    if chosen.job:
        way, seed, lr = chosen.job.split(",")
        work = ours if way == WAYS[0] else peer
        found = work(chosen, way, int(seed), float(lr))
        place(chosen, way, seed, lr).with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_data(chosen)
    jobs = [(way, seed, lr) for seed in chosen.seeds.split(",") for lr in chosen.lrs.split(",") for way in WAYS]
    began = time.perf_counter()
    running = [start(chosen, *job) for job in jobs]
    finish(chosen, jobs, running)
    report(chosen, jobs, time.perf_counter() - began)


def place(chosen: argparse.Namespace, way: str, seed: Any, lr: Any) -> Path:
    """Where a job writes."""
    return chosen.out / f"{way.replace('.', '')}-{seed}-{str(lr).replace('.', '_')}"


def start(chosen: argparse.Namespace, way: str, seed: str, lr: str) -> subprocess.Popen[bytes]:
    """Start one job, with one thread."""
    job = ",".join((way, seed, lr))
    words = [sys.executable, __file__, *sys.argv[1:], "--job", job]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    with place(chosen, way, seed, lr).with_suffix(".log").open("wb") as log:
        return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **threads})


def finish(chosen: argparse.Namespace, jobs: Sequence[tuple[str, str, str]], running: list[subprocess.Popen[bytes]]) -> None:
    """Wait for all jobs; when one fails, end the others and print its log."""
    while None in (codes := [process.poll() for process in running]) and not any(codes):
        time.sleep(0.5)
    for job, process, code in zip(jobs, running, codes, strict=True):
        process.terminate()
        process.wait()
        if code:
            print(job, place(chosen, *job).with_suffix(".log").read_text(encoding="utf-8")[-3000:], flush=True)
    if any(codes):
        raise SystemExit("a job failed: its log is above")


def report(chosen: argparse.Namespace, jobs: Sequence[tuple[str, str, str]], seconds: float) -> None:
    """Print each run, and the mean of the seeds for each way at its best learning rate."""
    found = {job: json.loads(place(chosen, *job).with_suffix(".json").read_text(encoding="utf-8")) for job in jobs}
    summary: dict[str, Any] = {}
    for way in WAYS:
        by_rate = {lr: [one for (a, _, b), one in found.items() if (a, b) == (way, lr)] for lr in chosen.lrs.split(",")}
        lr = min(by_rate, key=lambda rate: statistics.mean(one["validation_loss"] for one in by_rate[rate]))
        runs = by_rate[lr]
        summary[way] = {"lr": lr, "parameters": runs[0]["parameters"], "steps": runs[0]["steps"]}
        for name in ("bleu", "chrf", "validation_loss", "training_seconds"):
            values = [one[name] for one in runs]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            summary[way][name] = {"mean": statistics.mean(values), "deviation": spread, "values": values}
        bleu, chrf = summary[way]["bleu"], summary[way]["chrf"]
        each = " ".join(f"{value:.2f}" for value in bleu["values"])
        print(f"{way:15} BLEU {bleu['mean']:.2f} ± {bleu['deviation']:.2f} ({each})  chrF {chrf['mean']:.2f}  lr {lr}")
    signatures = next(iter(found.values()))["signatures"]
    whole = {"settings": {name: str(value) for name, value in vars(chosen).items()}, "device": DEVICE, "seconds": seconds}
    whole |= {"signatures": signatures, "summary": summary, "runs": {",".join(job): one for job, one in found.items()}}
    (chosen.out / "translation_quality.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(signatures), f"{seconds:.0f} s in all", flush=True)


def write_data(chosen: argparse.Namespace) -> None:
    """Write the three splits, so that every run has the same."""
    sets = Path(sys.modules["glassformer.training"].__path__[0]) / "sets" / "translation-en-fr"
    splits: dict[str, list[tuple[str, str]]] = {}
    for name in SPLITS:
        with bz2.open(sets / f"{name}.jsonl.bz2", "rt", encoding="utf-8") as lines:
            splits[name] = [(row["en"], row["fr"]) for row in map(json.loads, lines)]
    if chosen.pairs:
        held = [
            {sentence.casefold() for name in SPLITS[1:] for sentence in (pair[side] for pair in splits[name])} for side in (0, 1)
        ]
        rows = (tuple(line.split("\t")[:2]) for line in chosen.pairs.read_text(encoding="utf-8").splitlines()[1:])
        splits["train"] = [(en, fr) for en, fr in rows if en.casefold() not in held[0] and fr.casefold() not in held[1]]
    (chosen.out / "data").mkdir(exist_ok=True)
    for name, pairs in splits.items():
        text = "".join(json.dumps({"en": en, "fr": fr}, ensure_ascii=False) + "\n" for en, fr in pairs[: chosen.rows])
        (chosen.out / "data" / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(name, len(pairs[: chosen.rows]), "pairs", flush=True)


def ours(chosen: argparse.Namespace, way: str, seed: int, lr: float) -> dict[str, Any]:
    """Run the commands `train` and `translate`."""
    run, began = run_folder(chosen, seed, lr), time.perf_counter()
    settings = {"epochs": chosen.epochs, "vocab": chosen.vocab, "lr": lr, "batch-tokens": chosen.batch_tokens, "seed": seed}
    settings |= {"max-length": chosen.max_length, "label-smoothing": 0.1, "compile": "no", "threads": 1, "out": run}
    sizes = {"d_model": chosen.d_model, "heads": chosen.heads, "layers": chosen.layers, "d_ff": 4 * chosen.d_model}
    fields = [f"{name}={value}" for name, value in (sizes | {"dropout": chosen.dropout}).items()] + chosen.fields.split()
    words = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
    columns = ["--text", "en", "--target", "fr"]
    command([str(word) for word in ("train", chosen.out / "data", "transformer", *fields, *columns, *words)])
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = {"training_seconds": lines[-1]["seconds"], "steps": lines[-1]["step"], "whole": time.perf_counter() - began}
    figures |= {"parameters": lines[0]["measured"]["parameters"], "best": lines[-1]["best"]}
    epochs = [line["validation"]["loss"] for line in lines if line["kind"] == "epoch"]
    figures |= {"validation_loss": min(epochs), "losses": epochs}
    test = load_data(**Run.open(run).about["data"]["source"]).test
    sources = place(chosen, way, seed, lr).with_suffix(".en")
    sources.write_text("\n".join(test.inputs) + "\n", encoding="utf-8")
    longest = ["--beams", "4", "--max-new-tokens", str(chosen.max_length), "--json"]
    written = command(["translate", str(run), "--file", str(sources), *longest])
    return figures | scored([one["text"] for one in json.loads(written)["translations"]], list(test.targets or ()))


def command(words: list[str]) -> str:
    """Run a command of glassformer; return what it prints."""
    done = subprocess.run([sys.executable, "-m", "glassformer", *words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def run_folder(chosen: argparse.Namespace, seed: int, lr: float) -> Path:
    """The run of the command, whose tokenizer and settings the peers take over."""
    return place(chosen, "run", seed, lr)


def opened(chosen: argparse.Namespace, seed: int, lr: float) -> Run:
    """Wait for the command's first step, and open its run."""
    folder = run_folder(chosen, seed, lr)
    log = folder / "metrics.jsonl"
    for _ in range(1200):
        if log.is_file() and log.read_text(encoding="utf-8").count("\n") > 1:
            return Run.open(folder)
        time.sleep(0.5)
    raise SystemExit(f"{folder} was not begun")


def scored(texts: list[str], references: list[str]) -> dict[str, Any]:
    """BLEU and chrF, with examples to look at."""
    found = scores(texts, references).to_dict()
    return {**found, "examples": list(zip(texts, references, strict=True))[:5], "device": DEVICE}


class Plain(nn.Module):
    """`torch.nn.Transformer` with one table of tokens, sinusoidal positions, and norms before the sub-layers."""

    def __init__(self, vocab: int, chosen: argparse.Namespace) -> None:
        super().__init__()
        width = chosen.d_model
        self.table = nn.Embedding(vocab, width)
        how = {"dropout": chosen.dropout, "batch_first": True, "norm_first": True}
        self.body = nn.Transformer(width, chosen.heads, chosen.layers, chosen.layers, 4 * width, **how)
        self.dropout = nn.Dropout(chosen.dropout)
        places, rates = torch.arange(512)[:, None], torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
        self.register_buffer("waves", torch.cat([torch.sin(places * rates), torch.cos(places * rates)], dim=1))

    def embedded(self, tokens: Tensor) -> Tensor:
        return self.dropout(self.table(tokens) * self.table.embedding_dim**0.5 + self.waves[: tokens.shape[1]])

    def forward(self, source: Tensor, attend: Tensor, target: Tensor) -> Tensor:
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        masks = {"src_key_padding_mask": ~attend, "memory_key_padding_mask": ~attend}
        states = self.body(self.embedded(source), self.embedded(target), tgt_mask=later, tgt_is_causal=True, **masks)
        return linear(states, self.table.weight)


class Marian(nn.Module):
    """Marian of transformers: norms after the sub-layers."""

    def __init__(self, vocab: int, chosen: argparse.Namespace) -> None:
        import transformers

        super().__init__()
        names = {"layers": chosen.layers, "attention_heads": chosen.heads, "ffn_dim": 4 * chosen.d_model}
        sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in names.items()}
        special = {"vocab_size": vocab, "pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 1}
        how = {"max_position_embeddings": 512, "attn_implementation": "sdpa", "scale_embedding": True, "dropout": chosen.dropout}
        self.body = transformers.MarianMTModel(transformers.MarianConfig(**sides, **special, **how, d_model=chosen.d_model))

    def forward(self, source: Tensor, attend: Tensor, target: Tensor) -> Tensor:
        given = {"input_ids": source, "attention_mask": attend, "decoder_input_ids": target, "use_cache": False}
        logits: Tensor = self.body(**given).logits
        return logits


def begin(model: nn.Module) -> nn.Module:
    """Xavier-uniform matrices, biases of zero, and tables whose rows have the length 1 on average."""
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.weight.requires_grad and "Sinusoidal" not in type(module).__name__:
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2 and not any(word in name for word in ("table", "shared", "embed", "lm_head")):
            nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    return model


def peer(chosen: argparse.Namespace, way: str, seed: int, lr: float) -> dict[str, Any]:
    """Train and translate with a peer, on the command's batches."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    run = opened(chosen, seed, lr)
    tokenizer, settings = run.tokenizer, run.settings
    assert tokenizer is not None
    data = load_data(**run.about["data"]["source"])
    train, held = (prepare(rows, tokenizer, max_length=chosen.max_length) for rows in (data.train, data.validation))
    stream = BatchStream(train, batch_tokens=settings.batch_tokens, seed=settings.seed)
    total = stream.total_steps(settings.epochs)
    model = begin({"nn.Transformer": Plain, "Marian": Marian}[way](tokenizer.vocab, chosen)).to(DEVICE)
    matrices = [one for one in model.parameters() if one.ndim > 1 and one.requires_grad]
    others = [one for one in model.parameters() if one.ndim < 2 and one.requires_grad]
    groups = [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=lr, fused=DEVICE == "cuda")
    began, step, losses = time.perf_counter(), 0, []
    best: tuple[float, dict[str, Tensor]] = (math.inf, {})
    for epoch in range(settings.epochs):
        model.train()
        for batch in stream.batches(epoch):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(settings, step, total)
            (loss_of(model, batch, settings.label_smoothing) / batch.targets).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
        losses.append(mean_loss(model, held))
        print(epoch, losses[-1], f"{time.perf_counter() - began:.0f} s", flush=True)
        if losses[-1] < best[0]:
            best = losses[-1], {name: value.detach().clone() for name, value in model.state_dict().items()}
    figures: dict[str, Any] = {"steps": step, "training_seconds": time.perf_counter() - began, "losses": losses}
    figures |= {"parameters": sum(one.numel() for one in matrices + others), "validation_loss": best[0]}
    model.load_state_dict(best[1])
    texts = translated(model.eval(), tokenizer, list(data.test.inputs), chosen.max_length)
    return figures | scored(texts, list(data.test.targets or ()))


def loss_of(model: Logits, batch: Any, smoothing: float) -> Tensor:
    """The sum of the losses of a batch."""
    batch = batch.to(DEVICE)
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        logits = model(batch.inputs, batch.attend, batch.target).flatten(0, 1)
    return cross_entropy(logits.float(), batch.labels.flatten(), reduction="sum", ignore_index=IGNORE, label_smoothing=smoothing)


@torch.no_grad()
def mean_loss(model: nn.Module, rows: Any) -> float:
    """The mean loss of a token, without smoothing."""
    model.eval()
    sums = [
        (float(loss_of(model, batch, 0.0)), batch.targets)
        for batch in BatchStream(rows, batch_tokens=8192, order="by_length").batches()
    ]
    return sum(loss for loss, _ in sums) / sum(count for _, count in sums)


class Whole:
    """Steps of a search in which the whole target of each row is computed anew."""

    def __init__(self, logits: Logits, source: Tensor, attend: Tensor, start: int) -> None:
        self.logits, self.given = logits, (source, attend)
        self.target = torch.full_like(source[:, :1], start)

    @property
    def next(self) -> Tensor:
        """The logits after the last token of each row."""
        return self.logits(*self.given, self.target)[:, -1].float()

    def step(self, tokens_B: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens_B[:, None]], dim=1)
        return self.next

    def select(self, rows_B: Tensor) -> None:
        self.given = (self.given[0][rows_B], self.given[1][rows_B])
        self.target = self.target[rows_B]


@torch.no_grad()
def translated(model: nn.Module, tokenizer: Any, sources: list[str], most: int) -> list[str]:
    """Translate with beam 4, sources of like length together."""
    found, ids = [""] * len(sources), tokenizer.encode(sources)
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    special = Tokens(ends=(tokenizer.end_id,), start=(tokenizer.start_id,), padding=tokenizer.pad_id)
    for first in range(0, len(order), 128):
        some = order[first : first + 128]
        rows = [ids[row][:most] for row in some]
        longest = max(map(len, rows))
        source = torch.tensor([row + [tokenizer.pad_id] * (longest - len(row)) for row in rows], device=DEVICE)
        attend = torch.arange(longest, device=DEVICE) < torch.tensor([len(row) for row in rows], device=DEVICE)[:, None]
        steps = Whole(partial(model), source, attend, tokenizer.start_id)
        for row, one in zip(some, beam_search(steps, steps.next, Choice(beams=4, max_new_tokens=most), special), strict=True):
            found[row] = tokenizer.decode(one.tokens).strip()
    return found


if __name__ == "__main__":
    main()
