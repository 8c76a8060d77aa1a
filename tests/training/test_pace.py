"""Threads and compilation: decided once, written down, and the same after a resume."""

import json

import pytest
import torch
from tiny_training import Quiet, tiny_run

from glassformer.model import Encoder
from glassformer.training import loop, pace
from glassformer.training.pace import compile_if_worth, threads_for
from glassformer.training.runs import Run
from glassformer.training.settings import Settings


@pytest.mark.parametrize(("flops", "threads"), [(1e7, 1), (1.9e9, 1), (2.1e9, 2), (5e9, 4), (1e12, 4)])
def test_a_step_has_as_many_threads_as_it_has_work_for(flops, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert threads_for(Settings(), {"matrix_flops": flops}) == threads
    assert threads_for(Settings(threads=3), {"matrix_flops": flops}) == 3
    assert threads_for(Settings(), {}) == 4


def test_the_number_of_threads_is_the_runs_own(tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run", epochs=1, threads=2)
    assert json.loads((run.path / "run.json").read_text(encoding="utf-8"))["threads"] == 2
    used = []
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    loop.train(Run.open(run.path), data, Quiet())
    assert used == [2]


@pytest.mark.parametrize(
    ("compile", "device", "flops", "worth"),
    [("no", "cuda", 1e20, False), ("auto", "cuda", 1e20, True), ("auto", "cuda", 1e12, False), ("auto", "cpu", 1e20, False)],
)
def test_compiling_is_for_long_runs_on_a_gpu(compile, device, flops, worth, tmp_path, monkeypatch):
    run, _ = tiny_run(tmp_path / "run")
    compiled = []
    monkeypatch.setattr(pace, "compile_layers", lambda encoder, *, varied: compiled.append((encoder, varied)))
    encoder = Encoder(run.spec)
    assert compile_if_worth(encoder, Settings(compile=compile), torch.device(device), flops) is worth
    assert compiled == ([(encoder, True)] if worth else [])
