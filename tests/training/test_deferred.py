"""Steps that are read later: the same losses and weights as steps that are waited for, on a CPU and, recorded, on a GPU."""

import math

import pytest
import torch
from tiny_training import Quiet, logged, losses, tiny_run
from tiny_writing import written_run

from glassformer.training import loop, state
from glassformer.training.deferred import BEHIND, DeferredStepper
from glassformer.training.runs import Run

TEXTS = {"vocab": 300, "max_length": 48, "epochs": 1}


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr(Run, "draw_curves", lambda _: None)


@pytest.fixture
def deferred(monkeypatch):
    """Every run on a CPU reads its figures late, as one on a GPU does."""
    real = loop.Trainer.__init__

    def init(self, *given):
        real(self, *given)
        self.stepper = DeferredStepper(self, graphs=False, compiled=False)

    monkeypatch.setattr(loop.Trainer, "__init__", init)


def weights(run):
    newest = state.saved_steps(run.checkpoints)[0]
    return state.load_state(run.checkpoints, newest).tensors


@pytest.mark.parametrize("settings", [{}, {"accumulate": 3}, {"clip": None}, {"layer_decay": 0.8}])
def test_late_figures_are_the_same_figures(settings, tmp_path, request):
    runs = []
    for name in ("plain", "late"):
        run, data = tiny_run(tmp_path / name, "lid-words", batch_size=64, **TEXTS | settings)
        if name == "late":
            request.getfixturevalue("deferred")
        loop.train(run, data, Quiet())
        runs.append(run)
    one, other = runs
    assert [line["step"] for line in logged(one)] == [line["step"] for line in logged(other)]
    for mine, theirs in zip(losses(one), losses(other), strict=True):
        assert mine[0] == theirs[0]
        assert float.fromhex(mine[1]) == pytest.approx(float.fromhex(theirs[1]), rel=1e-5)
    for name, tensor in weights(one).items():
        if name.startswith("weights/"):
            torch.testing.assert_close(tensor, weights(other)[name], rtol=1e-3, atol=3e-4)  # rates are float32 on the device


def test_a_value_that_is_not_finite_stops_all_updates_and_is_named(deferred, tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run", "lid-words", batch_size=64, save_every=1, keep=1000, **TEXTS)
    real, bad, at_bad = loop.Trainer.step, 5, {}

    def step(self, epoch, batches):
        if self.progress.step + self.started + 1 == bad:
            name, parameter = next((n, p) for n, p in self.encoder.named_parameters() if n.endswith("ffn.wide.weight"))
            parameter.register_hook(lambda gradient: gradient * math.nan)
            at_bad["name"] = name
        real(self, epoch, batches)

    monkeypatch.setattr(loop.Trainer, "step", step)
    with pytest.raises(loop.NotFinite) as found:
        loop.train(run, data, Quiet())
    assert str(found.value).startswith(f"step {bad}: the gradient of {at_bad['name']} is not finite.")
    assert f"Last good checkpoint: step {bad - 1}." in str(found.value)
    for saved in state.saved_steps(run.checkpoints):
        tensors = state.load_state(run.checkpoints, saved).tensors
        assert all(one.isfinite().all() for one in tensors.values() if one.is_floating_point())


def test_steps_after_a_bad_one_change_nothing(deferred, tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run", "lid-words", batch_size=64, save_every=1000, **TEXTS)
    real, seen = loop.Trainer.step, []

    def step(self, epoch, batches):
        if self.progress.step + self.started + 1 == 2:
            self.encoder.head.classifier.classes.bias.register_hook(lambda gradient: gradient * math.inf)
        real(self, epoch, batches)
        seen.append([one.detach().clone() for one in self.encoder.parameters()])

    monkeypatch.setattr(loop.Trainer, "step", step)
    with pytest.raises(loop.NotFinite):
        loop.train(run, data, Quiet())
    assert len(seen) == BEHIND + 1  # the bad step is read when so many more were started
    for later in seen[1:]:
        assert all(torch.equal(one, other) for one, other in zip(seen[0], later, strict=True))


def a_run(made, path):
    """A run of texts with classes with these settings, or of a task that writes."""
    (path / "runs").mkdir(parents=True)
    if isinstance(made, str):
        return written_run(made, path / "runs" / "one")
    return tiny_run(path / "run", "topic", {"d_model": 64, "heads": 2}, **{"vocab": 500, "max_length": 64, "epochs": 2} | made)


RUNS = [{"batch_tokens": 4096}, {"batch_size": 32}, {"batch_tokens": 2048, "compile": "yes"}, "translate", "causal"]


@pytest.mark.parametrize("made", RUNS, ids=str)
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore")  # PyTorch warns of its own parts while it compiles
def test_recorded_steps_resume_bit_for_bit_on_a_gpu(made, tmp_path, monkeypatch):
    whole, data = a_run(made, tmp_path / "whole")
    loop.train(whole, data, Quiet())
    stopped, data = a_run(made, tmp_path / "stopped")
    real = loop.Trainer.step
    stop_at = 7 if isinstance(made, str) else 17

    def step(self, epoch, batches):
        real(self, epoch, batches)
        assert self.feed.pack is not None
        if self.progress.step + self.started == stop_at:
            self.stop.signal = 15

    with monkeypatch.context() as patched, pytest.raises(loop.Interrupted):
        patched.setattr(loop.Trainer, "step", step)
        loop.train(stopped, data, Quiet())
    loop.train(stopped, data, Quiet())
    assert losses(stopped) == losses(whole)
