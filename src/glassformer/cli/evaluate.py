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
@rows_options(no_label="Refused here: evaluate compares with labels.")
@task_option
@target_option
@click.option(
    "--beams", type=click.IntRange(1), metavar="N", help="Of translations that are scored: width of the search. [default: 4]"
)
@click.option("--max-new-tokens", type=click.IntRange(1), metavar="N", help="Of translations: new tokens at most.")
@click.option("--max-length", type=click.IntRange(1), metavar="N", help="Of a decoder: tokens of a piece of a long text.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Token budget of a batch.")
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the computation.")
@click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]")
@format_options
def evaluate(model: Path, data: str | None, form: str | None, no_label: bool, **options: Any) -> None:
    """Evaluate a model on data: figures with 95% intervals, and the worst rows.

    Classifiers have accuracy, macro-F1, confusion matrix, calibration and the most confident mistakes; numbers
    (--task regress) correlations and errors, several classes (--task multilabel) micro- and macro-F1, embeddings (--task embed)
    MRR@10 and recall. Encoder-decoders have BLEU and chrF (with the signatures of sacrebleu) and the loss of the true
    translations, decoders loss and perplexity.

    MODEL is a checkpoint or a run, whose best weights are used. DATA is read as in `train`: given the same options, the part
    test holds the rows that training did not see. Without DATA, a run is evaluated on its own.

    \b
    glassformer evaluate runs/topic-1 topic
    glassformer evaluate path/to/classifier reviews.csv --text review --label stars --part all
    glassformer evaluate runs/translation-en-fr-1 --beams 4 --worst 3
    glassformer evaluate path/to/opus-mt-en-fr pairs.tsv --text en --target fr --part all
    """
    if no_label:
        raise GlassformerError("evaluate compares predictions with labels: leave --no-label out.")
    give(gf.evaluate(model, data, **options), form)
