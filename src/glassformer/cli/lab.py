"""The lab command: opens an encoder, a checkpoint or a run in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from glassformer.cli.options import complete_words
from glassformer.errors import GlassformerError


@click.command()
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …] | CHECKPOINT | RUN]", shell_complete=complete_words)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port. [default: any free port]")
@click.option("--runs", default="runs", show_default=True, metavar="FOLDER", help="Folder of the training runs.")
@click.option("--data", multiple=True, metavar="FILE|FOLDER", help="Your own data to offer for training; may be repeated.")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def lab(words: tuple[str, ...], port: int, runs: str, data: tuple[str, ...], no_browser: bool) -> None:
    """Open the lab in the browser: bench, trace, by hand, train, check. Serves this machine only.

    \b
    glassformer lab
    glassformer lab bert-base layers=8 heads=8
    glassformer lab path/to/checkpoint --port 8000 --no-browser
    """
    try:
        from glassformer.lab.server import bound, serve
        from glassformer.lab.start import start
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        raise GlassformerError(f"the lab needs {error.name}, which is not installed: pip install 'glassformer[lab]'.") from None
    listener = bound(port)
    made = start(words, listener.getsockname()[1], runs=Path(runs), data=[Path(one) for one in data])
    serve(made, listener, browser=not no_browser)
