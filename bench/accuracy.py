"""Test accuracy on every built-in set, several seeds each, compared with the baseline of the set; JSON and a table.

python bench/accuracy.py --out accuracy.json
python bench/accuracy.py --sets digits,topic --seeds 0 --processes 1
python bench/accuracy.py --checkpoint models/all-MiniLM-L6-v2 --sets topic,sentiment
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from glassformer.model.checkpoints.loading import load_encoder
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.dataset import Split
from glassformer.training.data.prepare import prepare
from glassformer.training.data.sets import SETS
from glassformer.training.fitting import small_spec, suggested, tokenizer_for
from glassformer.training.loop import train
from glassformer.training.runs import Run
from glassformer.training.settings import Settings
from glassformer.training.starting import start_from
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.evaluating import evaluate
from glassformer.training.worker import current_worker

# In addition to the defaults of `glassformer train`: texts of up to 256 tokens, and as many epochs as give about this many steps.
LONGEST = {"classify": {"max_length": 256}}
STEPS = {"scratch": {"image": 6000, "classify": 1300, "tag": 800}, "checkpoint": {"classify": 600, "tag": 600}}
STEPS["masked text"] = STEPS["scratch"]
EPOCHS = {"scratch": (4, 80), "masked text": (4, 80), "checkpoint": (3, 10)}  # at least and at most


class Job(NamedTuple):
    """One run."""

    data: str
    seed: int
    checkpoint: str | None = None
    settings: dict[str, Any] = {}  # noqa: RUF012
    fields: dict[str, Any] = {}  # noqa: RUF012
    name: str = ""
    pretrain: int = 0  # epochs over the training texts as plain text with masked tokens, before anything else


class Nobody:
    """Prints no progress."""

    def say(self, line: str) -> None: ...

    def start(self, step: int, total: int) -> None: ...

    def step(self, figures: dict[str, Any]) -> None: ...

    def epoch(self, figures: dict[str, Any]) -> None: ...


def begins(job: Job) -> str:
    """What the weights of a run begin with."""
    return "checkpoint" if job.checkpoint else "masked text" if job.pretrain else "scratch"


def pretrained(job: Job, texts: list[str], settings: Settings, place: Path) -> str:
    """An encoder that has learned to guess masked tokens of the training texts alone, and nothing about labels."""
    plain = place / "plain.txt"
    plain.write_text("".join(f"{' '.join(text.split())}\n" for text in texts), encoding="utf-8")
    data = load_data(plain)
    settings = settings.replace(epochs=job.pretrain, lr=1e-3, augment="none")
    tokenizer = tokenizer_for(data, settings)
    spec = small_spec(data, tokenizer, settings).replace(**{**job.fields, "dropout": 0.1})
    run = Run.create(place / "pretrained", spec, settings, tokenizer, data, source={"what": str(plain)})
    train(run, data, Nobody())
    return str(run.path)


def accuracy_of(run: Run, part: Split, weights: str) -> float:
    """Accuracy on a part of the data with the weights in one of a run's folders."""
    device = current_worker().device
    encoder = load_encoder(run.path / weights, device=device).encoder
    longest = min(run.settings.max_length, run.spec.longest or run.settings.max_length)
    rows = prepare(part, run.tokenizer, max_length=longest, context=run.settings.context)
    stream = BatchStream(rows, batch_size=4 * run.settings.batch_size, order="by_length")
    return float(evaluate(encoder, stream.batches(), device, TASKS[part.task])["accuracy"])


def done(job: Job) -> dict[str, Any]:
    """A run from its beginning to its test, in a folder that is removed."""
    began = time.perf_counter()
    data = load_data(job.data)
    begin = begins(job)
    chosen = suggested(data, checkpoint=begin == "checkpoint") | LONGEST.get(data.task, {}) | job.settings
    settings = Settings(**chosen | {"seed": job.seed})
    if "epochs" not in job.settings:
        least, most = EPOCHS[begin]
        rows = len(data.train)
        settings = settings.replace(epochs=min(most, max(least, round(STEPS[begin][data.task] * settings.batch_size / rows))))
    with tempfile.TemporaryDirectory() as place:
        folder = pretrained(job, data.train.texts(), settings, Path(place)) if job.pretrain else job.checkpoint
        start = start_from(folder, job.fields, data, settings) if folder else None
        tokenizer = start.tokenizer if start else tokenizer_for(data, settings)
        spec = start.encoder.spec if start else small_spec(data, tokenizer, settings).replace(**job.fields)
        run = Run.create(Path(place) / "run", spec, settings, tokenizer, data, source={"what": job.data}, start=start)
        found = train(run, data, Nobody())
        last = {"last": accuracy_of(run, data.test, "last"), "last_validation": accuracy_of(run, data.validation, "last")}
    return {
        **{"data": job.data, "seed": job.seed, "from": begin, "variant": job.name},
        **{"test": found["test"]["accuracy"], "validation": found["best"]["accuracy"], "best_epoch": found["best"]["epoch"]},
        **last,  # the same with the weights of the last epoch
        **{"parameters": run.about["counts"]["parameters"], "epochs": settings.epochs, "lr": settings.lr},
        "seconds": round(time.perf_counter() - began, 1),
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and spread over the seeds, with the baseline."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["data"], row["from"], row.get("variant", "")), []).append(row)
    found = []
    for (data, start, variant), some in sorted(groups.items(), key=lambda group: (list(SETS).index(group[0][0]), *group[0][1:])):
        percent = [100 * row["test"] for row in some]
        spread = statistics.stdev(percent) if len(percent) > 1 else 0.0
        mean, beat = statistics.mean(percent), SETS[data].to_beat or 0.0
        found.append(
            {
                **{"data": data, "from": start, "variant": variant, "runs": len(some), "mean": mean, "spread": spread},
                **{"to_beat": beat, "beats": mean > beat, "parameters": some[0]["parameters"], "epochs": some[0]["epochs"]},
                "seconds": statistics.mean(row["seconds"] for row in some),
            }
        )
    return found


def table(found: list[dict[str, Any]]) -> str:
    """The summary in Markdown."""
    lines = ["| set | starts from | parameters | epochs | test accuracy | baseline | |", "|:---|:---|---:|---:|---:|---:|:---|"]
    for row in found:
        verdict = "beaten" if row["beats"] else "reached" if round(row["mean"], 1) >= row["to_beat"] else "not reached"
        start = {"scratch": "nothing", "checkpoint": "a checkpoint", "masked text": "its own texts, masked"}[row["from"]]
        accuracy = f"{row['mean']:.1f} ± {row['spread']:.1f}"
        variant = f" {row['variant']}" if row["variant"] else ""
        cells = [
            row["data"] + variant,
            start,
            f"{row['parameters']:,}",
            row["epochs"],
            accuracy,
            f"{row['to_beat']:.1f}",
            verdict,
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def jobs_for(chosen: argparse.Namespace) -> list[Job]:
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    sets = [name for name in SETS if SETS[name].to_beat is not None]
    if chosen.sets:
        sets = chosen.sets.split(",")
    if chosen.checkpoint:
        sets = [name for name in sets if SETS[name].task != "image"]
    return [Job(name, seed, chosen.checkpoint) for seed in seeds for name in sets]


def server() -> ForkServerContext:
    """Processes forked with torch already imported: the first import on a machine may take longer than a short run."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["glassformer.training.loop", "glassformer.training.fitting"])
    return context


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="some of the sets, with commas between; all that have a baseline otherwise")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--checkpoint", help="a model folder to fine-tune instead of starting from nothing")
    parser.add_argument("--jobs", type=Path, help="a JSON list of runs (data, seed, checkpoint, settings, fields, name) instead")
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--out", type=Path, help="write the figures as JSON; runs that are in it already are not done again")
    chosen = parser.parse_args()
    wanted = [Job(**job) for job in json.loads(chosen.jobs.read_text())] if chosen.jobs else jobs_for(chosen)
    rows: list[dict[str, Any]] = []
    if chosen.out and chosen.out.exists():
        rows = json.loads(chosen.out.read_text())["runs"]
    there = {(row["data"], row["seed"], row["from"], row["variant"]) for row in rows}
    wanted = [job for job in wanted if (job.data, job.seed, begins(job), job.name) not in there]
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    about = {"machine": where, "torch": torch.__version__, "python": platform.python_version()}
    with ProcessPoolExecutor(chosen.processes, mp_context=server()) as pool:
        for finished in as_completed([pool.submit(done, job) for job in wanted]):
            row = finished.result()
            rows.append(row)
            words = f"{row['data']:20} {row['from']:10} {row['variant']} seed {row['seed']}"
            print(f"{words}  test {row['test']:.2%}  {row['seconds']:.0f} s", flush=True)
            if chosen.out:
                chosen.out.write_text(json.dumps(about | {"summary": summary(rows), "runs": rows}, indent=1) + "\n")
    print(table(summary(rows)))


if __name__ == "__main__":
    main()
