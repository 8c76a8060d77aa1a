"""A real Chromium, shared by all tests of a process: a second one would not start."""

import os
import shutil

import pytest

CI = os.environ.get("CI", "").lower() not in ("", "0", "false")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()


def needed(what: str) -> None:
    """Skip with a reason; where CI is set, fail instead."""
    if CI:
        pytest.fail(f"{what}, and CI is set: the browser tests are never skipped there")
    pytest.skip(what)


@pytest.fixture(scope="session")
def chromium():
    """The path of the browser."""
    if CHROMIUM is None:
        needed("no chromium on this machine")
    return CHROMIUM


@pytest.fixture(scope="session")
def browser(chromium):
    playwright = pytest.importorskip("playwright.sync_api") if not CI else __import__("playwright.sync_api").sync_api
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield made
        made.close()
