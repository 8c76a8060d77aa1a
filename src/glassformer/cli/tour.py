"""The tour command: runs all features on built-in data."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import click

from glassformer.cli.options import Named
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import not_written, path_text

PROBLEM = """\
title = "The word 'flying' attends to 'flying' and 'arrows'"
q = [0, 1]

[k]
flying = [1, 1]
arrows = [0, -1]

[v]
flying = [1, 1]
arrows = [-1, -1]
"""


SOLUTION = """\
# How many weights does the encoder have?

- Token table: $40,000 \\times 768 = 30,720,000$
- One layer, 8 heads: $3 \\times (768 \\times 768) \\times 8 = 14,155,008$
- Softmax of the scores: $\\exp(1/\\sqrt{2}) / (\\exp(1/\\sqrt{2}) + \\exp(-1/\\sqrt{2})) \\approx 0.6225$
"""


class Stop(NamedTuple):
    """A stop of the tour: its description and its command line. `{folder}` stands for the output folder."""

    why: str
    line: str


STOPS = (
    Stop("Count every parameter of BERT base, with its formula.", "count bert-base"),
    Stop(
        "A course question: one layer of width 64, 4 heads, a feed-forward block of 120, weights only.",
        "count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms",
    ),
    Stop(
        "Why the paper says 110M: the bare encoder and the pre-training model, compared line by line.",
        "bridge bert-base bert-base head=pretrain",
    ),
    Stop(
        "Tensor shapes, with tokens as columns, for two heads with d_k = 32 and d_v = 16.",
        "shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns",
    ),
    Stop(
        "The cost of a training step, and the largest batch that fits on a 24 GB GPU.",
        "cost bert-base t=512 batch=8 --train --fused --fit 24GB",
    ),
    Stop("The forward pass as equations.", "notation bert-base t=512"),
    Stop("Attention by hand, every step with its numbers.", "work {folder}/flying.toml"),
    Stop(
        "One number of a forward pass, traced down to its arithmetic.",
        'explain layer d_model=4 heads=2 d_ff=8 layers.0.attention.mix head=0 t=2 d_v=1 --text "Tom a été entarté" --depth 2',
    ),
    Stop("A textbook claim, tested numerically.", "experiment order --out {folder}/order.png"),
    Stop(
        "A wrong answer, and the mistake that produces exactly that number.",
        "check params attention d_model=512 heads=8 --claim 6553600",
    ),
    Stop(
        "A formula whose shapes match although it computes something else.",
        'algebra "Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V" X=768x6 W_Q=768x768 W_K=768x768 W_V=768x768',
    ),
    Stop("A worked solution, checked line by line.", "check {folder}/solution.md"),
    Stop(
        "A small encoder-decoder translates a number that it was not trained on, with the source token of each token.",
        "translate {folder}/numbers --text ninety-two --alignment",
    ),
    Stop(
        "All its cross-attention weights: each row has those with which the token after it was chosen.",
        "attention {folder}/numbers --text ninety-two --target quatre-vingt-douze",
    ),
    Stop(
        "Train an encoder on 1,252 images of handwritten digits for a few epochs.",
        "train digits --epochs 6 --out {folder}/digits",
    ),
    Stop("A report of this run on one page.", "report {folder}/digits --out {folder}/report.html"),
)
# What a tour writes: the next tour may replace these, and nothing else.
FILES, RUN = ("flying.toml", "solution.md", "order.png", "report.html"), "digits"
TRANSLATOR = "numbers"  # a copy of the bundled model
STOPPED = (130, 143)  # by a signal


@click.command()
@click.option(
    "--out",
    type=Named(),
    default=None,
    metavar="FOLDER",
    help="Folder for the files of the tour. [default: a temporary folder]",
)
def tour(out: str | None) -> None:
    """Run a tour of all features on built-in data (`make run` does this)."""
    began, missed = time.perf_counter(), 0
    folder = _empty(Path(out)) if out else Path(tempfile.mkdtemp(prefix="glassformer-tour-"))
    (folder / "flying.toml").write_text(PROBLEM, encoding="utf-8")
    (folder / "solution.md").write_text(SOLUTION, encoding="utf-8")
    with as_file(files("glassformer").joinpath("lab", "models", TRANSLATOR)) as bundled:
        shutil.copytree(bundled, folder / TRANSLATOR)
    for number, stop in enumerate(STOPS, 1):
        words = [word.format(folder=folder) for word in shlex.split(stop.line)]
        sys.stdout.write(f"\n[{number}/{len(STOPS)}] {stop.why}\n$ glassformer {shlex.join(words)}\n\n")
        sys.stdout.flush()
        missed += not _ran(words)
    sys.stdout.write(f"\nTour finished in {time.perf_counter() - began:.1f} s. Its files are in {folder}.\n")
    if (folder / "report.html").exists():
        sys.stdout.write(f"Open the report in a browser: {(folder / 'report.html').resolve()}\n")
    sys.stdout.write("'glassformer --help' lists all commands.\n")
    if missed:
        raise GlassformerError(f"{missed} of {len(STOPS)} stops were skipped; see the reasons above.")


def _ran(words: list[str]) -> bool:
    """Run one command; a missing optional package does not end the tour."""
    from glassformer.cli.main import glassformer

    try:
        glassformer.main(words, standalone_mode=False, prog_name="glassformer")
    except GlassformerError as error:
        sys.stdout.write(f"not shown: {error}\n")
        return False
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        sys.stdout.write("skipped: this needs PyTorch, which is not installed: pip install 'glassformer[torch]'.\n")
        return False
    except SystemExit as end:  # a check that finds a mistake, as intended here, exits with 1
        if end.code in STOPPED:
            raise
        return end.code in (0, 1, None)
    return True


def _empty(folder: Path) -> Path:
    """Delete the files of an earlier tour from the folder; refuse a folder that contains anything else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in folder.iterdir() if not _ours(path)]
        if others:
            raise GlassformerError(
                f"{path_text(folder)} holds '{shown(others[0])}', which was not written by a tour. "
                "Choose another --out, or move it away."
            )
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    except OSError as error:
        raise not_written(folder, error) from None
    return folder


def _ours(path: Path) -> bool:
    if path.is_symlink():
        return False
    if path.is_file():
        return path.name in FILES
    return (path.name == RUN and (path / "run.json").is_file()) or (path.name == TRANSLATOR and _copied(path))


def _copied(folder: Path) -> bool:
    """Whether a folder contains only files of the bundled translator."""
    bundled = {file.name for file in files("glassformer").joinpath("lab", "models", TRANSLATOR).iterdir()}
    return all(path.is_file() and path.name in bundled for path in folder.iterdir())
