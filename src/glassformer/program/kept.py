"""What an implementation keeps in memory while it runs a program: the record in which it says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

Kernel = Literal["materialised", "fused", "compiled"]


def _nothing(_: EncoderSpec) -> tuple[Role, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Keeps:
    """How an implementation treats the results of steps. By default each is written to memory, and kept if backward needs it."""

    kernel: Kernel
    text: str  # for the sentence that states the assumptions of a cost
    text_by_distance: str = ""  # added to it for training with a learned bias by distance

    # One kernel computes scores, weights and mix. It writes no scores, and keeps a log-sum for each row of them.
    fused_attention: bool = False
    # Attention with a learned bias by distance is not fused in training: its scores take at least so many bytes each.
    unfused_score_bytes: int = 0
    # Nor is attention with dropout: PyTorch's fused kernel for CPUs has none.
    unfused_with_dropout: bool = False
    # Bytes of an element of a dropout mask.
    mask_bytes: int = 1
    # The row of the relative table for each (query, key) pair is held as an integer.
    holds_rows_by_distance: bool = False
    # Results in a layer that are parts of one tensor: while one of them is needed, all of them are in memory.
    one_tensor: tuple[Role, ...] = ()
    # Results that the backward pass computes again.
    recomputed: tuple[Role, ...] = ()
    # Results that overwrite what they are computed from, if nothing is trained.
    in_place: Callable[[EncoderSpec], tuple[Role, ...]] = _nothing
    # What enters a layer is held until the layer ends.
    holds_layer_input: bool = False
    # A masked-token head predicts at some positions. After the last step with this role, only those are computed.
    predicts_after: Role | None = None


MATERIALISED = Keeps(kernel="materialised", text="every score computed and kept in memory")
