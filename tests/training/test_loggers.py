"""Loggers: they are given the lines of the log, and nothing else."""

import json
import sys
import types

import pytest
from command_line import glassformer
from tiny_training import Quiet, logged, losses, tiny_run

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.training import loop
from glassformer.training.loggers import loggers_for, scalars


class Notebook:
    def __init__(self):
        self.lines = []

    def line(self, **content):
        self.lines.append(content)


class Writer:
    """A fake TensorBoard writer."""

    def __init__(self, folder, purge_step):
        self.folder, self.first, self.scalars, self.closed = folder, purge_step, [], False
        made.append(self)

    def add_scalar(self, name, value, step):
        self.scalars.append((name, value, step))

    def flush(self): ...

    def close(self):
        self.closed = True


made = []


def test_any_object_with_a_line_is_a_logger(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=1)
    notebook = Notebook()
    loop.train(run, data, Quiet(), [notebook])
    assert notebook.lines == [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in notebook.lines] == ["start", *["step"] * 10, "epoch", "end"]


def test_tensorboard_is_given_numbers_with_names_and_steps(tmp_path, monkeypatch):
    fake = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    run, data = tiny_run(tmp_path / "run", epochs=1)
    loop.train(run, data, Quiet(), loggers_for("tensorboard", ()))
    (writer,) = made
    assert (writer.folder, writer.first, writer.closed) == (str(run.path / "tensorboard"), 1, True)
    names = {name for name, _, _ in writer.scalars}
    assert names >= {"step/loss", "step/lr", "train/loss", "validation/accuracy", "test/accuracy"}
    assert [step for name, _, step in writer.scalars if name == "step/loss"] == list(range(1, 11))
    assert all(isinstance(value, int | float) for _, value, _ in writer.scalars)


class Session:
    """A fake session of Weights & Biases."""

    def __init__(self, **options):
        self.options, self.logged, self.finished = options, [], False
        sessions.append(self)

    def log(self, numbers, step):
        self.logged.append((step, numbers))

    def finish(self):
        self.finished = True


sessions = []


def test_weights_and_biases_works_offline_and_a_resumed_run_keeps_its_id(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    fake = types.ModuleType("wandb")
    fake.init, fake.Settings = Session, dict
    monkeypatch.setitem(sys.modules, "wandb", fake)
    run, data = tiny_run(tmp_path / "run", epochs=1)
    loop.train(run, data, Quiet(), loggers_for("wandb", ()))
    loop.train(run.with_settings(epochs=2), data, Quiet(), loggers_for("wandb", ()))
    first, second = sessions
    assert first.options["mode"] == "offline" and first.options["id"] == second.options["id"]
    assert first.options["config"]["spec"] == run.spec.to_dict() and first.finished
    assert [step for step, _ in first.logged] == [*range(1, 11), 10, 10]
    assert first.logged[0][1]["step/loss"] == logged(run)[0]["loss"]


@pytest.mark.parametrize(("name", "module"), [("tensorboard", "torch.utils.tensorboard"), ("wandb", "wandb")])
def test_a_missing_package_is_one_line(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GlassformerError, match=rf"^log_to={name} needs a package: pip install 'glassformer\[{name}\]'\.$"):
        loggers_for(name, ())


@pytest.mark.parametrize(
    ("log_to", "loggers", "said"),
    [
        ("tensorbord", (), "log_to=tensorbord is not known. Did you mean 'tensorboard'? One of json, tensorboard, wandb."),
        (3, (), "log_to=3 is not allowed: log_to is words"),
        ((), [3], "loggers: 3 is not allowed: a logger is a function of one line"),
    ],
)
def test_mistakes_are_one_line_before_any_data_is_read(log_to, loggers, said):
    with pytest.raises(GlassformerError) as error:
        gf.train("digits", log_to=log_to, loggers=loggers)
    assert str(error.value).startswith(said)


def test_json_lines_are_those_of_the_log(tmp_path):
    words = ["train", "digits", "d_model=16", "heads=2", "layers=1", "--epochs", "1", "--log-to", "json"]
    done = glassformer(*words, "--out", tmp_path / "run")
    assert done.stdout == (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8")


def test_a_function_is_a_callback_that_can_end_the_run_after_its_epoch(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=3)
    seen = []

    def stop_at_three(line):
        seen.append(line["kind"])
        return "stop" if line.get("step") == 3 else None

    figures = loop.train(run, data, Quiet(), loggers_for((), [stop_at_three]))
    assert figures["epochs"] == 1 and seen[-2:] == ["epoch", "end"]
    loop.train(run, data, Quiet())  # the rest
    whole, data = tiny_run(tmp_path / "whole", epochs=3)
    loop.train(whole, data, Quiet())
    assert losses(run) == losses(whole)


def test_a_callback_is_given_the_run_and_the_encoder_before_the_first_line(tmp_path):
    class Watching(Notebook):
        def begin(self, run, encoder):
            self.lines.append((run.path, sum(one.numel() for one in encoder.parameters())))

    run, data = tiny_run(tmp_path / "run", epochs=1)
    watching = Watching()
    loop.train(run, data, Quiet(), [watching])
    assert watching.lines[0] == (run.path, watching.lines[1]["measured"]["parameters"])


def test_numbers_are_named_by_their_place_in_the_line():
    line = {"kind": "epoch", "epoch": 1, "step": 10, "train": {"loss": 0.5}, "hex": "0x1p-1", "seconds": 2.0}
    assert dict(scalars(line)) == {"train/loss": 0.5, "epoch/seconds": 2.0}
