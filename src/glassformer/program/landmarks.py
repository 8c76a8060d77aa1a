"""Attention through landmarks, with a parallel convolution over values (Xiong et al. 2021)."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add, Contract, Inverse, Mask, Mean, Neighbours, Softmax, Split
from glassformer.program.parts import CONTRACT
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec


def by_landmarks(write: Writer, spec: EncoderSpec, qkv: tuple[Tensor, Tensor, Tensor], real: Tensor | None) -> Tensor:
    """The output for each query, which attends to the keys through means of queries and keys."""
    q, k, v = qkv
    batch, t, head, d_k = q.axes
    if spec.landmarks is None or t.size % spec.landmarks:
        raise GlassformerError(
            f"t={t.size} is not a multiple of landmarks={spec.landmarks}: each landmark stands for the same number of positions."
        )
    asked, seen = Axis("landmark", spec.landmarks), Axis("key_landmark", spec.landmarks)
    product, positions = Contract(Axis("d_k", spec.head_k)), k.axes[1]
    q_mean = _means(write, "q", q, asked)
    k_mean = _means(write, "k", k, seen)
    near = write.step("landmark_scores", "scores", product, q, k_mean, axes=(batch, head, t, seen))
    first = write.step("landmark_weights", "weights", Softmax(seen.name), near)
    between = write.step("between_scores", "scores", product, q_mean, k_mean, axes=(batch, head, asked, seen))
    middle = write.step("between_weights", "weights", Softmax(seen.name), between)
    scores = write.step("scores", "scores", product, q_mean, k, axes=(batch, head, asked, positions))
    if real is not None:
        scores = write.step("masked", "masked scores", Mask(), scores, real)
    last = write.step("weights", "weights", Softmax("s"), scores)
    inverse = write.step("inverse", "landmark inverse", Inverse(), middle)
    whole = write.step("by_landmark", "weights", CONTRACT, first, inverse, axes=(batch, head, t, asked))
    read = write.step(
        "landmark_mix", "mix", CONTRACT, last, v, axes=(batch, asked, head, d_k._replace(name="d_v", size=spec.head_v))
    )
    return write.step("mix", "mix", CONTRACT, whole, read, axes=(batch, t, head, read.axes[-1]))


def _means(write: Writer, symbol: str, x: Tensor, landmark: Axis) -> Tensor:
    """The mean of each segment."""
    along = x.axes[1]
    cut = write.step(
        f"{symbol}_segments",
        "landmark",
        Split(along.name, (landmark, Axis("segment", along.size // landmark.size))),
        x,
    )
    return write.step(f"{symbol}_landmarks", "landmark", Mean("segment"), cut)


def with_neighbours(write: Writer, spec: EncoderSpec, mix: Tensor, v: Tensor) -> Tensor:
    """The values of neighbours are added, by weights of each head that depend on the distance alone; padding is seen."""
    batch, t, head, d_v = mix.axes
    kernel = Axis("kernel", spec.value_kernel or 1)
    near = write.step("neighbours", "neighbours", Neighbours("s", t, kernel, 1, kernel.size // 2), v)
    weight = write.parameter("c_values", "value convolution", head, kernel)
    convolved = write.step("convolved", "value convolution", CONTRACT, near, weight, axes=(batch, t, head, d_v))
    return write.step("mix_sum", "mix", Add(), mix, convolved)
