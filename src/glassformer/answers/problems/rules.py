"""All rewrites of a work, in one list: those that solve the problem again come first, so that others can follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from glassformer.answers.problems import distributions, ffn, heads, masks, norms, positions, projections, scores
from glassformer.answers.problems.work import Rewrite, Work

RULES: tuple[Callable[[Work], Iterator[Rewrite]], ...] = (
    norms.kinds_of_norm,
    heads.one_for_all,
    scores.scaling,
    scores.products,
    scores.mixing,
    distributions.softmax,
    distributions.temperature,
    masks.masking,
    projections.transposed,
    projections.biases,
    projections.not_applied,
    heads.output_projection,
    heads.split_otherwise,
    norms.variance,
    norms.eps,
    norms.centring,
    norms.axis,
    norms.gamma_beta,
    norms.residuals,
    norms.norm_alone,
    ffn.activation,
    ffn.second_map,
    positions.table,
    positions.not_added,
    positions.rotary,
)


def rewrites(work: Work, rules: tuple[Callable[[Work], Iterator[Rewrite]], ...] = RULES) -> Iterator[Rewrite]:
    """Every mistake that this work leaves room for, one at a time."""
    for rule in rules:
        yield from rule(work)


def pairs(work: Work) -> Iterator[tuple[Rewrite, Rewrite]]:
    """Two mistakes in one work, of different rules: the second is made in what the first left."""
    for place, rule in enumerate(RULES):
        for first in rule(work):
            for second in rewrites(first.work, RULES[place + 1 :]):
                yield first, second
