"""Sentence embeddings: `glassformer train --task embed` and the trainer of sentence-transformers on the same pairs.

python bench/embeddings.py PAIRS.jsonl MODEL --columns en,fr --out embeddings.json [--peer-python PYTHON]

PAIRS is split into training, validation and test rows. Both commands are whole: they start Python, read the pairs and the model,
train, validate each epoch, and save. They alternate; a round is one of each. Quality is MRR@10 on the test rows, measured by
`gf.evaluate` for both. `--peer-python` is a Python with sentence-transformers, datasets and accelerate.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import glassformer as gf

HERE = Path(__file__).parent
NAMES = ("first", "second")


def split(path: Path, columns: list[str], sizes: dict[str, int], folder: Path) -> None:
    """Write the parts of the pairs, drawn with a fixed seed; no text of one part is in another."""
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(0).shuffle(read)
    seen: set[str] = set()
    distinct = []
    for row in read:
        texts = [row[column] for column in columns]
        if not seen.intersection(texts):
            seen.update(texts)
            distinct.append(dict(zip(NAMES, texts, strict=True)))
    if len(distinct) < sum(sizes.values()):
        sys.exit(f"{path} has {len(distinct)} pairs without repeated texts; {sum(sizes.values())} are needed")
    start = 0
    for part, size in sizes.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in distinct[start : start + size]]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        start += size


def timed(command: list[str]) -> dict[str, float]:
    """Run a command on one thread; return the seconds of the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} … failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def quality(model: Path | str, data: Path) -> dict[str, Any]:
    """MRR@10 on the test rows, with its interval."""
    found: Any = gf.evaluate(model, data, text=",".join(NAMES), task="embed")
    return {name: one.to_dict() for name, one in found.figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("model")
    parser.add_argument("--columns", default=",".join(NAMES))
    parser.add_argument("--sizes", default="1280,200,500", help="training, validation and test rows")
    parser.add_argument("--batch", default="32")
    parser.add_argument("--epochs", default="1")
    parser.add_argument("--lr", default="1e-4")
    parser.add_argument("--longest", default="64")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peer-python")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    shared = [asked.batch, asked.epochs, asked.lr, asked.longest]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "pairs"
        data.mkdir()
        parts = dict(zip(("train", "validation", "test"), map(int, asked.sizes.split(",")), strict=True))
        split(asked.pairs, asked.columns.split(","), parts, data)
        results: dict[str, Any] = {"setting": vars(asked) | {"pairs": asked.pairs.name, "model": Path(asked.model).name}}
        results["setting"] = {key: str(value) for key, value in results["setting"].items() if key not in ("out", "peer_python")}
        results["before"] = quality(asked.model, data)
        runs: dict[str, list[dict[str, Any]]] = {"glassformer": [], "sentence-transformers": []}
        for number in range(asked.rounds):
            mine, theirs = folder / f"mine-{number}", folder / f"theirs-{number}"
            words = dict(zip(("--batch-size", "--epochs", "--lr", "--max-length"), shared, strict=True)) | {"--threads": "1"}
            given = [word for pair in words.items() for word in pair]
            ours = [sys.executable, "-m", "glassformer", "train", str(data), asked.model, "--task", "embed"]
            ours += ["--text", ",".join(NAMES), "--out", str(mine), *given]
            runs["glassformer"].append(timed(ours) | {"test": quality(mine, data)})
            print("glassformer", runs["glassformer"][-1], flush=True)
            if asked.peer_python:
                files = [str(data / f"{part}.jsonl") for part in ("train", "validation")]
                peer = [asked.peer_python, str(HERE / "peer_embeddings.py"), *files, asked.model, str(theirs), *shared]
                runs["sentence-transformers"].append(timed(peer) | {"test": quality(theirs / "best", data)})
                print("sentence-transformers", runs["sentence-transformers"][-1], flush=True)
    results["runs"] = runs
    asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
