"""The tour: one walk through the house, on built-in data, to its end."""

from __future__ import annotations

import shlex
import sys
import time

import click

# What a newcomer would type, in the order of the rooms; each is a real command.
STOPS = (
    ("An encoder in two words: every parameter, with its formula.", "count bert-base"),
    (
        "A course question: one layer of width 64, 4 heads, a feed-forward block of 120, weights alone.",
        "count layer d_model=64 heads=4 d_k=16 d_ff=120 --without output,biases,norms",
    ),
    (
        "Why the paper says 110M: from the bare encoder to the pre-training model, line by line.",
        "bridge bert-base bert-base head=pretrain",
    ),
    (
        "Shapes, with tokens as columns, for two heads of free width.",
        "shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns",
    ),
    (
        "What a training step costs, and the batch that fits a 24 GB card.",
        "cost bert-base t=512 batch=8 --train --fused --fit 24GB",
    ),
    ("The forward pass as equations.", "notation bert-base t=512"),
)


@click.command()
def tour() -> None:
    """A walk through all of it, on built-in data. `make run` takes it."""
    from glassformer.cli.main import glassformer

    began = time.perf_counter()
    for number, (why, line) in enumerate(STOPS, 1):
        sys.stdout.write(f"\n[{number}/{len(STOPS)}] {why}\n$ glassformer {line}\n\n")
        glassformer.main(shlex.split(line), standalone_mode=False, prog_name="glassformer")
    sys.stdout.write(
        f"\nThe tour is over ({time.perf_counter() - began:.1f} s). 'glassformer --help' says what else can be asked.\n"
    )
