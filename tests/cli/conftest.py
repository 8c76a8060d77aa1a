"""What a run sets for the whole process is set back: the commands of these tests run in this one."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _any_kernel_again():
    yield
    if "torch" in sys.modules:  # most commands never import it
        sys.modules["torch"].use_deterministic_algorithms(False)
