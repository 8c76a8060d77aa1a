"""A running lab, and a real Chromium.

`lab` is started once for the tests of a process; `page` is a fresh page of the browser that fails the test when a request leaves
the machine, when a script raises, or when the content security policy had to stop something; `serious_faults(page)` asks axe.
LAB_STATIC=DIR serves another build of the front end (`node web/build.mjs --out DIR`).
"""

import os
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the lab's extra is not installed: pip install 'glassformer[lab]'")

import uvicorn
from chromium import needed

from glassformer.lab import server
from glassformer.lab.start import Lab, start

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
SLOWEST = 30_000  # milliseconds a page may take on a busy machine

if os.environ.get("LAB_STATIC"):
    server.STATIC = Path(os.environ["LAB_STATIC"]).resolve()


@dataclass(frozen=True)
class Running:
    """A lab that answers at `address`."""

    lab: Lab
    address: str

    def at(self, path: str) -> str:
        """An address with the key, as the lab prints it."""
        return f"{self.address}{path}#key={self.lab.token}"

    @property
    def key(self) -> dict[str, str]:
        """The header without which nothing under /api/ is answered."""
        return {"x-glassformer-token": self.lab.token}


@contextmanager
def running(*words: str, **options):
    """`glassformer lab WORDS --OPTIONS` in a thread of this process."""
    listener = server.bound(0)
    lab = start(words, listener.getsockname()[1], **options)
    made = uvicorn.Server(server.settings(lab))
    thread = threading.Thread(target=made.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not made.started and time.monotonic() < deadline:
        time.sleep(0.01)
    assert made.started
    try:
        yield Running(lab, f"http://127.0.0.1:{lab.port}")
    finally:
        lab.leaving.set()
        made.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture(scope="session")
def lab():
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def lab_with():
    """`with lab_with(FOLDER) as found:` is a lab of the test's own."""
    return running


@pytest.fixture(scope="session")
def entered(browser, lab):
    """What the browser keeps after the address that the lab printed was opened once."""
    context = browser.new_context()
    made = context.new_page()
    made.set_default_timeout(SLOWEST)
    made.goto(lab.at("/hand"))
    made.wait_for_selector("header.top")
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture
def page(browser, lab, entered):
    """A fresh page of a browser that has the key; relative addresses are the lab's."""
    context = browser.new_context(base_url=lab.address, viewport={"width": 1280, "height": 900}, storage_state=entered)
    made = context.new_page()
    made.set_default_timeout(SLOWEST)
    faults: list[str] = []
    made.on("request", lambda request: _stays_here(request.url) or faults.append(f"a request left the machine: {request.url}"))
    made.on("pageerror", lambda error: faults.append(f"a script raised: {error}"))
    made.on("console", lambda message: "Content Security Policy" in message.text and faults.append(message.text))
    yield made
    context.close()
    assert faults == []


def _stays_here(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:"))


@pytest.fixture
def serious_faults():
    """What axe-core finds on a page that is serious or worse: a list of lines, empty where all is well."""
    if not AXE.exists():
        needed("axe-core is not installed: cd web && npm ci")

    def ask(page) -> list[str]:
        page.evaluate(AXE.read_text(encoding="utf-8"))  # through the debugger, which a content security policy does not stop
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{fault['id']}: {fault['help']} at {[node['target'] for node in fault['nodes']][:5]}"
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]

    return ask


@pytest.fixture
def fits():
    """Waits until nothing of a page sticks out to the right: plots follow their place a frame later.

    What `wait_for_function` is given is a function always: an expression would be evaluated again on every frame, in the page
    itself, and the content security policy forbids that.
    """

    def wait(page) -> None:
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")

    return wait
