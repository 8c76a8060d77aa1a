"""Training on a CPU, whole commands: `glassformer train` and the Hugging Face Trainer on the same rows, in alternation.

    python bench/cpu_training.py --peer-python PYTHON [--tasks finetune,masked] [--rounds 2] [--out figures.json]

finetune: MiniLM on rows of the topic set; masked: a small BERT from nothing on masked tokens of the same texts. Both commands
start Python, read, tokenize, train an epoch, validate and save. `--peer-python` is a Python with transformers and accelerate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cpu import checkpoint
from measuring import Figures, rows_of

HERE = Path(__file__).parent
SMALL = {"layers": 4, "d_model": 256, "heads": 4, "d_ff": 1024}  # of the encoder that learns masked tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--tasks", default="finetune,masked")
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    figures = Figures(chosen.out, 3600)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, count in (("train", chosen.texts), ("validation", chosen.texts // 8), ("test", chosen.texts // 8)):
            write_rows(folder, part, count)
        for task in chosen.tasks.split(","):
            for number in range(chosen.rounds):
                ours = [
                    sys.executable,
                    "-m",
                    "glassformer",
                    "train",
                    *OURS[task](folder),
                    "--out",
                    str(folder / f"{task}-{number}"),
                ]
                ours += ["--epochs", "1", "--batch-size", "32", "--max-length", "128", "--threads", str(chosen.threads)]
                theirs = [chosen.peer_python, str(HERE / "peer_cpu_training.py"), task, str(folder), str(checkpoint())]
                for way, command in (("glassformer", ours), ("Trainer", theirs)):
                    figures.row(f"{task}, round {number}", way, lambda command=command: timed(command, chosen.threads))


def write_rows(folder: Path, part: str, count: int) -> None:
    """Write rows of the topic set as a table, and their texts alone."""
    rows = rows_of("topic", part)[:count]
    for kind in ("labelled", "plain"):
        (folder / kind).mkdir(exist_ok=True)
    lines = [json.dumps({"text": row["text"], "label": row["label"]}, ensure_ascii=False) for row in rows]
    (folder / "labelled" / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = [" ".join(row["text"].split()) for row in rows]
    (folder / "plain" / f"{part}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")


def timed(command: list[str], threads: int) -> dict[str, Any]:
    """Run a command; return the seconds of the clock and of the processor, and its last line."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:5])} … failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = (done.stdout + done.stderr).strip().splitlines()
    said = next((line for line in lines if line.startswith("test ") or "eval_loss" in line), lines[-1])
    return {"seconds": round(seconds, 2), "core_seconds": round(processor, 2), "said": said[:60]}


OURS = {
    "finetune": lambda folder: [str(folder / "labelled"), str(checkpoint()), "--lr", "5e-5"],
    "masked": lambda folder: [
        str(folder / "plain"),
        "bert-base",
        *(f"{name}={value}" for name, value in SMALL.items()),
        "--no-label",
        "--lr",
        "5e-4",
    ],
}

if __name__ == "__main__":
    main()
