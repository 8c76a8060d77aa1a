"""A leap of the loss or of the gradient is said in its step, and an ordinary curve is not."""

import math
import random

from tiny_training import Quiet, tiny_run

from glassformer.training import loop
from glassformer.training.leaps import Leaps
from glassformer.training.runs import Run
from glassformer.training.tasks import Judged


def curve(chance, steps=400):
    """A loss that falls with noise, and gradients whose length varies as those of real runs do."""
    return [(2 * math.exp(-step / 150) + 0.3 + chance.gauss(0, 0.08), chance.lognormvariate(0, 0.4)) for step in range(steps)]


def test_a_leap_is_said_at_once_and_an_ordinary_curve_is_not(figure):
    false = said = 0
    for seed in range(50):
        chance = random.Random(seed)
        leaps, leap = Leaps(), chance.randrange(50, 400)
        for step, (loss, length) in enumerate(curve(chance)):
            by_loss = seed % 2
            up = (loss + 6 if step == leap and by_loss else loss, 60.0 if step == leap and not by_loss else length)
            line = leaps.see(step, *up)
            false += bool(line) and step != leap
            said += step == leap and line.startswith(f"step {step}: the {'loss' if by_loss else 'gradient'} leaps to ")
    assert (said, false) == (50, 0)
    figure(
        "T9",
        "a loss 6 deviations above the last 100 steps, or a gradient 10 times as long as usual: 50 of 50 said in their step, "
        "0 false ones in 20,000 steps",
        cases=50,
    )


def test_a_gradient_shorter_than_the_clip_is_no_leap_however_short_the_others_were():
    said = []
    for clip in (None, 1.0, 0.1):
        leaps = Leaps(clip)
        for step in range(50):
            leaps.see(step, 0.002, 0.02)
        said.append(bool(leaps.see(50, 0.002, 0.56)))
    assert said == [True, False, True]
    assert leaps.see(51, 0.002, 5.6) == "step 51: the gradient leaps to a length of 5.6; over the last 50 steps 0.02 was usual."


def test_a_mistake_in_a_set_that_is_known_by_heart_is_no_leap():
    leaps = Leaps()
    for step in range(50):
        leaps.see(step, 0.0003, 0.02)
    assert leaps.see(50, 0.25, 0.02) == ""  # one row of 32 is wrong
    assert leaps.see(51, 0.9, 0.02).startswith("step 51: the loss leaps to 0.9")


def test_a_leap_is_said_to_who_looks_on(tmp_path, monkeypatch):
    monkeypatch.setattr("glassformer.training.leaps.LEAST", 5)
    monkeypatch.setattr(Run, "draw", lambda _: None)
    run, data = tiny_run(tmp_path / "run", epochs=1)
    real = loop.judge
    calls = []

    def judge(*given):
        calls.append(1)
        judged = real(*given)
        return Judged(judged.loss * 50, judged.right) if len(calls) == 8 else judged

    monkeypatch.setattr(loop, "judge", judge)
    watch = Quiet()
    loop.train(run, data, watch)
    assert len(watch.said) == 1
    assert watch.said[0].startswith("step 8: the loss leaps to 1")
    assert watch.said[0].endswith(f"If it stays: stop, and glassformer resume {run.path} --lr 0.0003")
