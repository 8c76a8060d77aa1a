"""Translation: `glassformer train translation-en-fr` compared with a plain torch.nn.Transformer of the same size, in one run.

    PYTHONPATH=src python bench/translation.py --out FOLDER [--epochs 6] [--d-model 128] [--layers 2]

Both have the same tokenizer, the same batches in the same order, as many steps, the same learning rates, label smoothing and
dropout. Each is a process of its own with one thread. Translations of the test split are scored by sacreBLEU.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.optimizer import learning_rate
from glassformer.training.runs import Run
from glassformer.training.scoring import scores
from glassformer.training.stepping import PART_TOKENS

DATA, LONGEST, HEADS = "translation-en-fr", 48, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--d-model", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocab", type=int, default=4000)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", choices=("both", "theirs"), default="both")
    chosen = parser.parse_args()
    if chosen.way == "theirs":
        print(json.dumps(theirs(chosen)))
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    found = {"ours": ours(chosen)}
    words = ["--way", "theirs", *(str(word) for pair in options(chosen).items() for word in pair)]
    done = subprocess.run([sys.executable, __file__, *words], check=True, stdout=subprocess.PIPE, text=True)
    found["theirs"] = json.loads(done.stdout.splitlines()[-1])
    (chosen.out / "translation.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


def options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options, as they are written."""
    return {f"--{name.replace('_', '-')}": value for name, value in vars(chosen).items() if name != "way"}


def fields(chosen: argparse.Namespace) -> list[str]:
    """Return the fields of our spec."""
    sizes = {"d_model": chosen.d_model, "heads": HEADS, "layers": chosen.layers, "d_ff": 4 * chosen.d_model, "dropout": 0.1}
    return [f"{name}={value}" for name, value in sizes.items()]


def ours(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run the commands `train` and `translate`."""
    run = chosen.out / "run"
    settings = {"epochs": chosen.epochs, "vocab": chosen.vocab, "lr": chosen.lr, "batch-tokens": chosen.batch_tokens}
    settings |= {"max-length": LONGEST, "threads": 1, "seed": chosen.seed, "average": min(3, chosen.epochs), "out": run}
    words = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
    began, spent = time.perf_counter(), children()
    subprocess.run([sys.executable, "-m", "glassformer", "train", DATA, *fields(chosen), *words], check=True, stdout=sys.stderr)
    figures: dict[str, Any] = {"seconds": time.perf_counter() - began, "cpu_seconds": children() - spent}
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    end, start = lines[-1], lines[0]
    figures |= {"steps": end["step"], "parameters": start["measured"]["parameters"], "best": end["best"], "test": end["test"]}
    figures["training_seconds"] = end["seconds"]
    test = load_data(DATA).test
    (chosen.out / "sources.txt").write_text("\n".join(test.inputs) + "\n", encoding="utf-8")
    for beams in (1, 4):
        began = time.perf_counter()
        command = ["translate", str(run), "--file", str(chosen.out / "sources.txt"), "--beams", str(beams), "--json"]
        command += ["--max-new-tokens", str(LONGEST)]
        done = subprocess.run([sys.executable, "-m", "glassformer", *command], check=True, stdout=subprocess.PIPE, text=True)
        texts = [one["text"] for one in json.loads(done.stdout)["translations"]]
        figures[f"beams_{beams}"] = scores(texts, test.targets or ()).to_dict() | {"seconds": time.perf_counter() - began}
    return figures


def children() -> float:
    """Return the CPU seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Plain(nn.Module):
    """`torch.nn.Transformer` with one table of tokens, sinusoidal positions, and norms before the sub-layers."""

    def __init__(self, vocab: int, width: int, layers: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        self.body = nn.Transformer(width, HEADS, layers, layers, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.dropout = nn.Dropout(0.1)
        places, rates = torch.arange(512)[:, None], torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
        self.register_buffer("waves", torch.cat([torch.sin(places * rates), torch.cos(places * rates)], dim=1))

    def embedded(self, tokens: Tensor) -> Tensor:
        """Return what enters a stack."""
        return self.dropout(self.table(tokens) * self.table.embedding_dim**0.5 + self.waves[: tokens.shape[1]])

    def forward(self, source: Tensor, target: Tensor, padding: Tensor) -> Tensor:
        """Return the logits of the next token at each position."""
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        masks = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
        states = self.body(self.embedded(source), self.embedded(target), tgt_mask=later, tgt_is_causal=True, **masks)
        return nn.functional.linear(states, self.table.weight)


def theirs(chosen: argparse.Namespace) -> dict[str, Any]:
    """Train and translate with the plain model, on our batches."""
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)
    run, data = Run.open(chosen.out / "run"), load_data(DATA)
    tokenizer, settings = run.tokenizer, run.settings
    assert tokenizer is not None
    rows = prepare(data.train, tokenizer, max_length=LONGEST)
    stream = BatchStream(rows, batch_tokens=settings.batch_tokens, seed=settings.seed)
    total = stream.total_steps(settings.epochs)
    model = Plain(tokenizer.vocab, chosen.d_model, chosen.layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
    began, step = time.perf_counter(), 0
    for epoch in range(settings.epochs):
        model.train()
        for batch in stream.batches(epoch):
            optimizer.zero_grad()
            for part in batch.parts(PART_TOKENS):
                (loss_of(model, part, settings.label_smoothing) / batch.targets).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(settings, step, total)
            optimizer.step()
            step += 1
    figures: dict[str, Any] = {"steps": step, "training_seconds": time.perf_counter() - began}
    figures["parameters"] = sum(one.numel() for one in model.parameters())
    model.eval()
    began = time.perf_counter()
    with torch.no_grad():
        held = BatchStream(prepare(data.test, tokenizer, max_length=LONGEST), batch_tokens=4096, order="by_length")
        sums = [(float(loss_of(model, batch, 0.0)), batch.targets) for batch in held.batches()]
        texts = greedy(model, tokenizer, list(data.test.inputs))
    figures["test_loss"] = sum(loss for loss, _ in sums) / sum(count for _, count in sums)
    figures["beams_1"] = scores(texts, data.test.targets or ()).to_dict() | {"seconds": time.perf_counter() - began}
    used = resource.getrusage(resource.RUSAGE_SELF)
    return figures | {"cpu_seconds": used.ru_utime + used.ru_stime}


def loss_of(model: Plain, batch: Any, smoothing: float) -> Tensor:
    """Return the sum of the losses of a batch."""
    logits = model(batch.inputs, batch.target, ~batch.attend).flatten(0, 1)
    labels = batch.labels.flatten()
    return nn.functional.cross_entropy(logits, labels, reduction="sum", ignore_index=IGNORE, label_smoothing=smoothing)


def greedy(model: Plain, tokenizer: Any, sources: list[str]) -> list[str]:
    """Translate each source greedily, in batches of like length; the whole target is computed again for each token."""
    found = [""] * len(sources)
    ids = tokenizer.encode(sources)
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    for start in range(0, len(order), 64):
        some = order[start : start + 64]
        longest = max(len(ids[row]) for row in some)
        source = torch.tensor([ids[row] + [tokenizer.pad_id] * (longest - len(ids[row])) for row in some])
        target = torch.full((len(some), 1), tokenizer.start_id)
        ended = torch.zeros(len(some), dtype=torch.bool)
        while target.shape[1] < LONGEST and not ended.all():
            logits = model(source, target, source == tokenizer.pad_id)[:, -1]
            target = torch.cat([target, logits.argmax(-1, keepdim=True)], dim=1)
            ended |= target[:, -1] == tokenizer.end_id
        for row, written in zip(some, target.tolist(), strict=True):
            text = written[1:]
            found[row] = tokenizer.decode(text[: text.index(tokenizer.end_id)] if tokenizer.end_id in text else text)
    return found


if __name__ == "__main__":
    main()
