"""The insight commands on the fast model: saliency, ablate, lens, patch, probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import glassformer as gf
from glassformer.cli.data import rows_options, split_option
from glassformer.cli.model import DTYPES
from glassformer.cli.options import Named, as_option, choice_option, format_options, give
from glassformer.errors import GlassformerError

model_argument = click.argument("model", metavar="CHECKPOINT", type=click.Path(path_type=Path))
dtype_option = choice_option("--dtype", *DTYPES, help="Number format of the computation.")
device_option = click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]")
of_option = click.option(
    "--of", metavar="QUANTITY", help="class=LABEL or token=WORD, with against=… for a difference.  [default: what is predicted]"
)
out_option = click.option("--out", type=Named(), metavar="FILE", help="Save a picture, FILE.png or FILE.svg.")


def _give(found: Any, out: str | None, form: str | None) -> None:
    notes = [f"picture: {gf.save_picture(found, out)}"] if out is not None else []
    give(found, form, notes=notes if form is None else None)


def _check_picture(out: str | None) -> None:
    """Refuse a picture that cannot be drawn before anything is computed."""
    from glassformer.show.figures import check_format, drawing

    if out is not None:
        check_format(out)
        with drawing():
            pass


@click.command()
@model_argument
@click.argument("data")
@as_option
@click.option(
    "--kinds",
    default="head,ffn,layer",
    show_default=True,
    metavar="KIND,…",
    help="What is silenced: heads, feed-forward blocks, layers.",
)
@click.option("--part", default="test", show_default=True, metavar="NAME", help="train, validation, test, an extra part, or all.")
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Use the first N rows.")
@click.option("--folder", type=Named(), metavar="FOLDER", help="Keep finished rows there; the same command goes on after them.")
@rows_options(no_label="Refused here: ablate compares with labels.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@dtype_option
@device_option
@out_option
@format_options
def ablate(model: Path, data: str, kinds: str, out: str | None, form: str | None, no_label: bool, **options: Any) -> None:
    """Silence each head, feed-forward block and layer in turn, and measure what the model loses on labelled data.

    A head writes 0 instead of its mix, a feed-forward block 0 instead of its output, a layer hands on its input. Changes of
    accuracy and loss have 95% bootstrap intervals. What comes before a change is computed once.

    \b
    glassformer ablate runs/topic-1 topic
    glassformer ablate runs/topic-1 topic --kinds head --rows 1000 --out heads.png
    glassformer ablate path/to/classifier reviews.csv --text review --label stars --part all --folder ablation
    """
    if no_label:
        raise GlassformerError("ablate compares predictions with labels: leave --no-label out.")
    _check_picture(out)
    chosen: Any = [kind.strip() for kind in kinds.split(",")]
    _give(gf.ablate(model, data, kinds=chosen, show_progress=True, **options), out, form)


@click.command()
@model_argument
@click.option("--text", required=True, help="Input text.")
@of_option
@choice_option(
    "--method", "integrated", "gradient", "rollout", help="Integrated gradients, gradient × input, or attention rollout."
)
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="Nodes of the integral.  [default: until the gap is small]"
)
@choice_option(
    "--baseline", "padding", "zero", help="Where integrated gradients start: every word a padding token, or zero vectors."
)
@as_option
@dtype_option
@device_option
@out_option
@format_options
def saliency(model: Path, out: str | None, form: str | None, **options: Any) -> None:
    """Score the tokens, words and heads of a text for one logit, with the completeness gap of the method.

    Integrated gradients sum to the change of the logit from the baseline; the gap is what the integral misses. Gradient × input
    has no such law, and attention rollout does not depend on the logit at all: their gaps say so.

    \b
    glassformer saliency runs/topic-1 --text "Shares fell sharply"
    glassformer saliency runs/topic-1 --text "Shares fell sharply" --of "class=Business against=Sports" --out words.png
    """
    _check_picture(out)
    _give(gf.saliency(model, **options), out, form)


@click.command()
@model_argument
@click.argument("data", required=False)
@click.option("--text", help="Input text, instead of DATA.")
@click.option("--guesses", type=click.IntRange(1, 100), metavar="N", help="Guesses of each answer to --text.  [default: 5]")
@click.option("--part", metavar="NAME", help="Of DATA: train, validation, test, an extra part, or all.  [default: test]")
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Use the first N rows of DATA.")
@click.option("--column", metavar="NAME", help="Column of DATA with the texts.  [default: text]")
@click.option("--label", metavar="COLUMN", help="Column of DATA with the labels.  [default: label]")
@as_option
@dtype_option
@device_option
@out_option
@format_options
def lens(model: Path, data: str | None, text: str | None, out: str | None, form: str | None, **options: Any) -> None:
    """Show what each layer would answer if the head read it: classes, tags, or tokens of a text; accuracy on labelled DATA.

    Each depth is normalised by its own norm: after the residual sum that of the layer, before the sub-layers the final norm with
    the statistics of that depth.

    \b
    glassformer lens runs/topic-1 --text "Shares fell sharply"
    glassformer lens runs/topic-1 topic --rows 500
    glassformer lens path/to/bert --text "The [MASK] of the river" --out lens.png
    """
    if (data is None) == (text is None):
        raise GlassformerError("lens reads one text or labelled data: give either --text or DATA.")
    of_text, of_data = ("guesses",), ("part", "rows", "column", "label")
    for name in of_text if text is None else of_data:
        if options[name] is not None:
            raise GlassformerError(f"--{name} belongs to {'--text' if text is None else 'DATA'}: leave it out.")
    given = {name: value for name, value in options.items() if value is not None}
    _check_picture(out)
    if data is not None:
        given |= {"text": given.pop("column")} if "column" in given else {}
        _give(gf.lens_over(model, data, show_progress=True, **given), out, form)
    elif text is not None:
        _give(gf.lens(model, text, **given), out, form)


@click.command()
@model_argument
@click.argument("clean")
@click.argument("corrupt")
@of_option
@choice_option(
    "--at",
    "layers",
    "attention",
    "ffn",
    help="What is patched: the output of a layer, of its attention, or of its feed-forward block.",
)
@as_option
@dtype_option
@device_option
@out_option
@format_options
def patch(model: Path, clean: str, corrupt: str, out: str | None, form: str | None, **options: Any) -> None:
    """Put values of the CLEAN text's run into the run of the CORRUPT text, one layer and position at a time.

    Each cell says how much of the difference between the two texts comes back: 0 as corrupt, 1 as clean. Both texts must have the
    same number of tokens.

    \b
    glassformer patch runs/topic-1 "Shares fell sharply" "Leaves fell sharply" --out patch.png
    glassformer patch path/to/bert "The [MASK] of France" "The [MASK] of London" --of token=king --at attention
    """
    _check_picture(out)
    _give(gf.patch(model, clean, corrupt, **options), out, form)


@click.command()
@model_argument
@click.argument("data")
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Use the first N texts of each part.")
@click.option("--text", default="text", show_default=True, metavar="COLUMN", help="Column with the texts.")
@click.option("--label", default="label", show_default=True, metavar="COLUMN", help="Column with the labels.")
@click.option("--skip-bad", is_flag=True, help="Skip rows that cannot be used instead of refusing the data.")
@split_option
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of split and control labels.")
@as_option
@dtype_option
@device_option
@out_option
@format_options
def probe(model: Path, data: str, out: str | None, form: str | None, **options: Any) -> None:
    """Fit a linear probe on the mean hidden state of each layer, and compare it with a control task.

    In the control task each text has a random label that belongs to its first word. Selectivity is the accuracy beyond it.

    \b
    glassformer probe path/to/bert topic
    glassformer probe runs/topic-1 reviews.csv --text review --label stars --rows 1000
    """
    _check_picture(out)
    _give(gf.probe(model, data, **options), out, form)
