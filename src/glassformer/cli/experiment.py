"""The command of the experiments: a textbook's sentence, tried on real arithmetic."""

from __future__ import annotations

import sys

import click

from glassformer.cli.options import Named, format_options, give, to_json
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import only_fields


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME [field=value …]]")
@click.option("--text", help="Another sentence, for the experiments that read one.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Which random numbers.")
@click.option("--out", type=Named(), metavar="FILE", help="The picture, as FILE.png or FILE.svg.")
@format_options
def experiment(words: tuple[str, ...], text: str | None, seed: int, out: str | None, form: str | None) -> None:
    """A textbook's sentence, tried on real arithmetic: order, heads, scaling, padding, norm, convention.

    Without a name, lists them. Fields change the encoder it is tried on. Exit 1: the sentence does not hold there.

    \b
    glassformer experiment
    glassformer experiment order
    glassformer experiment order attend=causal
    glassformer experiment scaling --out scaling.png
    """
    from glassformer.numbers import experiments
    from glassformer.show.experiments import list_of_experiments
    from glassformer.show.figures import check_format, save_picture
    from glassformer.show.terminal import show_on_terminal

    if not words:
        if form == "json":
            sys.stdout.write(to_json(experiments.CLAIMS) + "\n")
        elif form is not None:
            sys.stdout.write(getattr(list_of_experiments(), form)() + "\n")
        else:
            show_on_terminal(list_of_experiments())
        return
    if out is not None:
        check_format(out)
    name, *rest = words
    result = experiments.experiment(name, seed=seed, text=text, **only_fields(_fields(rest)))
    notes = []
    if out is not None:
        from glassformer.show.experiment_pictures import experiment_figure

        notes = [f"picture: {save_picture(experiment_figure(result), out)}"]
    give(result, form, notes=notes if form is None else None)
    if not result.holds:
        sys.exit(1)


def _fields(words: list[str]) -> dict[str, str]:
    fields = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise GlassformerError(f"'{shown(word)}' is no field: fields are written field=value, as in d_model=32.")
        fields[name.strip().replace("-", "_")] = value
    return fields
