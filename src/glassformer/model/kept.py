"""Which activations the encoder stores, described for the cost of a pass without importing torch."""

from __future__ import annotations

from dataclasses import replace

from glassformer.program.kept import MATERIALISED, Kernel, MemoryModel
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

IN_PLACE = ("relu", "gelu", "gelu_tanh", "silu", "tanh")  # activations with a kernel that needs no second tensor


def _in_place(spec: EncoderSpec) -> tuple[Role, ...]:
    """A gated block still reads what its activation is computed from."""
    return ("ffn activation",) if spec.activation in IN_PLACE else ()


FUSED = MemoryModel(
    kernel="fused",
    text="a fused attention kernel: scores are not kept in memory, masked pairs are not computed",
    text_by_distance="; but those with a learned bias are stored, as on a CPU (on a GPU less is kept)",
    fused_attention=True,
    unfused_score_bytes=4,  # no CPU kernel in PyTorch computes the gradient of a learned bias; scores are then at least float32
    holds_rows_by_distance=True,
    one_tensor=("query", "key", "value"),  # one product for all three
    in_place=_in_place,
    holds_layer_input=True,  # by the loop over the layers
    predicts_after="mix",
)

# The training step of a CPU.
FUSED_ON_CPU = replace(FUSED, unfused_with_dropout=True, mask_bytes=4)

# Layers are compiled on GPUs, which have a fused kernel for a learned bias.
COMPILED = replace(
    FUSED,
    kernel="compiled",
    text="compiled layers with fused attention: neither scores nor activations of feed-forward blocks are kept",
    text_by_distance=", but the learned relative bias is",
    unfused_score_bytes=0,
    recomputed=("ffn activation", "gated ffn activation"),
)

KERNELS: dict[Kernel, MemoryModel] = {memory_model.kernel: memory_model for memory_model in (MATERIALISED, FUSED, COMPILED)}
