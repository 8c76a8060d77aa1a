"""All rules that rewrite a work; those that solve the problem again come first, so that others can be applied after them."""

from __future__ import annotations

from collections.abc import Iterator

from glassformer.answers.problems import maps, norms, positions, scores, weights
from glassformer.answers.problems.work import Rewrite, Rule, Work

RULES: tuple[Rule, ...] = (
    norms.kinds_of_norm,
    maps.one_for_all,
    scores.scaling,
    scores.products,
    scores.mixing,
    weights.softmax,
    weights.temperature,
    weights.masking,
    maps.transposed,
    maps.biases,
    maps.not_applied,
    maps.output_projection,
    maps.split_otherwise,
    norms.variance,
    norms.eps,
    norms.centring,
    norms.axis,
    norms.gamma_beta,
    norms.residuals,
    norms.norm_alone,
    maps.activation,
    maps.second_map,
    positions.table,
    positions.not_added,
    positions.rotary,
)


def rewrites(work: Work) -> Iterator[Rewrite]:
    """Yield every single mistake that is possible in this work."""
    for rule in RULES:
        yield from rule(work)
