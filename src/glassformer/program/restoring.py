"""The decoder that restores patches which were left out (He et al. 2022): narrower layers over all places of the image."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add, PutBack, Rows, Sinusoid, Slice
from glassformer.program.parts import linear, norm
from glassformer.program.program import Writer
from glassformer.program.stack import layer
from glassformer.spec import EncoderSpec


def restored(head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """Vectors of all patches, a learned one where they were left out; layers; and the pixels of each patch."""
    inner = spec.restorer
    narrow, width, place = (
        Axis("d_restored", inner.d_model),
        Axis("d_model", inner.d_model),
        Axis("t", spec.patches + spec.class_tokens),
    )
    x = linear(head, "narrowed", "projected token", x, "E", (narrow,), bias=spec.bias("embedding"))
    mask = head.parameter("mask_token", "mask token", width, kind="token")
    x = head.step("all", "sequence", PutBack(place, spec.mask_ratio), x.seen(d_restored="d_model"), mask)
    if spec.stores_waves:
        table = head.parameter("E_position", "position", Axis("position", place.size), width, kind="table", frozen=True)
        placed = head.step("position", "position", Rows(place), table)
    else:
        placed = head.step("position", "position", Sinusoid(place, width))
    x = head.step("sum", "embedding sum", Add(), x, placed)
    for number in range(inner.layers):
        x = layer(head.at(f"layer_{number}", "head"), inner, x)
    x = norm(head, spec, "norm", x, eps=spec.pooler_eps)
    classes, bias = (Axis("class", spec.classes),), spec.bias("classes")
    if not spec.class_tokens:
        linear(head, "logits", "logits", x, "C", classes, bias=bias)
        return
    x = linear(head, "token_logits", "token logits", x, "C", classes, bias=bias)
    head.step("logits", "logits", Slice("t", spec.class_tokens, place.size), x)
