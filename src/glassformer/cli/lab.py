"""The lab command: opens an encoder, a checkpoint or a run in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from glassformer.cli.options import complete_words
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text


@click.command()
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …] | CHECKPOINT | RUN]", shell_complete=complete_words)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port. [default: any free port]")
@click.option("--runs", default="runs", show_default=True, metavar="FOLDER", help="Folder of the training runs.")
@click.option("--data", multiple=True, metavar="FILE|FOLDER", help="Your own data to offer for training; may be repeated.")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@click.option(
    "--export", "folder", metavar="FOLDER", help="Export the pages Walk and Bench as static files for any web server, and exit."
)
def lab(words: tuple[str, ...], port: int, runs: str, data: tuple[str, ...], no_browser: bool, folder: str | None) -> None:
    """Open the lab in the browser: walk, bench, trace, by hand, train, check. Listens on this machine only.

    \b
    glassformer lab
    glassformer lab bert-base layers=8 heads=8
    glassformer lab path/to/checkpoint --port 8000 --no-browser
    glassformer lab bert-base layers=8 --export pages
    """
    try:
        from glassformer.lab.export import export
        from glassformer.lab.server import bound, serve
        from glassformer.lab.start import start
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        raise GlassformerError(f"the lab needs {error.name}, which is not installed: pip install 'glassformer[lab]'.") from None
    if folder is not None:
        count = export(words, Path(folder))
        where = path_text(Path(folder))
        click.echo(f"Wrote {count} files to {where}. View them with: python -m http.server --directory {where}")
        return
    listener = bound(port)
    made = start(words, listener.getsockname()[1], runs=Path(runs), data=[Path(one) for one in data])
    serve(made, listener, browser=not no_browser)
