"""Fine-tuning on the topic set, whole commands: `glassformer train` and the Hugging Face Trainer from the same random weights.

    PYTHONPATH=src python bench/finetune.py --out FOLDER [--seeds 3] [--layers 12 --width 768] [--ways ours,theirs]

For each seed a BERT with random weights is written to a folder that both sides start from. Batches of 32 texts of at most 128
tokens, AdamW with the same rates, decay and clipping, the Trainer's rows grouped by length. The Trainer does all seeds in one
process: its whole seconds are those of the first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", default="5e-5")
    parser.add_argument("--max-length", default="128")
    parser.add_argument("--ways", default="ours,theirs")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python with transformers and accelerate")
    parser.add_argument("--options", default="", help="further options of glassformer train")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    folders = [chosen.out / f"start-{seed}" for seed in range(chosen.seeds)]
    command = [chosen.peer_python, str(HERE / "random_bert.py"), str(chosen.layers), str(chosen.width), *map(str, folders)]
    subprocess.run(command, check=True, env=environment())
    print(f"{len(folders)} folders with random weights: {time.perf_counter() - began:.1f} s", flush=True)
    found: dict[str, list[dict[str, Any]]] = {}
    if "ours" in chosen.ways:
        found["ours"] = [ours(chosen, folder, seed) for seed, folder in enumerate(folders)]
    if "theirs" in chosen.ways:
        found["theirs"] = theirs(chosen, folders)
    for way, rows in found.items():
        for what in ("accuracy", "best"):
            values = [row[what] for row in rows if what in row]
            spread = f" ± {stdev(values):.4f} (standard deviation)" if len(values) > 1 else ""
            print(f"{way}: {what} {mean(values):.4f}{spread}" if values else f"{way}: no {what}")
    (chosen.out / "figures.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


def ours(chosen: argparse.Namespace, folder: Path, seed: int) -> dict[str, Any]:
    """Run the command; `accuracy` is that of the last weights, as the Trainer's, and `best` that of the best epoch."""
    run = chosen.out / f"run-{seed}"
    shutil.rmtree(run, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "glassformer",
        "train",
        "topic",
        str(folder),
        "--epochs",
        str(chosen.epochs),
        "--lr",
        chosen.lr,
    ]
    command += ["--batch-size", "32", "--max-length", chosen.max_length, "--decay", "linear", "--seed", str(seed)]
    began = time.perf_counter()
    done = subprocess.run([*command, "--out", str(run), *chosen.options.split()], capture_output=True, text=True, check=False)
    whole = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    epochs, end = [line for line in lines if line["kind"] == "epoch"], lines[-1]
    last = end["best"]["step"] == end["step"]
    found = {"seed": seed, "whole": round(whole, 1), "train": end["seconds"], "best": end["test"]["accuracy"]}
    found["accuracy"] = end["test"]["accuracy"] if last else accuracy(run / "last")
    found["epochs"] = [line["seconds"] for line in epochs]
    found["train_loss"] = [round(line["train"]["loss"], 4) for line in epochs]
    print("glassformer", json.dumps(found), flush=True)
    return found


def accuracy(folder: Path) -> float:
    """Accuracy of a folder on the test texts."""
    import glassformer as gf

    found: Any = gf.evaluate(str(folder), "topic")
    return float(found.figures["accuracy"].value)


def theirs(chosen: argparse.Namespace, folders: list[Path]) -> list[dict[str, Any]]:
    """Run the Trainer on each folder, in one process."""
    given = [str(chosen.epochs), "32", chosen.lr, chosen.max_length, *map(str, folders)]
    began, found = time.perf_counter(), []
    command = [chosen.peer_python, str(HERE / "peer_finetune.py"), *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("seed "):
                found.append({"whole": round(time.perf_counter() - began, 1)} | json.loads(line.removeprefix("seed ")))
                print("Trainer", json.dumps(found[-1]), flush=True)
    for row in found[1:]:
        del row["whole"]
    return found


def environment() -> dict[str, str]:
    return os.environ | {"TOKENIZERS_PARALLELISM": "true", "PYTHONPATH": os.environ.get("PYTHONPATH", "src")}


if __name__ == "__main__":
    main()
