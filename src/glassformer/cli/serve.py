"""The command `serve`: an OpenAI-compatible server for the vectors of a checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from glassformer.checkpoints.folder import model_folder
from glassformer.cli.model import DTYPES, checkpoint_argument
from glassformer.cli.options import OneOf, as_option
from glassformer.errors import GlassformerError


@click.command()
@checkpoint_argument
@as_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on. The default is this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="N", help="Port; 0 takes a free one."
)
@click.option("--name", metavar="NAME", help="Name of the model in requests. [default: that of the folder]")
@click.option(
    "--pool", type=OneOf(["mean", "first", "last", "max", "pooled"]), help="Pooling. [default: that of the checkpoint, else mean]"
)
@click.option(
    "--normalise/--no-normalise", default=None, help="Scale vectors to unit length. [default: that of the checkpoint, else yes]"
)
@click.option("--truncate", is_flag=True, help="Truncate texts that are too long instead of refusing them.")
@click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Token budget of a batch.")
@click.option(
    "--engine",
    type=OneOf(["auto", "torch", "onnx", "openvino"]),
    default="torch",
    show_default=True,
    help="What computes, as in encode.",
)
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the computation.")
@click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]")
def serve(checkpoint: Path, host: str, port: int, **options: Any) -> None:
    """Serve vectors over HTTP: POST /v1/embeddings as OpenAI's clients do, /v1/models, /health, /metrics.

    Texts of concurrent requests are computed in common batches. Requests need the key that is printed at the start, or the
    value of the environment variable GLASSFORMER_API_KEY. After Ctrl-C or SIGTERM, accepted requests are still answered.

    \b
    glassformer serve path/to/checkpoint
    glassformer serve path/to/checkpoint --port 9000 --truncate --engine auto
    """
    model_folder(checkpoint)
    try:
        from glassformer.cli.model import engine_note
        from glassformer.encoding.server.serving import bound, loaded
        from glassformer.encoding.server.serving import serve as run
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        raise GlassformerError(f"serve needs {error.name}, which is not installed: pip install 'glassformer[lab]'.") from None
    vectors = {name: options[name] for name in ("pool", "normalise", "batch_tokens")}
    where = {name: options[name] for name in ("device", "dtype", "as_class")}
    rest = {name: options[name] for name in ("engine", "truncate", "name")}
    with bound(host, port) as listener:
        served, choice = loaded(checkpoint, where=where, vectors=vectors, **rest)
        if choice is not None:
            print(f"glassformer: {engine_note(choice.to_dict())}", file=sys.stderr)
        run(served, listener)
