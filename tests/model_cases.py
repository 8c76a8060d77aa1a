"""The PyTorch model against the float64 run: the same weights, inputs and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from strategies import specs
from torch import Tensor

from glassformer.model import Encoder, Output
from glassformer.model.core import Core, Layout, Rule
from glassformer.numbers import Run, legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec

BATCH, LENGTH = 3, 5

BERT = EncoderSpec(
    vocab=50, segments=2, positions=16, position="learned", embedding_norm=True, d_model=16, heads=4, d_ff=32, layers=2,
    activation="gelu", eps=1e-12, pooler="dense", head="classify", classes=3,
)  # fmt: skip
MODERN = EncoderSpec(
    vocab=50, position="rotary", rotary_base=1000.0, rotary_base_local=100.0, window=4, global_every=3, norm="pre",
    first_norm=False, embedding_norm=True, d_model=16, heads=2, d_ff=24, layers=4, activation="geglu", biases=(), head="mlm",
)  # fmt: skip
DEBERTA = BERT.replace(
    segments=None, position="disentangled", relative_buckets=8, relative_distance=6, relative_norm=True, eps=1e-7, dropout=0.0,
)  # fmt: skip
VIT = EncoderSpec(
    image=9, image_width=7, patch=3, patch_width=2, channels=2, class_tokens=1, registers=2, position="learned", norm="pre",
    d_model=16, heads=2, d_ff=24, layers=2, activation="gelu", head="classify",
)  # fmt: skip
WHISPER = EncoderSpec(
    mels=5, positions=4, position="sinusoidal_stored", norm="pre", d_model=16, heads=2, d_ff=24, layers=2, activation="gelu",
    biases=("q", "v", "output", "ffn", "norm", "convolution", "embedding", "head"), head="classify", head_reads="mean",
)  # fmt: skip


@st.composite
def rich_specs(draw: st.DrawFn, **kinds: Any) -> EncoderSpec:
    """`specs()`, and the choices that it leaves at their defaults."""
    spec = draw(specs(**kinds))
    fields: dict[str, Any] = {"spare_bias": draw(st.booleans()), "head_reads": draw(st.sampled_from(_reads(spec)))}
    if draw(st.integers(0, 7)) == 0:
        fields |= {"block": "attention", "final_norm": None, "beside_kernel": None}
    if spec.position == "rotary":
        fields["rotary_base_local"] = draw(st.sampled_from([None, 100.0]))
    if spec.position == "learned":
        fields["position"] = draw(st.sampled_from(["learned", "sinusoidal_stored"]))
    if spec.activation == "geglu":
        fields["activation"] = draw(st.sampled_from(["geglu", "geglu_tanh"]))
    if spec.layers == 2 and spec.share_layers in (None, 2):
        fields["layer_cycle"] = draw(st.sampled_from([1, 2]))
    if spec.patch is not None:
        fields |= {"image_width": draw(st.integers(3, 6)), "patch_width": draw(st.sampled_from([None, 3]))}
    return spec.replace(**fields)


def _reads(spec: EncoderSpec) -> list[str]:
    if spec.layer_sum or spec.head_projection is not None:
        return [spec.head_reads]
    return ["pooled", "mean", "first_and_mean"] if spec.head == "classify" else ["pooled"]


@dataclass
class Case:
    """One spec with weights, run both ways."""

    spec: EncoderSpec
    run: Run
    encoder: Encoder
    inputs: dict[str, Tensor]  # as `Encoder.forward` takes them

    @property
    def smallest_spread(self) -> float:
        """The least root of a variance that any norm divides by."""
        found = [self.run[name].min() for name in self.run if name.endswith((".variance", ".mean_square"))]
        return float(np.sqrt(min(found, default=1.0) + self.spec.eps))

    @property
    def output(self) -> Output:
        return self.encoder(**self.inputs, return_weights=range(self.spec.layers), return_hidden=True)


def inputs_of(spec: EncoderSpec, seed: int = 0) -> Tensor:
    """Random inputs: ids, images, sounds or vectors."""
    rng = np.random.default_rng(seed)
    if spec.reads == "tokens":
        return torch.from_numpy(rng.integers(0, spec.vocab, (BATCH, LENGTH)))
    shapes = {"image": spec.picture_shape, "frames": (spec.mels or 0, spec.frames)}
    shape = (BATCH, *shapes.get(spec.reads, (LENGTH, spec.d_model)))
    return torch.from_numpy(rng.integers(-4, 4, shape, endpoint=True) / 4)


def float64_encoder(spec: EncoderSpec, weights: dict[str, Any]) -> Encoder:
    """The model with these weights, in float64, ready to compare."""
    encoder = Encoder(spec, dtype=torch.float64, fresh=False)
    encoder.load_ledger(weights)
    return encoder.eval()


def seeded(spec: EncoderSpec, seed: int = 0) -> Encoder:
    """A float64 model with legible weights."""
    return float64_encoder(spec, legible_weights(build(spec), seed))


def both_ways(spec: EncoderSpec, *, padded: bool = False, seed: int = 0) -> Case:
    """The same weights and inputs through the program and through the model; padded: on the right, and one row wholly."""
    inputs = {"inputs": inputs_of(spec, seed)}
    padded = padded and not spec.one_length
    program = build(spec, batch=BATCH, t=None if spec.one_length else LENGTH, padded=padded)
    given: dict[str, Any] = {program.inputs[0].name: inputs["inputs"].numpy()}
    rng = np.random.default_rng(seed + 1)
    if spec.segments is not None:
        inputs["segments"] = torch.from_numpy(rng.integers(0, spec.segments, (BATCH, LENGTH)))
        given["segments"] = inputs["segments"].numpy()
    if spec.page is not None:
        sides = np.sort(rng.integers(0, spec.page, (BATCH, LENGTH, 2, 2)), axis=2)  # left and upper, then right and lower
        inputs["boxes"] = torch.from_numpy(sides.reshape(BATCH, LENGTH, 4))
        given["boxes"] = inputs["boxes"].numpy()
    if padded:
        lengths = np.array([LENGTH, rng.integers(1, LENGTH), 0])
        given["attend"] = np.arange(LENGTH) < lengths[:, None]
        inputs["attend"] = torch.from_numpy(given["attend"])
    weights = legible_weights(program, seed)
    return Case(spec, run(program, weights, given), float64_encoder(spec, weights), inputs)


def core_of(layout: Layout, x: Tensor, rule: Rule = Rule(), bias: Tensor | None = None) -> Core:  # noqa: B008
    """Core attention over tensors like x, [batch, t, …]."""
    return layout.core(rule, bias, t=x.shape[1], dtype=x.dtype, device=x.device)


def furthest(one: Tensor, other: Any) -> float:
    """The largest difference; infinite where the shapes differ."""
    wanted = torch.as_tensor(other).detach()
    if one.shape != wanted.shape:
        return float("inf")
    return float((one.detach() - wanted).abs().max()) if one.numel() else 0.0
