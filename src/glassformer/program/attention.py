"""Multi-head attention as the paper writes it (Vaswani et al. 2017, section 3.2)."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add, Contract, Mask, PatchBias, RelativeBias, Rotate, Share, Softmax
from glassformer.program.parts import CONTRACT, linear
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec

SOFTMAX = Softmax("s")


def attention(
    write: Writer,
    spec: EncoderSpec,
    queries: Tensor,
    memory: Tensor,
    *,
    real: Tensor | None = None,
    bias: Tensor | None = None,
    mask: Mask | None = None,
    rotary_base: float | None = None,
) -> Tensor:
    """Each position `t` of `queries` reads the positions `s` of `memory`, which may be another sequence.

    `real` says which keys are no padding (True = attend), `mask` who may see whom, `bias` is added to the scores.
    """
    head, d_k, d_v = Axis("head", spec.heads), Axis("d_k", spec.head_k), Axis("d_v", spec.head_v)
    # Grouped queries (Ainslie et al. 2023): keys and values have fewer heads, each of which several heads of queries read.
    shared = spec.group > 1
    kv_head = Axis("kv_head", spec.key_heads) if shared else head
    q = linear(write, "q", queries, "Q", (head, d_k), bias=spec.bias("q"))
    k = linear(write, "k", memory, "K", (kv_head, d_k), bias=spec.bias("k"))
    v = linear(write, "v", memory, "V", (kv_head, d_v), bias=spec.bias("v"))
    if rotary_base is not None:
        q = write.step("q_rotated", Rotate("t", rotary_base), q)
        k = write.step("k_rotated", Rotate("s", rotary_base), k)
    if shared:
        k = write.step("k_shared", Share("kv_head", head), k)
        v = write.step("v_shared", Share("kv_head", head), v)

    batch, t, s = memory.axes[0], queries.axis("t"), memory.axis("s")
    square = (batch, head, t, s)
    divisor = {"d_k": d_k, "d_model": Axis("d_model", spec.d_model), "none": None}[spec.scale]
    scores = write.step("scores", Contract(divisor) if divisor else CONTRACT, q, k, axes=square, core=True)
    if bias is not None:
        scores = write.step("biased", Add(), scores, bias, core=True)
    if mask is not None or real is not None:
        scores = write.step("masked", mask or Mask(), scores, *([real] if real is not None else []), core=True)
    weights = write.step("weights", SOFTMAX, scores, core=True)
    mix = write.step("mix", CONTRACT, weights, v, axes=(batch, t, head, d_v))
    return linear(write, "out", mix, "O", (Axis("d_model", spec.d_model),), bias=spec.bias("output"), over=(head, d_v))


def relative_bias(write: Writer, spec: EncoderSpec, t: Axis, s: Axis) -> Tensor:
    """The table of learned biases by distance, and the bias of each head, query and key."""
    table = write.parameter("E_relative", Axis("bucket", spec.relative_rows), Axis("head", spec.heads), kind="table")
    if spec.position.endswith("2d"):
        return write.step("relative", PatchBias(spec.patch_grid, t, s), table)
    return write.step("relative", RelativeBias(spec.relative_distance, t, s), table)
