"""The memory model of an implementation: which results of a program it stores, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

Kernel = Literal["materialised", "fused", "compiled"]


def _nothing(_: EncoderSpec) -> tuple[Role, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class MemoryModel:
    """How an implementation stores the results of steps. Default: all in memory, kept if the backward pass needs them."""

    kernel: Kernel
    text: str  # part of the sentence that states the assumptions of a cost
    text_by_distance: str = ""  # appended for training with a learned relative bias

    # One kernel computes scores, weights and mix. It writes no scores, only a log-sum for each row.
    fused_attention: bool = False
    # Attention with a learned relative bias is not fused in training: each score then takes at least this many bytes.
    unfused_score_bytes: int = 0
    # Attention with dropout is not fused either: PyTorch's fused kernel for CPUs has none.
    unfused_with_dropout: bool = False
    # Bytes of an element of a dropout mask.
    mask_bytes: int = 1
    # The row number in the relative table is stored as an integer for each (query, key) pair.
    holds_rows_by_distance: bool = False
    # Results of a layer that are views of one tensor: all of them stay in memory while one of them is needed.
    one_tensor: tuple[Role, ...] = ()
    # Results that are recomputed in the backward pass.
    recomputed: tuple[Role, ...] = ()
    # Results that overwrite their inputs if nothing is trained.
    in_place: Callable[[EncoderSpec], tuple[Role, ...]] = _nothing
    # The input of a layer stays in memory until the layer is finished.
    holds_layer_input: bool = False
    # In training, only the input of each layer is stored; the rest is recomputed in the backward pass.
    recomputes_layers: bool = False
    # A masked-token head predicts at some positions only. After the last step with this role, the others are not computed.
    predicts_after: Role | None = None

    def with_checkpoints(self) -> MemoryModel:
        """The same with gradient checkpointing of the layers (Chen et al. 2016)."""
        return replace(
            self,
            recomputes_layers=True,
            text=f"{self.text}; in training, only layer inputs are stored, and layers are recomputed",
        )


MATERIALISED = MemoryModel(kernel="materialised", text="every score computed and kept in memory")
