"""`glassformer train` from start to end, compared with the Hugging Face Trainer on the same texts, in one run.

    PYTHONPATH=src python bench/train_command.py --out FOLDER [--texts 180000] [--ways ours,theirs] [--device-batch 64,256]

Pre-training of BERT-base on masked tokens: the built-in texts, joined to mixed lengths. Each runs in a separate process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from measuring import mixed_lengths, real_texts

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=180_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--model", default="bert-base")
    parser.add_argument("--options", default="--batch-tokens 32768")
    parser.add_argument("--ways", default="ours,again")
    parser.add_argument("--device-batch", default="64,256")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    corpus = chosen.out / "corpus.txt"
    if not corpus.exists():
        write_corpus(corpus, chosen.texts)
    for way in chosen.ways.split(","):
        if way == "theirs":
            theirs(chosen, corpus)
        else:
            ours(chosen, corpus, chosen.out / f"run-{way}")


def write_corpus(path: Path, count: int) -> None:
    """Write a text in each line; the words are those of the built-in sets, the lengths those of `mixed_lengths`."""
    chance = random.Random(1)
    words = [text.split() for text in real_texts("topic", "sentiment", "mlm", split="train")]
    with path.open("w", encoding="utf-8") as file:
        for wanted in mixed_lengths(count):
            line: list[str] = []
            while len(line) < 0.72 * wanted:
                line += chance.choice(words)
            file.write(" ".join(line[: max(4, int(0.72 * wanted))]) + "\n")


def ours(chosen: argparse.Namespace, corpus: Path, run: Path) -> None:
    """Run the command, and read its rates from the log that it writes."""
    fixed = ["--no-label", "--max-length", "512", "--epochs", str(chosen.epochs), "--log-every", "1", "--out", str(run)]
    command = [sys.executable, "-m", "glassformer", "train", str(corpus), chosen.model, *fixed, *chosen.options.split()]
    began, seen = time.perf_counter(), {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while process.poll() is None:
            time.sleep(0.1)
            if "first" not in seen and any(json.loads(line)["kind"] == "step" for line in lines(run)[1:2]):
                seen["first"] = time.perf_counter() - began
        output = process.stdout.read() if process.stdout else ""
    whole = time.perf_counter() - began
    print(f"$ {' '.join(command[3:])}\n  rc {process.returncode}  {whole:.1f} s", flush=True)
    if process.returncode:
        print(output[-3000:])
        return
    log = [json.loads(line) for line in lines(run)]
    steps, epochs = ([line for line in log if line["kind"] == kind] for kind in ("step", "epoch"))
    tokens = sum_tokens(steps)
    print(f"  first step after {seen.get('first', 0):.1f} s; compiled {log[0]['measured']['compiled']}; {len(steps)} steps")
    before = 0.0
    for number, epoch in enumerate(epochs, 1):
        took = epoch["seconds"] - before
        before = epoch["seconds"]
        print(
            f"  epoch {number}: {took:.1f} s  {tokens[number] / took / 1000:.1f} thousand tokens/s with validation and checkpoint"
        )
    rates = sorted(line["per_second"] for line in steps[-len(steps) // 3 :])
    print(f"  step rate, last third: median {rates[len(rates) // 2] / 1000:.1f}, slowest {rates[0] / 1000:.1f} thousand tokens/s")
    print(
        "  loss",
        [round(line["loss"], 3) for line in (steps[0], steps[len(steps) // 2], steps[-1])],
        "share",
        steps[-1].get("share"),
    )
    (chosen.out / f"{run.name}.json").write_text(json.dumps({"seconds": whole, **seen, "log": log}), encoding="utf-8")


def lines(run: Path) -> list[str]:
    log = run / "metrics.jsonl"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def sum_tokens(steps: list[dict]) -> dict[int, float]:
    """Real tokens of each epoch: the rate of each step times its seconds."""
    found: dict[int, float] = {}
    for line in steps:
        found[line["epoch"]] = found.get(line["epoch"], 0.0) + line["tokens"]
    return found


def theirs(chosen: argparse.Namespace, corpus: Path) -> None:
    for batch in chosen.device_batch.split(","):
        for compiled in ("no", "yes"):
            command = [sys.executable, str(HERE / "peer_trainer.py"), str(corpus), str(chosen.out / "run-ours"), batch, compiled]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TOKENIZERS_PARALLELISM": "true"})
            print(f"Trainer, batches of {batch}, compiled {compiled}: {done.stdout.strip() or done.stderr[-1500:]}", flush=True)


if __name__ == "__main__":
    main()
