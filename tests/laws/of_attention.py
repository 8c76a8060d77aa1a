"""Laws of attention: the weights of a row, and the range of a weighted sum of values."""

from __future__ import annotations

import numpy as np
from laws.cases import LONGEST, Case
from laws.law import law, sequences
from laws.of_sequences import padded
from laws.ways import Array, Way, Weights

from glassformer.spec import EncoderSpec


def visible(spec: EncoderSpec, layer: int, attend: Array) -> Array:
    """Who may see whom, [batch, t, s], by the words of the spec."""
    t, s = np.arange(LONGEST)[:, None], np.arange(LONGEST)
    seen = np.broadcast_to(attend[:, None, :], (len(attend), LONGEST, LONGEST))
    if spec.attend == "causal":
        seen = seen & (s <= t)
    window = spec.layer_window(layer)
    return seen if window is None else seen & (np.abs(t - s) <= window / 2)


def shares_apart(way: Way, case: Case, weights: Weights) -> float:
    """How far the attention weights are from shares: not negative, one in sum, nothing for what is hidden."""
    given = padded(case)
    gaps = [0.0]
    for layer, found in enumerate(way.inside(case.spec, weights, given)):
        seen = visible(case.spec, layer, given.attend)[:, None]
        sums = found.weights.sum(-1) - seen.any(-1)
        gaps += [np.abs(sums).max(), -found.weights.min(), np.abs(np.where(seen, 0, found.weights)).max()]
    return float(np.max(gaps))  # NaN if one of them is NaN


@law(fit=sequences, single=1e-6)
def attention_weights_sum_to_one_over_visible_keys(way: Way, case: Case) -> float:
    """A query whose keys are all masked has zero weights."""
    return shares_apart(way, case, case.weights)


@law(fit=sequences, single=1e-6)
def attention_weights_sum_to_one_for_very_large_scores(way: Way, case: Case) -> float:
    """Whatever is trained may grow: scores whose powers of e no number format holds."""
    return shares_apart(way, case, case.changed(W_Q=lambda w: 1e5 * w))


@law(fit=sequences, single=1e-6)
def an_attention_output_lies_within_the_range_of_visible_values(way: Way, case: Case) -> float:
    """In every feature between the least and the largest of them; zero where nothing is seen."""
    given = padded(case)
    gaps = [0.0]
    for layer, found in enumerate(way.inside(case.spec, case.weights, given)):
        seen = visible(case.spec, layer, given.attend)[:, :, :, None, None]
        values = found.values[:, None]
        least, most = np.where(seen, values, np.inf).min(2), np.where(seen, values, -np.inf).max(2)
        blind = ~seen.any(2)
        gaps += [(np.where(blind, 0, least) - found.mix).max(), (found.mix - np.where(blind, 0, most)).max()]
    return float(np.max(gaps))  # NaN if one of them is NaN
