"""The command `evaluate`: a model against labelled data, translations or texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import glassformer as gf
from glassformer.cli.data import rows_options, target_option, task_option
from glassformer.cli.model import DTYPES
from glassformer.cli.options import OneOf, as_option, format_options, give, model_argument
from glassformer.errors import GlassformerError


@click.command()
@model_argument("model")
@click.argument("data", required=False)
@as_option
@click.option("--part", default="test", show_default=True, metavar="NAME", help="train, validation, test, an extra part, or all.")
@click.option("--worst", default=10, show_default=True, type=click.IntRange(0, 10_000), help="Number of mistakes to show.")
@rows_options(no_label="Not supported: evaluate compares with labels.")
@task_option
@target_option
@click.option("--beams", type=click.IntRange(1), metavar="N", help="Beam width for translations. [default: 4]")
@click.option("--max-new-tokens", type=click.IntRange(1), metavar="N", help="Maximum number of new tokens of a translation.")
@click.option(
    "--max-length", type=click.IntRange(1), metavar="N", help="Tokens per segment into which a decoder splits long texts."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Token budget of a batch.")
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the computation.")
@click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]")
@format_options
def evaluate(model: Path, data: str | None, form: str | None, no_label: bool, **options: Any) -> None:
    """Evaluate a model on data: metrics with 95% intervals, and the rows with the worst predictions.

    The metrics depend on the model. Classifiers: accuracy, macro-F1, confusion matrix, calibration and the most confident
    mistakes. Regression: correlations and errors. Multilabel: micro- and macro-F1. Embeddings: MRR@10 and recall.
    Encoder-decoders: BLEU and chrF (with sacrebleu signatures) and the loss of the reference translations. Decoders: loss and
    perplexity.

    MODEL is a checkpoint or a run, whose best weights are used. DATA is read as in `train`: with the same options, the part
    `test` contains the rows not used for training. Without DATA, a run is evaluated on its own test data.

    \b
    glassformer evaluate runs/topic-1 topic
    glassformer evaluate path/to/classifier reviews.csv --text review --label stars --part all
    glassformer evaluate runs/translation-en-fr-1 --beams 4 --worst 3
    glassformer evaluate path/to/opus-mt-en-fr pairs.tsv --text en --target fr --part all
    """
    if no_label:
        raise GlassformerError("evaluate compares predictions with labels: omit --no-label.")
    give(gf.evaluate(model, data, **options), form)
