"""Loggers: they are given the lines of the log, and nothing else."""

import json
import sys
import types

import pytest
from tiny_training import Quiet, tiny_run

from glassformer.errors import GlassformerError
from glassformer.training import loop
from glassformer.training.loggers import TensorBoard


class Notebook:
    def __init__(self):
        self.lines = []

    def line(self, **content):
        self.lines.append(content)


class Writer:
    """Stands where TensorBoard's writer would."""

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
    loop.train(run, data, Quiet(), [TensorBoard(run.path / "tensorboard")])
    (writer,) = made
    assert writer.first == 1 and writer.closed
    names = {name for name, _, _ in writer.scalars}
    assert names >= {"step/loss", "step/lr", "train/loss", "validation/accuracy", "test/accuracy"}
    assert [step for name, _, step in writer.scalars if name == "step/loss"] == list(range(1, 11))
    assert all(isinstance(value, int | float) for _, value, _ in writer.scalars)


def test_a_missing_package_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(GlassformerError, match=r"^--tensorboard needs a package: pip install 'glassformer\[tensorboard\]'\.$"):
        TensorBoard(tmp_path)
