"""One thread per test, since the tensors are tiny; no pictures; process-wide settings are restored after a run."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(scope="module", autouse=True)
def _no_pictures(no_pictures):
    """Of no run but those of other processes; what a run draws is tested in test_loop.py."""


@pytest.fixture(autouse=True)
def _any_kernel_again():
    yield
    torch.use_deterministic_algorithms(False)
