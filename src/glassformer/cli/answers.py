"""The commands `ask` and `check`: evaluate an expression, check a claim or a worked solution."""

from __future__ import annotations

import sys
from collections.abc import Set
from typing import Any

import click

import glassformer as gf
from glassformer.cli.options import as_option, format_options, give
from glassformer.configs.presets import known_preset
from glassformer.configs.reading import Request, is_there, only_fields, request, split_words
from glassformer.errors import GlassformerError, shown

SOLUTIONS = (".md", ".txt", ".tex", ".ipynb")
PROBLEMS = (".toml", ".json")


def list_quantities(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print every quantity with its options and an example, and stop."""
    if not wanted:
        return
    for one in gf.quantities():
        options = f"   options: {', '.join(one['options'])}" if one["options"] else ""
        click.echo(f"{one['quantity']}: {one['doc']}\n    {one['example']}{options}")
    ctx.exit()


class AboutExpressions(click.Command):
    """A command whose first argument may begin with a minus sign: `check "-ln(0.7) = 0.357"`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {name for param in self.get_params(ctx) for name in param.opts}
        return super().parse_args(ctx, [f" {word}" if _is_negative(word, known) else word for word in args])


def _is_negative(word: str, known: Set[str]) -> bool:
    return len(word) > 2 and word[0] == "-" != word[1] and word not in known


@click.command(cls=AboutExpressions)
@click.argument("expression")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@click.option("--digits", type=click.IntRange(0, 40), help="Digits after the decimal point.")
@click.option(
    "--quantities", is_flag=True, is_eager=True, expose_value=False, callback=list_quantities, help="List the quantities."
)
@as_option
@format_options
def ask(expression: str, words: tuple[str, ...], digits: int | None, as_class: str | None, form: str | None) -> None:
    """Evaluate an expression about a model, with its convention and derivation.

    Quantities: params, shape, elements, flops, macs, bytes, complexity, growth, solve, …; fields of the spec can be used as
    names (d_model, heads, d_k, t). Options go in parentheses: layer=0, head=0, without=biases+norms, dtype=fp16, t=512, or any
    field. '@ MODEL' refers to another model. 'in MiB' converts units. Several values for a size give a table.

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
    from glassformer.api.answers import understood
    from glassformer.expressions.language import write

    expression, words = expression_first(expression, words)
    requested, over = spec_of(words, as_class)
    node, in_english = understood(expression, requested)
    if in_english and form is None:
        click.echo(f"read as: {write(node)}")
    sizes: dict[str, Any] = {**over}
    give(gf.ask(node, requested, digits=digits, **sizes), form)


@click.command(cls=AboutExpressions)
@click.argument("relation")
@click.argument("words", nargs=-1, metavar="[SPEC [field=value …]]")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="The claimed value: 27648, 110M, '64 x 32'; for a problem file, 'weights = [0.62, 0.38]'. May be repeated for a "
    "problem file.",
)
@click.option("--claims", "claims_file", metavar="FILE", help="Claims about a problem: JSON or TOML that maps names to numbers.")
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
    """Check a claim: right, right under a convention, or wrong, with the mistake that explains it. Exits with 1 if it is wrong.

    The first argument is a relation between two expressions (see 'glassformer ask --help'), an expression with --claim, or a
    file: a worked solution (.md .txt .tex .ipynb), or a problem (.toml .json) with claims from --claim, --claims or its own
    [claims].

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
        found = gf.check_worked(relation, list(claims) or None, claims_file=claims_file)
        _give(found, form, right=found.right)
        return
    if relation.lower().endswith(SOLUTIONS) and is_there(relation) and (words or claims):
        raise GlassformerError(f"{shown(relation)} is a worked solution with its own claims: omit --claim and the spec.")
    if not words and not claims and relation.lower().endswith(SOLUTIONS):
        solution = gf.check_solution(relation)
        _give(solution, form, right=not solution.wrong)
        return
    if len(claims) > 1 or claims_file:
        raise GlassformerError("an expression about a spec has one value: give --claim once.")
    relation, words = expression_first(relation, words)
    requested, over = spec_of(words, as_class)
    if over:
        raise GlassformerError(f"{next(iter(over))} has several values: a claim is checked for one value only.")
    judged = gf.check(relation, requested, claim=claims[0] if claims else None)
    _give(judged, form, right=judged.right)


def _give(found: Any, form: str | None, *, right: bool) -> None:
    give(found, form)
    if not right:
        sys.exit(1)


def expression_first(expression: str, words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return expression and spec in order; `ask bert-base params` works too, since a preset is never an expression."""
    if known_preset(expression) and words and not known_preset(words[0]) and "=" not in words[0]:
        return words[0], (expression, *words[1:])
    return expression, words


def spec_of(words: tuple[str, ...], as_class: str | None) -> tuple[Request | None, dict[str, list[str]]]:
    """Parse the spec, and return it with the sizes that have several values; no spec if there are no words."""
    from glassformer.answers.quantities.asking import several

    if not words and as_class is None:
        return None, {}
    ((name, written),) = split_words(words, count=1)
    fields, over = several(written)
    only_fields(written)
    given: dict[str, Any] = {**fields}
    return request(name, as_class=as_class, decoders=True, **given), over
