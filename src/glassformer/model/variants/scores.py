"""What few models do to the scores of a layer or to what it reads: a cap, gates, terms of distances, values of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from torch import Tensor

from glassformer.model.core import Core
from glassformer.model.variants.disentangled import ByDistances
from glassformer.model.variants.global_tokens import GlobalProjections
from glassformer.model.variants.relative_gate import RelativeGate
from glassformer.model.variants.shifts import ByShifts
from glassformer.model.variants.value_convolution import ValueConvolution
from glassformer.spec import EncoderSpec


class Additions(NamedTuple):
    """What few models add to the attention of a sequence to itself."""

    by_distances: ByDistances | None = None
    gate: RelativeGate | None = None
    of_global: GlobalProjections | None = None
    of_values: ValueConvolution | None = None
    by_shifts: ByShifts | None = None


NOTHING = Additions()


def additions_of(spec: EncoderSpec) -> Additions:
    """Those of a layer's own attention; cross-attention and poolers have none."""
    return Additions(
        by_distances=ByDistances(spec) if spec.disentangled else None,
        gate=RelativeGate(spec) if spec.gates_bias else None,
        of_global=GlobalProjections(spec) if spec.global_attention != "none" else None,
        of_values=ValueConvolution(spec) if spec.value_kernel is not None else None,
        by_shifts=ByShifts(spec) if spec.funnel else None,
    )


# Of the attention, its input, its queries and keys, and the context of its layer.
Scores: TypeAlias = Callable[[Any, Tensor, Tensor, Tensor, Any], Core]


def capped(attention: Any, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Any) -> Core:  # noqa: ARG001
    """Scores that no number makes larger than the cap (Gemma 2)."""
    core: Core = context.core.capped(attention.cap)
    return core


def gated(attention: Any, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Any) -> Core:  # noqa: ARG001
    """Each token scales its row of the relative bias (WavLM)."""
    core: Core = context.core.with_bias(attention.gate(x_BTD, context.gated_HTS))
    return core


def disentangled(attention: Any, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Any) -> Core:  # noqa: ARG001
    """Queries attend to vectors of distances, and those attend to keys (DeBERTa)."""
    bias_BHTS = attention.by_distances(q_BTHK, k_BSHK, context.distances, attention.content_maps(), attention.scale)
    core: Core = context.core.with_bias(bias_BHTS)
    return core


def shifted(attention: Any, x_BTD: Tensor, q_BTHK: Tensor, k_BSHK: Tensor, context: Any) -> Core:  # noqa: ARG001
    """Terms by content, distance and segment (Funnel)."""
    core: Core = context.core.with_bias(attention.by_shifts(q_BTHK, k_BSHK, context.distances) * attention.scale)
    return core


def scores_of(spec: EncoderSpec, added: Additions) -> Scores | None:
    """What changes the scores of an attention; None: nothing."""
    if added.gate is not None:
        return gated
    if added.by_distances is not None:
        return disentangled
    if added.by_shifts is not None:
        return shifted
    return capped if spec.score_cap is not None else None
