"""The command `evaluate`: a classifier against labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import glassformer as gf
from glassformer.cli.data import rows_options, task_option
from glassformer.cli.model import DTYPES
from glassformer.cli.options import OneOf, as_option, format_options, give, model_argument
from glassformer.errors import GlassformerError


@click.command()
@model_argument("model")
@click.argument("data")
@as_option
@click.option("--part", default="test", show_default=True, metavar="NAME", help="train, validation, test, an extra part, or all.")
@click.option("--worst", default=10, show_default=True, type=click.IntRange(0, 10_000), help="Number of mistakes to show.")
@rows_options(no_label="Refused here: evaluate compares with labels.")
@task_option
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Token budget of a batch.")
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the computation.")
@click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]")
@format_options
def evaluate(model: Path, data: str, form: str | None, no_label: bool, **options: Any) -> None:
    """Evaluate a classifier: accuracy, macro-F1, confusion matrix, calibration and the most confident mistakes.

    Numbers (--task regress) have correlations and errors, several classes (--task multilabel) micro- and macro-F1, and embeddings
    (--task embed) MRR@10 and recall.

    MODEL is a checkpoint or a run, whose best weights are used. DATA is read as in `train`: given the same options, the part
    test holds the rows that training did not see. Intervals are at 95%.

    \b
    glassformer evaluate runs/topic-1 topic
    glassformer evaluate path/to/classifier reviews.csv --text review --label stars --part all
    glassformer evaluate runs/topic-1 topic --json
    """
    if no_label:
        raise GlassformerError("evaluate compares predictions with labels: leave --no-label out.")
    give(gf.evaluate(model, data, **options), form)
