"""Signals: a flag, a saved step, the right exit code."""

import os
import signal

import pytest
from tiny_training import Quiet, losses, tiny_run

from glassformer.training import loop
from glassformer.training.signals import Interrupted, stopping
from glassformer.training.state import saved_steps


def test_a_signal_sets_a_flag_and_handlers_are_set_back():
    before = signal.getsignal(signal.SIGTERM)
    with stopping() as flag:
        assert not flag
        os.kill(os.getpid(), signal.SIGTERM)
        assert flag and flag.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_saves_its_step_and_continues_bit_for_bit(number, code, tmp_path):
    whole, data = tiny_run(tmp_path / "whole")
    loop.train(whole, data, Quiet())
    run, _ = tiny_run(tmp_path / "run")
    with pytest.raises(
        Interrupted, match=r"stopped at step 5 of 20; everything is saved\. To resume: glassformer resume"
    ) as stopped:
        loop.train(run, data, Quiet(lambda step: os.kill(os.getpid(), number) if step == 5 else None))
    assert stopped.value.code == code
    assert saved_steps(run.checkpoints)[0] == 5
    loop.train(run, data, Quiet())
    assert losses(run) == losses(whole)
