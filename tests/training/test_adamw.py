"""Our AdamW beside that of PyTorch: the same bits, and nothing changes where a gradient is not finite."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from glassformer.training.adamw import AdamW

SHAPES = ((7, 5), (33,), (), (2, 3, 4))


def weights():
    torch.manual_seed(0)
    return [nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def groups(parameters):
    return [{"params": parameters[:2], "weight_decay": 0.1}, {"params": parameters[2:], "weight_decay": 0.0}]


@pytest.mark.parametrize("on_device", [False, True])
def test_steps_are_those_of_pytorch_to_the_last_bit(on_device):
    mine, plain = weights(), weights()
    ours, theirs = AdamW(groups(mine), lr=1e-2), torch.optim.AdamW(groups(plain), lr=1e-2, fused=True)
    for step in range(5):
        for optimizer in (ours, theirs):
            for group in optimizer.param_groups:
                rate = 1e-2 / (step + 1)
                group["lr"] = torch.tensor(rate) if on_device else rate
        for place, (one, other) in enumerate(zip(mine, plain, strict=True)):
            one.grad = None if place == 1 and step == 0 else torch.randn_like(one)  # a part that a step does not reach
            other.grad = None if one.grad is None else one.grad.clone()
        ours.step()
        theirs.step()
    for one, other in zip(mine, plain, strict=True):
        assert torch.equal(one, other)
        assert ours.state[one].keys() == theirs.state[other].keys()
        assert all(torch.equal(value, theirs.state[other][name]) for name, value in ours.state[one].items())


def test_a_step_with_a_fault_changes_nothing():
    mine = weights()
    optimizer = AdamW(groups(mine), lr=1e-2)
    optimizer.found_inf = torch.zeros(())
    before = []
    for fault in (0.0, 1.0):
        before = [(one.detach().clone(), {k: v.clone() for k, v in optimizer.state[one].items()}) for one in mine]
        optimizer.found_inf.fill_(fault)
        for one in mine:
            one.grad = torch.full_like(one, float("nan") if fault else 1.0)
        optimizer.step()
        same = [torch.equal(one, kept) for one, (kept, _) in zip(mine, before, strict=True)]
        assert same == [bool(fault)] * len(mine)
    for one, (_, state) in zip(mine, before, strict=True):
        assert all(torch.equal(value, optimizer.state[one][name]) for name, value in state.items())
    optimizer.zero_grad()
    assert all(one.grad is None for one in mine)


ONE_RUN = """
import sys
import glassformer as gf
gf.train("digits", fields={"d_model": 16, "heads": 2, "layers": 1}, epochs=1, batch_size=512, out=sys.argv[1], progress=False)
print([name for name in ("torch._dynamo", "torch._inductor") if name in sys.modules])
"""


def test_a_run_that_is_not_compiled_does_not_import_the_compiler(tmp_path):
    done = subprocess.run([sys.executable, "-c", ONE_RUN, tmp_path / "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr[-2000:]
