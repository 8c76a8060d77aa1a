"""Writes golden.json: the losses of 50 steps of one small run a task, for test_golden.py.

    PYTHONPATH=tests python tests/training/golden.py

To be run when a change is meant to move the losses, and the reason goes into the commit.
"""

import json
import tempfile
from pathlib import Path

import torch
from tiny_training import Quiet, logged, tiny_run

from glassformer.training import loop
from glassformer.training.runs import Run

FILE = Path(__file__).with_name("golden.json")
STEPS = 50
SMALL = {"epochs": 10, "vocab": 500, "max_length": 32, "batch_size": 16, "save_every": None}
RUNS = {
    "digits": {"data": "digits"},
    "topic": {"data": "topic", "augment": "hide"},
    "lid-words": {"data": "lid-words"},
    "masked tokens": {"data": "plain.txt"},
}
TEXTS = "".join(f"{'word ' * (i % 9)}number {i} comes after the number {i - 1}\n" for i in range(800))


class Enough(Exception):  # noqa: N818 - the way out of a run that goes on
    """Fifty steps are done."""


def stop(step):
    if step == STEPS:
        raise Enough


def losses_of(name, place):
    """`float.hex` of the losses of a run's first steps."""
    torch.set_num_threads(1)
    settings = dict(RUNS[name])
    data = settings.pop("data")
    if data == "plain.txt":
        data = place / data
        data.write_text(TEXTS, encoding="utf-8")
    run, rows = tiny_run(place / "run", data, **SMALL | settings)
    try:
        loop.train(run, rows, Quiet(stop))
    except Enough:
        return [line["hex"] for line in logged(Run.open(run.path))]
    raise AssertionError(f"{name} ended early")


def machine():
    """What decides how sums are rounded: the build of PyTorch, and the kernels that it takes on this processor."""
    words = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = next((line.partition(":")[2].strip() for line in words.splitlines() if line.startswith("model name")), "unknown")
    return {"torch": torch.__version__, "kernels": torch.backends.cpu.get_cpu_capability(), "processor": model}


def write():
    """All runs, and the machine they were made on."""
    made = {}
    for name in RUNS:
        with tempfile.TemporaryDirectory() as place:
            made[name] = losses_of(name, Path(place))
    FILE.write_text(json.dumps({"machine": machine(), "losses": made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
