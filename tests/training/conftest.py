"""One thread per test, since the tensors are tiny; process-wide settings are restored after a run."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _any_kernel_again():
    yield
    torch.use_deterministic_algorithms(False)
