"""The command of the lab: the browser on an encoder, a checkpoint or a run."""

from __future__ import annotations

from pathlib import Path

import click

from glassformer.cli.options import complete_words
from glassformer.spec import GlassformerError


@click.command()
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …] | CHECKPOINT | RUN]", shell_complete=complete_words)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port; one that is free if not given.")
@click.option("--runs", default="runs", show_default=True, metavar="FOLDER", help="Where runs are looked for and made.")
@click.option("--data", multiple=True, metavar="FILE|FOLDER", help="Data of yours that can be trained on; may be repeated.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
def lab(words: tuple[str, ...], port: int, runs: str, data: tuple[str, ...], no_browser: bool) -> None:
    """Five pages in the browser: bench, trace, by hand, train, check. Served to this machine alone.

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
