"""A run that takes a second, shared by the tests of training."""

import json
import random

from glassformer.training import loop
from glassformer.training.data import load_data
from glassformer.training.fitting import small_spec, tokenizer_for
from glassformer.training.runs import Run
from glassformer.training.settings import Settings

SETTINGS = {"epochs": 2, "batch_size": 128, "lr": 3e-3, "log_every": 1, "save_every": 3}
FIELDS = {"d_model": 16, "heads": 2, "layers": 1, "dropout": 0.1}
BERT_CONFIG = {
    "model_type": "bert",
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "type_vocab_size": 2,
}


class Quiet:
    """Records progress messages."""

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


def tiny_run(path, data="digits", fields=None, reading=None, **settings):
    made = Settings(**SETTINGS | settings)
    reading = reading or {}
    rows = load_data(data, **reading)
    tokenizer = tokenizer_for(rows, made)
    spec = small_spec(rows, tokenizer, made).replace(**FIELDS | (fields or {}))
    return Run.create(path, spec, made, tokenizer, rows, source={"what": str(data), **reading}), rows


GOOD, BAD, PLAIN = (
    "good great fine lovely superb".split(),
    "bad poor awful dull weak".split(),
    "film story cast music plot".split(),
)
# The tables that `opinions` writes, and how each is read.
OPINIONS = {
    "regress": ("numbers.csv", {"label": "score", "task": "regress"}),
    "pair": ("pairs.csv", {"text": "first,second"}),
    "similarity": ("pairs.csv", {"text": "first,second", "label": "score", "task": "regress"}),
    "multilabel": ("several.csv", {"task": "multilabel"}),
    "embed": ("pairs.csv", {"text": "first,second", "task": "embed"}),
}


def opinions(folder, rows=200):
    """Write small tables for each task: texts of four words of opinion, and some about what."""
    draw = random.Random(0)
    numbers, pairs, several = ["text,score"], ["first,second,label,score"], ["text,label"]
    for number in range(rows):
        likes = draw.randint(0, 4)
        words = draw.choices(GOOD, k=likes) + draw.choices(BAD, k=4 - likes) + draw.choices(PLAIN, k=2)
        draw.shuffle(words)
        text = " ".join([*words, str(number)])
        other = draw.choice(GOOD if number % 2 else BAD)
        agree = likes / 4 if number % 2 else 1 - likes / 4
        numbers.append(f"{text},{likes / 4}")
        pairs.append(f"{text},{other} {number},{'yes' if agree > 0.5 else 'no'},{agree}")
        several.append(f"{text},{'|'.join(word for word in PLAIN[:3] if word in words)}")
    for name, lines in (("numbers", numbers), ("pairs", pairs), ("several", several)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def opinion_run(path, task, **settings):
    """A run of one of these tasks on its table, which is stored next to the run."""
    if not (path.parent / "pairs.csv").exists():
        opinions(path.parent)
    name, reading = OPINIONS[task]
    return tiny_run(path, path.parent / name, reading=reading, **{"batch_size": 32, "vocab": 300, "max_length": 24} | settings)


def stopped_and_resumed(path, task, step=7, **settings):
    """A run of a task that is stopped after a step, between two checkpoints, and resumed from its folder."""
    run, data = opinion_run(path, task, **settings)

    def stop(number):
        if number == step:
            raise KeyboardInterrupt

    try:
        loop.train(run, data, Quiet(stop))
    except KeyboardInterrupt:
        loop.train(Run.open(run.path), load_data(**run.about["data"]["source"]), Quiet())
    else:
        raise AssertionError("the run was not stopped")
    return run


def logged(run, kind="step"):
    lines = [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["kind"] == kind]


def losses(run):
    """Every loss of a run, to the last bit."""
    return [(line["step"], line["hex"]) for kind in ("step", "epoch") for line in logged(run, kind)]


def warm_or_cold(path):
    """80 labelled texts that a tiny encoder learns."""
    lines = [f'"a {word} thing, number {i}",{label}\n' for i in range(40) for word, label in (("red", "warm"), ("blue", "cold"))]
    path.write_text("text,label\n" + "".join(lines), encoding="utf-8")
    return load_data(path)
