"""The server: one app with all pages and one-line errors, bound to the local machine only."""

from __future__ import annotations

import re
import socket
import sys
import threading
import webbrowser
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.configs.reading import SIZES
from glassformer.encoding import connections
from glassformer.errors import GlassformerError
from glassformer.lab.documents.lab import Known
from glassformer.lab.front import Front
from glassformer.lab.guard import Guard, RefusedError
from glassformer.lab.pages import PAGES, page_routes
from glassformer.lab.start import Lab
from glassformer.lab.wire import answer
from glassformer.spec import field_rules

HOST = "127.0.0.1"
STATIC = Path(str(files("glassformer.lab").joinpath("static")))


def app(lab: Lab) -> Guard:
    """All routes of the lab."""
    made = Starlette(
        routes=[Route("/api/lab", known), *page_routes()],
        exception_handlers={
            RefusedError: _refused,
            GlassformerError: _mistake,
            ModuleNotFoundError: _not_installed,
            HTTPException: _not_answered,
            Exception: _our_fault,
        },
    )
    made.state.lab = lab
    front = Front.read(STATIC, [address for address, _, _ in PAGES.values()])
    return Guard(made, front, token=lab.token, port=lab.port)  # outside everything, so that even a failure has its headers


async def known(request: Request) -> Response:
    """The first response to a page with the key: the lab's version, what it was started with, and the page to open."""
    lab = request.app.state.lab
    roots = [str(root) for root in lab.folders.roots]
    found: Known = {"version": version("glassformer"), "given": lab.given, "folders": roots, "address": lab.address}
    return answer(found)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return error.answer()


async def _mistake(_: Request, error: Exception) -> Response:
    """Return a user error with the command line's message, and the field if the message starts with one."""
    found = re.match(r"(\w+)=", str(error))
    field = found[1] if found and found[1] in (*field_rules(), *SIZES) else None
    return answer({"error": str(error), "field": field}, 400)


async def _not_installed(request: Request, error: Exception) -> Response:
    if getattr(error, "name", None) != "torch":
        return await _our_fault(request, error)
    return answer({"error": "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'."}, 400)


async def _not_answered(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer({"error": f"{request.method} {request.url.path[:60]}: {error.detail.lower()}."}, error.status_code)


async def _our_fault(request: Request, _: Exception) -> Response:
    """Any other exception is a bug: one line to the page, the traceback to the log (Starlette raises it again)."""
    return answer(
        {"error": f"the lab failed at {request.url.path[:60]}: this is a bug in Glassformer; see its log for details."}, 500
    )


def bound(port: int) -> socket.socket:
    """A socket bound to the local machine only; port 0 picks a free port."""
    return connections.listen(HOST, port, options=f"--port {port}", way_out="Leave out --port to use a free one.")


def settings(lab: Lab) -> uvicorn.Config:
    """uvicorn's configuration of the lab, which ends without waiting for long answers."""
    return connections.settings(app(lab), drain=1)


class _Server(uvicorn.Server):
    """Announce the shutdown before waiting for responses in progress."""

    lab: Lab

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.lab.leaving.set()
        super().handle_exit(sig, frame)


def serve(lab: Lab, listener: socket.socket, *, browser: bool) -> None:
    """Serve until stopped; print the address, and open the browser if asked. Browsers do not send the key after the #."""
    address = f"http://{HOST}:{lab.port}{lab.address}#key={lab.token}"
    sys.stdout.write(f"Glassformer lab: {address}\nPress Ctrl-C to stop.\n")
    sys.stdout.flush()
    connections.open_files()
    server = _Server(settings(lab))
    server.lab = lab
    if browser:
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        sys.stdout.write("\nstopped.\n")
