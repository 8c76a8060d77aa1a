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
    "--of",
    metavar="QUANTITY",
    help="class=LABEL or token=WORD; add against=… for a difference of two.  [default: the prediction]",
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
    help="Parts to silence: heads, feed-forward blocks, layers; may be repeated.",
)
@click.option("--part", default="test", show_default=True, metavar="NAME", help="train, validation, test, an extra part, or all.")
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Use the first N rows.")
@click.option(
    "--folder",
    type=Named(),
    metavar="FOLDER",
    help="Save finished rows in this folder; the same command then continues after them.",
)
@rows_options(no_label="Not supported: ablate compares with labels.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split.")
@dtype_option
@device_option
@out_option
@format_options
def ablate(model: Path, data: str, kinds: str, out: str | None, form: str | None, no_label: bool, **options: Any) -> None:
    """Silence each head, feed-forward block and layer in turn, and measure the drop on labelled data.

    The output of a head or a feed-forward block is replaced by 0; a layer is skipped. Changes of accuracy and loss have 95%
    bootstrap intervals. Steps before the silenced part are computed only once.

    \b
    glassformer ablate runs/topic-1 topic
    glassformer ablate runs/topic-1 topic --kinds head --rows 1000 --out heads.png
    glassformer ablate path/to/classifier reviews.csv --text review --label stars --part all --folder ablation
    """
    if no_label:
        raise GlassformerError("ablate compares predictions with labels: omit --no-label.")
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
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of integration steps.  [default: as many as make the gap small]",
)
@choice_option("--baseline", "padding", "zero", help="Baseline of integrated gradients: padding tokens or zero vectors.")
@as_option
@dtype_option
@device_option
@out_option
@format_options
def saliency(model: Path, out: str | None, form: str | None, **options: Any) -> None:
    """Score the tokens, words and heads of a text for one logit, with the completeness gap of the method.

    Integrated gradients should sum to the change of the logit from the baseline; the completeness gap is the difference.
    Gradient × input has no such guarantee, and attention rollout does not depend on the logit; their gaps are reported too.

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
@click.option(
    "--guesses",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Number of predictions to show at each layer, with --text.  [default: 5]",
)
@click.option("--part", metavar="NAME", help="Part of DATA: train, validation, test, an extra part, or all.  [default: test]")
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Use the first N rows of DATA.")
@click.option("--column", metavar="NAME", help="Column of DATA with the texts.  [default: text]")
@click.option("--label", metavar="COLUMN", help="Column of DATA with the labels.  [default: label]")
@as_option
@dtype_option
@device_option
@out_option
@format_options
def lens(model: Path, data: str | None, text: str | None, out: str | None, form: str | None, **options: Any) -> None:
    """Logit lens: apply the head to the hidden states of each layer, for a text or for the accuracy on labelled DATA.

    Post-norm models are read after the norm of each layer. In pre-norm models, the final norm is applied to each hidden state
    with the statistics of that state.

    \b
    glassformer lens runs/topic-1 --text "Shares fell sharply"
    glassformer lens runs/topic-1 topic --rows 500
    glassformer lens path/to/bert --text "The [MASK] of the river" --out lens.png
    """
    if (data is None) == (text is None):
        raise GlassformerError("lens needs one text or labelled data: give either --text or DATA.")
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
    help="Activations to patch: the output of a layer, of its attention, or of its feed-forward block.",
)
@as_option
@dtype_option
@device_option
@out_option
@format_options
def patch(model: Path, clean: str, corrupt: str, out: str | None, form: str | None, **options: Any) -> None:
    """Activation patching: copy activations of the CLEAN text into the run of the CORRUPT text, one layer and position at a time.

    Each cell is the share of the difference between the two texts that is restored: 0 as corrupt, 1 as clean. Both texts must
    have the same number of tokens.

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
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the split and of the control labels."
)
@as_option
@dtype_option
@device_option
@out_option
@format_options
def probe(model: Path, data: str, out: str | None, form: str | None, **options: Any) -> None:
    """Fit a linear probe on the mean hidden state of each layer, and compare it with a control task.

    In the control task the label of a text is a random function of its first word. Selectivity is the accuracy minus that of
    the control task.

    \b
    glassformer probe path/to/bert topic
    glassformer probe runs/topic-1 reviews.csv --text review --label stars --rows 1000
    """
    _check_picture(out)
    _give(gf.probe(model, data, **options), out, form)
