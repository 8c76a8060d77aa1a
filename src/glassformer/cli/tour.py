"""The tour: one walk through the house, on built-in data, to its end."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click

from glassformer.spec import GlassformerError

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
# How many weights has the encoder?

- Token table: $40,000 \\times 768 = 30,720,000$
- One layer, 8 heads: $3 \\times (768 \\times 768) \\times 8 = 14,155,008$
- Softmax of the scores: $\\exp(1/\\sqrt{2}) / (\\exp(1/\\sqrt{2}) + \\exp(-1/\\sqrt{2})) \\approx 0.6225$
"""


class Stop(NamedTuple):
    """A stop of the tour: what it shows, and what a newcomer would type. `{folder}` is a place for files."""

    why: str
    line: str


STOPS = (
    Stop("An encoder in two words: every parameter, with its formula.", "count bert-base"),
    Stop(
        "A course question: one layer of width 64, 4 heads, a feed-forward block of 120, weights alone.",
        "count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms",
    ),
    Stop(
        "Why the paper says 110M: from the bare encoder to the pre-training model, line by line.",
        "bridge bert-base bert-base head=pretrain",
    ),
    Stop(
        "Shapes, with tokens as columns, for two heads of free width.",
        "shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns",
    ),
    Stop(
        "What a training step costs, and the batch that fits a 24 GB card.",
        "cost bert-base t=512 batch=8 --train --fused --fit 24GB",
    ),
    Stop("The forward pass as equations.", "notation bert-base t=512"),
    Stop("Attention by hand, every step with its numbers.", "work {folder}/flying.toml"),
    Stop(
        "One number of a run, down to its arithmetic.",
        'explain layer d_model=4 heads=2 d_ff=8 layers.0.attention.mix head=0 t=2 d_v=1 --text "Tom a été entarté" --depth 2',
    ),
    Stop("A sentence of the textbook, tried on real arithmetic.", "experiment order --out {folder}/order.png"),
    Stop(
        "A wrong answer, and the mistake that gives exactly that number.",
        "check params attention d_model=512 heads=8 --claim 6553600",
    ),
    Stop(
        "A formula whose shapes fit although it means something else.",
        'algebra "Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V" X=768x6 W_Q=768x768 W_K=768x768 W_V=768x768',
    ),
    Stop("A worked solution, read line by line.", "check {folder}/solution.md"),
)


@click.command()
@click.option("--out", default=None, metavar="FOLDER", help="Where the tour's files go; a folder for temporary files otherwise.")
def tour(out: str | None) -> None:
    """A walk through all of it, on built-in data. `make run` takes it."""
    from glassformer.cli.main import glassformer

    began, missed = time.perf_counter(), 0
    folder = Path(out) if out else Path(tempfile.mkdtemp(prefix="glassformer-tour-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flying.toml").write_text(PROBLEM, encoding="utf-8")
    (folder / "solution.md").write_text(SOLUTION, encoding="utf-8")
    for number, stop in enumerate(STOPS, 1):
        words = [word.format(folder=folder) for word in shlex.split(stop.line)]
        sys.stdout.write(f"\n[{number}/{len(STOPS)}] {stop.why}\n$ glassformer {shlex.join(words)}\n\n")
        try:
            glassformer.main(words, standalone_mode=False, prog_name="glassformer")
        except GlassformerError as error:  # an optional package that is not there must not end the walk
            sys.stdout.write(f"not shown: {error}\n")
            missed += 1
        except SystemExit as end:  # a check that found something wrong, as it should here, ends with 1
            missed += end.code not in (0, 1)
    sys.stdout.write(f"\nThe tour is over ({time.perf_counter() - began:.1f} s). Its files lie in {folder}.\n")
    sys.stdout.write("'glassformer --help' says what else can be asked.\n")
    if missed:
        raise GlassformerError(f"{missed} of {len(STOPS)} stops could not be shown; the reasons stand above.")
