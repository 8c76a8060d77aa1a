"""The experiment command: tests a textbook claim numerically."""

from __future__ import annotations

import sys

import click

import glassformer as gf
from glassformer.cli.options import Named, format_options, give, to_json
from glassformer.configs.reading import only_fields
from glassformer.errors import GlassformerError, shown


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME [field=value …]]")
@click.option("--text", help="Input sentence, for experiments that use one.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed.")
@click.option("--out", type=Named(), metavar="FILE", help="Save the picture as FILE.png or FILE.svg.")
@format_options
def experiment(words: tuple[str, ...], text: str | None, seed: int, out: str | None, form: str | None) -> None:
    """Test a textbook claim numerically: order, heads, scaling, padding, norm, convention, causal, teacher-forcing,
    explanation, folding.

    Without a name, lists the experiments. Fields change the encoder. Exits with 1 if the claim does not hold.

    \b
    glassformer experiment
    glassformer experiment order
    glassformer experiment order attend=causal
    glassformer experiment scaling --out scaling.png
    glassformer experiment teacher-forcing decoder.layers=3 kv_heads=1
    """
    from glassformer.show.experiments import list_of_experiments
    from glassformer.show.figures import check_format
    from glassformer.show.terminal import show_on_terminal

    if not words:
        if form == "json":
            sys.stdout.write(to_json(gf.experiments()) + "\n")
        elif form is not None:
            sys.stdout.write(getattr(list_of_experiments(), form)() + "\n")
        else:
            show_on_terminal(list_of_experiments())
        return
    if out is not None:
        check_format(out)
    name, *rest = words
    result = gf.experiment(name, seed=seed, text=text, **only_fields(_fields(rest)))
    notes = [f"picture: {gf.save_picture(result, out)}"] if out is not None else []
    give(result, form, notes=notes if form is None else None)
    if not result.holds:
        sys.exit(1)


def _fields(words: list[str]) -> dict[str, str]:
    fields = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise GlassformerError(f"'{shown(word)}' is not a field: fields are written field=value, as in d_model=32.")
        fields[name.strip().replace("-", "_")] = value
    return fields
