"""A non-finite number of any origin is detected in its step, named, and never saved."""

import dataclasses
import math
import random
import shutil

import pytest
import torch
from tiny_training import Quiet, tiny_run

from glassformer.training import loop, state
from glassformer.training.runs import Run
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.task import Judged


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr(Run, "draw_curves", lambda _: None)


class Plant:
    """Puts a non-finite number into one step of a run, and returns what the message has to name."""

    def __init__(self, kind, step, chance):
        self.kind, self.step, self.chance, self.named = kind, step, chance, ""
        self.value = chance.choice([math.nan, math.inf, -math.inf])

    def into(self, trainer, batches):
        getattr(self, self.kind)(trainer, batches)

    def parameter(self, trainer):
        return self.chance.choice([(name, one) for name, one in trainer.encoder.named_parameters() if one.requires_grad])

    def spoil(self, tensor):
        with torch.no_grad():
            tensor.view(-1)[self.chance.randrange(tensor.numel())] = self.value
        return tensor

    def data(self, _, batches):
        row = self.chance.randrange(len(batches[0].ids))
        inputs = batches[0].inputs.clone()
        self.spoil(inputs[row])
        batches[0] = dataclasses.replace(batches[0], inputs=inputs)
        self.named = f"The input of row {batches[0].ids[row]} is not finite."

    def weight(self, trainer, _):
        name, parameter = self.parameter(trainer)
        self.spoil(parameter.data)
        self.named = name  # the weight, or its update where the loss does not depend on it

    def activation(self, trainer, _):
        modules = [(name, one) for name, one in trainer.encoder.named_modules() if isinstance(one, torch.nn.Linear)]
        name, module = self.chance.choice([one for one in modules if "attention.qkv" not in one[0]])
        module.register_forward_hook(lambda *given: given[2] * self.value)
        self.named = f"The first module with a non-finite output is {name}."

    def loss(self, trainer, _):
        real = trainer.parallel.loss.of
        trainer.parallel.loss.of = lambda *given: Judged(real(*given).loss * self.value, real(*given).right)
        self.named = "loss is "

    def gradient(self, trainer, _):
        name, parameter = self.parameter(trainer)
        parameter.register_hook(lambda gradient: self.spoil(gradient.clone()))
        self.named = f"the gradient of {name} is not finite"

    def optimizer(self, trainer, _):
        name, parameter = self.parameter(trainer)
        what = self.chance.choice(["exp_avg", "exp_avg_sq"])
        self.spoil(trainer.optimizer.state[parameter][what])
        self.named = f"optimizer's {name}/{what} is not finite"


KINDS = ["data", "weight", "activation", "loss", "gradient", "optimizer"]


@pytest.mark.parametrize("count", [6, pytest.param(102, marks=pytest.mark.slow)])
def test_a_non_finite_number_is_detected_in_its_step_and_never_saved(count, tmp_path, monkeypatch, figure):
    chance, real = random.Random(count), loop.Trainer.step
    for case in range(count):
        plant = Plant(KINDS[case % len(KINDS)], chance.randint(2, 9), chance)

        def step(self, epoch, batches, plant=plant):
            if self.progress.step + 1 == plant.step:
                plant.into(self, batches)
            real(self, epoch, batches)

        monkeypatch.setattr(loop.Trainer, "step", step)
        run, data = tiny_run(tmp_path / str(case), save_every=1, keep=1000)
        with pytest.raises(loop.NotFinite) as found:
            loop.train(run, data, Quiet())
        line = str(found.value)
        assert line.startswith(f"step {plant.step}: "), (plant.kind, line)
        assert plant.named in line, (plant.kind, plant.named, line)
        assert f"Last good checkpoint: step {plant.step - 1}." in line
        assert found.value.code == 1
        for saved in state.saved_steps(run.checkpoints):
            tensors = state.load_state(run.checkpoints, saved).tensors
            assert all(one.isfinite().all() for one in tensors.values() if one.is_floating_point())
        shutil.rmtree(run.path)
    figure(
        "T8",
        f"{count} of {count} ({', '.join(KINDS)}): detected in the same step, naming the tensor, the module or the row; "
        "exit code 1; 0 checkpoints with a non-finite value",
        cases=count,
    )


def test_a_nan_validation_loss_stops_before_it_is_saved(tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run")
    monkeypatch.setattr(loop.ParallelEncoder, "evaluate", lambda *_, **__: {"loss": math.nan, "accuracy": 0.0})
    with pytest.raises(loop.NotFinite, match=r"^step 10: the validation loss is nan\. .* Last good checkpoint: step 9\."):
        loop.train(run, data, Quiet())


def test_a_weight_that_is_very_large_is_still_a_number(tmp_path, monkeypatch):
    real = loop.Trainer.step

    def step(self, epoch, batches):
        real(self, epoch, batches)
        with torch.no_grad():
            self.encoder.head.classifier.classes.bias[0] = -1e30  # its square is infinite

    monkeypatch.setattr(loop.Trainer, "step", step)
    judge = TASKS["image"].judge
    clamped = lambda *given: Judged(judge(*given).loss.clamp(max=10.0), torch.zeros(()))  # noqa: E731
    monkeypatch.setattr(loop, "training_judge", lambda *_: clamped)
    run, data = tiny_run(tmp_path / "run", epochs=1, weight_decay=0.0)
    assert loop.train(run, data, Quiet())["step"] == 10
