"""Commands of the answers: ask for the value of an expression, check a claim or a worked solution."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from glassformer.cli.options import as_option, format_options, give
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import known_preset
from glassformer.spec.reading import Request, is_there, only_fields, request, split_words

SOLUTIONS = (".md", ".txt", ".tex", ".ipynb")
PROBLEMS = (".toml", ".json")


def list_quantities(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print every quantity with its options and an example, and stop."""
    if not wanted:
        return
    from glassformer.answers.quantities import MEANINGS

    for meaning in MEANINGS.values():
        options = f"   options: {', '.join(meaning.options)}" if meaning.options else ""
        click.echo(f"{meaning.name}: {meaning.doc}\n    {meaning.example}{options}")
    ctx.exit()


@click.command()
@click.argument("expression")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@click.option("--digits", type=click.IntRange(0, 40), help="Digits after the decimal point.")
@click.option(
    "--quantities", is_flag=True, is_eager=True, expose_value=False, callback=list_quantities, help="List the quantities."
)
@as_option
@format_options
def ask(expression: str, words: tuple[str, ...], digits: int | None, as_class: str | None, form: str | None) -> None:
    """The value of an expression over quantities of a model, with its convention and derivation.

    Quantities: params, shape, elements, flops, macs, bytes, complexity, growth, solve, …; fields of the spec are names, too
    (d_model, heads, d_k, t). Options stand in the brackets: layer=0, head=0, without=biases+norms, dtype=fp16, t=512, or any
    field. Behind @ stands another model. 'in MiB' converts. A size with several values gives a table.

    \b
    glassformer ask params bert-base
    glassformer ask "params(ffn, layer=0)" bert-base d_ff=4096
    glassformer ask "params(ffn) / params in %" bert-base
    glassformer ask "params @ bert-large - params @ bert-base"
    glassformer ask "shape(weights)" bert-base t=5
    glassformer ask "bytes(training) in GiB" bert-base
    glassformer ask "flops(attention, layer=0)" bert-base t=128,256,512
    glassformer ask "solve(t, flops(attention) = flops(ffn))" bert-base
    glassformer ask "softmax([2, 1, 0.1])" --digits 3
    glassformer ask "16 * 2 * 2048 * 768 * 12"
    """
    from glassformer.answers.quantities import ask as answer
    from glassformer.api import understood
    from glassformer.expressions.language import write

    expression, words = expression_first(expression, words)
    asked, over = spec_of(words, as_class)
    node, in_english = understood(expression, asked)
    if in_english and form is None:
        click.echo(f"read as: {write(node)}")
    give(answer(node, asked, over=over, digits=digits, files=True), form)


@click.command()
@click.argument("relation")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="The other side of the relation: 27648, 110M, '64 x 32'; for a problem, 'weights = [0.62, 0.38]'.",
)
@click.option("--claims", "claims_file", metavar="FILE", help="Claims about a problem: JSON or TOML, from names to numbers.")
@as_option
@format_options
def check(
    relation: str,
    words: tuple[str, ...],
    claims: tuple[str, ...],
    claims_file: str | None,
    as_class: str | None,
    form: str | None,
) -> None:
    """Right, right under a convention, or the mistake behind it. Exits with 1 where something is wrong.

    The first word is a relation between two expressions (see 'glassformer ask --help'), an expression with --claim, or a file: a
    worked solution (.md .txt .tex .ipynb), or a problem (.toml .json) whose numbers are claimed with --claim, with --claims, or
    in its own [claims].

    \b
    glassformer check "params = 110M" bert-base
    glassformer check params layer d_model=64 heads=4 d_k=16 d_ff=120 --claim 27648
    glassformer check "params(ffn, layer=0) = 2*d_model*d_ff + d_ff + d_model" bert-base
    glassformer check "shape(weights) = 768 x 768" bert-base t=5
    glassformer check "flops(attention) < flops(ffn)" bert-base
    glassformer check "softmax([2, 1]) = [0.73, 0.27]"
    glassformer check solution.md
    glassformer check examples/flying.toml --claim "weights = [0.6225, 0.3775]" --claim "output = [0.245, 0.245]"
    """
    if not words and relation.lower().endswith(PROBLEMS):
        _check_problem(Path(relation), claims, claims_file, form)
        return
    if relation.lower().endswith(SOLUTIONS) and is_there(relation) and (words or claims):
        raise GlassformerError(f"{shown(relation)} is a solution, which brings its own claims: leave --claim and the spec out.")
    if not words and not claims and relation.lower().endswith(SOLUTIONS):
        _check_file(Path(relation), form)
        return
    if len(claims) > 1 or claims_file:
        raise GlassformerError("an expression about a spec has one value: give --claim once.")
    from glassformer.answers.verdicts import check as judged

    relation, words = expression_first(relation, words)
    asked, over = spec_of(words, as_class)
    if over:
        raise GlassformerError(f"{next(iter(over))} has several values: a claim is judged for one.")
    found = judged(relation, asked, claim=claims[0] if claims else None, files=True)
    give(found, form)
    if not found.right:
        sys.exit(1)


def expression_first(expression: str, words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """`ask bert-base params` is understood, too: a preset is no expression, and an expression is no preset."""
    if known_preset(expression) and words and not known_preset(words[0]) and "=" not in words[0]:
        return words[0], (expression, *words[1:])
    return expression, words


def spec_of(words: tuple[str, ...], as_class: str | None) -> tuple[Request | None, dict[str, list[str]]]:
    """The spec that the words are, and the sizes that have several values; none where the expression stands alone."""
    from glassformer.answers.quantities.asking import several

    if not words and as_class is None:
        return None, {}
    ((name, written),) = split_words(words, count=1)
    fields, over = several(written)
    only_fields(written)
    return request(name, as_class=as_class, **fields), over


def _check_problem(path: Path, claims: tuple[str, ...], claims_file: str | None, form: str | None) -> None:
    from glassformer.answers.problems import check_worked
    from glassformer.answers.problems.claims import claim_in_words, claims_in_file

    said = claims_in_file(Path(claims_file)) if claims_file else {}
    for words in claims:
        name, numbers = claim_in_words(words)
        if name in said:
            raise GlassformerError(f"'{name or 'the result'}' is claimed twice.")
        said[name] = numbers
    found = check_worked(path, said or None)
    give(found, form)
    if not found.right:
        sys.exit(1)


def _check_file(path: Path, form: str | None) -> None:
    from glassformer.answers.documents import check_solution

    found = check_solution(path)
    give(found, form)
    if found.wrong:
        sys.exit(1)
