"""Restores process-wide settings after a run: the commands of these tests run in this process."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _any_kernel_again():
    yield
    if "torch" in sys.modules:  # most commands never import it
        sys.modules["torch"].use_deterministic_algorithms(False)
