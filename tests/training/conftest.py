"""One thread each: the tensors are tiny; and what a run sets for the whole process is set back."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _any_kernel_again():
    yield
    torch.use_deterministic_algorithms(False)
