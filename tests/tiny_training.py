"""A run that takes a second, shared by the tests of training."""

import json

from glassformer.training.data import load_data
from glassformer.training.fitting import small_spec, tokenizer_for
from glassformer.training.runs import Run
from glassformer.training.settings import Settings

SETTINGS = {"epochs": 2, "batch_size": 128, "lr": 3e-3, "log_every": 1, "save_every": 3}
FIELDS = {"d_model": 16, "heads": 2, "layers": 1, "dropout": 0.1}


class Quiet:
    """Looks on, and remembers what was said."""

    def __init__(self, at_step=None):
        self.said, self.at_step = [], at_step

    def say(self, line):
        self.said.append(line)

    def start(self, step, total):
        self.first, self.total = step, total

    def step(self, figures):
        if self.at_step is not None:
            self.at_step(figures["step"])

    def epoch(self, figures):
        pass


def tiny_run(path, data="digits", fields=None, **settings):
    made = Settings(**SETTINGS | settings)
    rows = load_data(data)
    tokenizer = tokenizer_for(rows, made)
    spec = small_spec(rows, tokenizer, made).replace(**FIELDS | (fields or {}))
    return Run.create(path, spec, made, tokenizer, rows, source={"what": str(data)}), rows


def logged(run, kind="step"):
    lines = [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["kind"] == kind]


def losses(run):
    """Every loss of a run, to the last bit."""
    return [(line["step"], line["hex"]) for kind in ("step", "epoch") for line in logged(run, kind)]
