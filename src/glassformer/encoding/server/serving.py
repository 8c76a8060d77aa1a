"""The server from start to end: load the model, bind the address, answer what was accepted, stop."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from glassformer.encoding.connections import listen, open_files, settings
from glassformer.encoding.devices import device_for
from glassformer.encoding.engines.choice import Choice, check_engine, chosen_for, part_of_task
from glassformer.encoding.server.app import Served, app
from glassformer.encoding.server.batches import Batches
from glassformer.encoding.streams import load_on
from glassformer.errors import GlassformerError

KEY = "GLASSFORMER_API_KEY"  # the environment variable with the key: other accounts can read a command line
MOST_WAITING = 4_000_000  # tokens of accepted requests
DRAIN = 30  # seconds that requests in progress have after SIGTERM or Ctrl-C


def loaded(
    checkpoint: Path, *, where: dict[str, Any], vectors: dict[str, Any], engine: str, truncate: bool, name: str | None
) -> tuple[Served, Choice | None]:
    """Load a model and start its batches; `vectors` are the options pool, normalise and batch_tokens."""
    device = device_for(where["device"])
    check_engine(engine, device=device, dtype=where["dtype"])
    pool = vectors["pool"]
    model = load_on(checkpoint, **where | {"device": device}, uses=("pooler",) if pool == "pooled" else ())
    model.encode(["start"], pool=pool, normalise=vectors["normalise"])  # a model that encodes no texts is refused now
    choice = None if engine == "torch" else chosen_for(model, engine, part_of_task("encode", pool))

    def compute(ids: list[Any]) -> Any:
        return model.embed(ids, **vectors)

    batches = Batches(compute, vectors["batch_tokens"] or model.tokens_at_once, MOST_WAITING)
    key = os.environ.get(KEY, "")
    if key and (not key.isascii() or len(key) < 16):
        raise GlassformerError(f"{KEY} must have at least 16 characters, all ASCII. Leave it out for a new key.")
    called = name or checkpoint.resolve().name
    return Served(model, called, key or secrets.token_urlsafe(32), batches, {"truncate": truncate}), choice


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    return listen(host, port, options=f"--host {host} --port {port}", way_out="Try another --port.")


def serve(served: Served, listener: socket.socket) -> None:
    """Print the address and serve until stopped."""
    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    key = f"the value of {KEY}" if os.environ.get(KEY) else served.key
    sys.stdout.write(f"Serving {served.name} at {address}/v1\nkey: {key}\nPress Ctrl-C to stop.\n")
    sys.stdout.flush()
    open_files()
    try:
        uvicorn.Server(settings(app(served), drain=DRAIN)).run(sockets=[listener])
    except KeyboardInterrupt:
        sys.stdout.write("stopped.\n")
    finally:
        served.batches.close()
