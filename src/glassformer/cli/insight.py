"""The command `attribute`: writes a number as a sum of contributions."""

from __future__ import annotations

from typing import Any

import click

import glassformer as gf
from glassformer.cli.options import Named, as_option, choice_option, format_options, give, one_spec
from glassformer.configs.reading import only_fields, split_words


@click.command()
@click.argument("words", nargs=-1, metavar="CHECKPOINT|SPEC [field=value …]")
@click.option("--text", multiple=True, help="Input text; give it twice for the similarity of two texts.")
@click.option(
    "--of",
    metavar="QUANTITY",
    help="class=LABEL, token=WORD, similarity, or NAME axis=index …  [default: the predicted class or next token]",
)
@choice_option(
    "--depth", "direct", "input", help="Stop at the output of each head and feed-forward block, or continue down to the input."
)
@choice_option(
    "--norms",
    "held",
    "opened",
    help="Treat the standard deviation of a norm as constant, or attribute half of the value to it, shared by covariance.",
)
@choice_option(
    "--patterns",
    "held",
    "opened",
    help="Treat attention weights as constant, or attribute half of the value to them, shared over the scores (with "
    "--depth input).",
)
@choice_option(
    "--activations",
    "secant",
    "slope",
    help="Linearise activations by f(x)/x, which leaves no remainder, or by the derivative, whose remainder is shown.",
)
@click.option("--target", metavar="TEXT", help="Target text, the decoder input of an encoder-decoder.")
@click.option("--pool", metavar="POOL", help="For similarity: mean, first, last, max or pooled.  [default: the model's own]")
@click.option("--seed", type=click.IntRange(min=0), help="Random seed of the weights, for a spec without weights.  [default: 0]")
@click.option("--out", type=Named(), metavar="FILE", help="Save a waterfall and a layer × position map, FILE.png or FILE.svg.")
@as_option
@format_options
def attribute(words: tuple[str, ...], text: tuple[str, ...], out: str | None, form: str | None, **options: Any) -> None:
    """Write one number as a sum of contributions: embeddings, layers, heads, source positions, FFNs, biases and norms.

    Prints the total, the remainder and the rounding error. Post-norm encoders are handled exactly, without folding.

    \b
    glassformer attribute runs/topic-1 --text "Shares fell sharply" --of class=Business
    glassformer attribute runs/topic-1 --text "Shares fell sharply" --of "class=Business against=Sports" --out why.png
    glassformer attribute path/to/bert --text "The [MASK] bank" --of token=river
    glassformer attribute path/to/gpt2 --text "Time flies like" --of "token=Ġan against=Ġthe"
    glassformer attribute path/to/opus-mt-en-fr --text "A small cat." --target "Un petit" --of token=▁chat
    glassformer attribute path/to/minilm --text "a river bank" --text "a river shore" --of similarity
    glassformer attribute layer d_model=4 heads=2 t=3 --of "layers.0.attention.scores head=1 t=0 s=2"
    """
    from glassformer.show.figures import check_format, drawing

    if out is not None:
        check_format(out)
        with drawing():
            pass
    ((what, fields),) = split_words(one_spec(words), count=1)
    found = gf.attribute(what, list(text), **options, **only_fields(fields))
    notes = [f"picture: {gf.save_picture(found, out)}"] if out is not None else []
    give(found, form, notes=notes if form is None else None)
