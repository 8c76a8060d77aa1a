"""Checks of all inputs, done once before the forward pass; an error is one line.

Values are read from the device in a single transfer. While a graph is compiled or captured they cannot be read: shapes and
types are still checked, and `check_batch` checks the values where batches are made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.arguments import is_whole
from glassformer.errors import GlassformerError, shown
from glassformer.model.encoder import Inputs
from glassformer.spec import MASKED_HEADS, EncoderSpec
from glassformer.spec.fields import field_text

WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def checked(spec: EncoderSpec, given: Inputs, here: Tensor, return_weights: Collection[int]) -> Inputs:
    """The inputs in the form that the model uses: ids as int64, `attend` boolean or None, `predict_at` as flat indices."""
    _check_tensors(spec, given, here)
    _SHAPES[spec.reads](spec, given.inputs, here)
    _check_companions(spec, given)
    _check_layers(spec, return_weights)
    if given.inputs.numel() and not unreadable(given.inputs):
        given = _check_numbers(spec, given)
    return _as_taken(spec, given)


def check_only_logits(spec: EncoderSpec, *, looked_at: bool) -> None:
    """Check that `only_logits` is used with a head that returns logits, and without other outputs."""
    if spec.head == "none" and not spec.predicts_next:
        raise GlassformerError("only_logits=True, but head=none makes no logits. Try head=classify, or leave it out.")
    if looked_at:
        raise GlassformerError("only_logits=True leaves out what return_weights and return_hidden show: ask for one of them.")


def check_batch(spec: EncoderSpec, inputs: Tensor, attend: Tensor | None = None, segments: Tensor | None = None) -> None:
    """The checks of a forward pass without the pass, for loaders that feed a compiled model."""
    floats = isinstance(inputs, Tensor) and inputs.is_floating_point()
    here = torch.empty(0, dtype=inputs.dtype if floats else None, device=getattr(inputs, "device", None))
    checked(spec, Inputs(inputs, attend, segments), here, ())


def unreadable(tensor: Tensor) -> bool:
    """Whether the values of a tensor cannot be read: it is being traced or captured, or it is a meta tensor."""
    if torch.compiler.is_compiling() or tensor.is_meta:
        return True
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def _as_taken(spec: EncoderSpec, given: Inputs) -> Inputs:
    inputs, attend, segments, positions, ask, boxes = given
    if attend is not None:
        attend = attend.bool()
    if spec.reads == "tokens":
        inputs = inputs.long()
    elif attend is not None and not spec.raw_sound:
        # A NaN at a padded position would reach every token: its weight is 0, but 0 · NaN is NaN. So would a number whose
        # score overflows: ∞ − ∞ is NaN too.
        harmless = inputs.abs() <= torch.finfo(inputs.dtype).max ** 0.25
        inputs = torch.where(attend[:, :, None] | harmless, inputs, 0.0)
    if ask is not None and ask.dtype == torch.bool:
        ask = ask.flatten().nonzero()[:, 0]
    whole = [None if ids is None else ids.long() for ids in (segments, positions, ask, boxes)]
    return Inputs(inputs, attend, *whole)


def _check_tensors(spec: EncoderSpec, given: Inputs, here: Tensor) -> None:
    for name, value in zip((spec.reads, *Inputs._fields[1:]), given, strict=True):
        if value is None and name != spec.reads:
            continue
        if not isinstance(value, Tensor):
            raise GlassformerError(f"{name} must be a tensor, got {type(value).__name__}. Pass torch.tensor({name}).")
        if value.device != here.device:
            raise GlassformerError(f"{name} is on {value.device}, the encoder on {here.device}. Pass {name}.to('{here.device}').")


def _check_tokens(spec: EncoderSpec, tokens: Tensor, here: Tensor) -> None:  # noqa: ARG001
    if tokens.dtype not in WHOLE:
        raise GlassformerError(f"tokens must be whole numbers (int64), got {_plain(tokens.dtype)}.")
    if tokens.ndim != 2:
        way = " Add a batch axis: tokens[None]." if tokens.ndim == 1 else ""
        raise GlassformerError(f"tokens must be (batch, t), got {_shape(tokens)}.{way}")
    _check_length("tokens", tokens)


def _check_vectors(spec: EncoderSpec, vectors: Tensor, here: Tensor) -> None:
    if vectors.ndim != 3 or vectors.shape[-1] != spec.d_model:
        way = " Add a batch axis: vectors[None]." if vectors.ndim == 2 else ""
        raise GlassformerError(f"vectors must be (batch, t, d_model={spec.d_model}), got {_shape(vectors)}.{way}")
    _check_length("vectors", vectors)
    _check_dtype("vectors", vectors, here)


def _check_image(spec: EncoderSpec, image: Tensor, here: Tensor) -> None:
    wanted = spec.picture_shape
    if image.ndim != 1 + len(wanted) or tuple(image.shape[1:]) != wanted:
        names = ("frames", "channels", "height", "width")[-len(wanted) :]
        text = ", ".join(f"{name}={size}" for name, size in zip(names, wanted, strict=True))
        way = " Add a batch axis: image[None]." if tuple(image.shape) == wanted else " Resize or crop it first."
        raise GlassformerError(f"image must be (batch, {text}), got {_shape(image)}.{way}")
    _check_dtype("image", image, here)


def _check_frames(spec: EncoderSpec, frames: Tensor, here: Tensor) -> None:
    if spec.raw_sound and frames.ndim == 3 and frames.shape[1] == spec.mels:  # of any length
        if spec.positions_of(frames.shape[2]) < 1:
            raise GlassformerError(
                f"frames is {_shape(frames)}: the convolutions need {spec.frames_of(1):,} frames for one position. "
                "Pad it with silence."
            )
        _check_dtype("frames", frames, here)
        return
    wanted = (spec.mels, spec.frames)
    if frames.ndim != 3 or tuple(frames.shape[1:]) != wanted:
        way = " Cut the audio, or pad it with silence."
        if tuple(frames.shape) == wanted:
            way = " Add a batch axis: frames[None]."
        elif frames.ndim == 3 and tuple(frames.shape[:0:-1]) == wanted:
            way = " Turn it: frames.mT."
        raise GlassformerError(f"frames must be (batch, mels={wanted[0]}, frames={wanted[1]}), got {_shape(frames)}.{way}")
    _check_dtype("frames", frames, here)


_SHAPES = {"tokens": _check_tokens, "vectors": _check_vectors, "image": _check_image, "frames": _check_frames}


def _check_length(name: str, value: Tensor) -> None:
    if value.shape[1] == 0:
        raise GlassformerError(f"empty sequence: {name} has shape {_shape(value)}, and every row needs at least 1 token.")


def _check_dtype(name: str, value: Tensor, here: Tensor) -> None:
    if not value.is_floating_point():
        way = f" Pass {name}.float() / 255." if value.dtype == torch.uint8 else f" Pass {name}.float()."
        raise GlassformerError(f"{name} must be floating-point numbers, got {_plain(value.dtype)}.{way}")
    if value.dtype != here.dtype and not torch.is_autocast_enabled(value.device.type):
        raise GlassformerError(
            f"{name} is {_plain(value.dtype)}, the encoder is {_plain(here.dtype)}: one of them must follow the other. "
            f"Pass {name}.to(torch.{_plain(here.dtype)})."
        )


def _check_companions(spec: EncoderSpec, given: Inputs) -> None:
    """Check that mask, segments, positions and requested outputs match this encoder and these inputs."""
    inputs, attend, segments, positions, ask, boxes = given
    if spec.one_length and not (positions is None and (attend is None or spec.raw_sound)):
        what = "patch of an image" if spec.reads == "image" else "audio frame"
        raise GlassformerError(f"attend and positions are for sequences: every {what} is real and has a fixed position.")
    if segments is not None and spec.segments is None:
        raise GlassformerError("segments are given, but this encoder has no segment table. Leave them out.")
    sides = _left_sides(spec, boxes)
    if ask is not None and spec.head not in MASKED_HEADS and not spec.predicts_next:
        raise GlassformerError(f"predict_at is given, but head={spec.head} predicts no masked tokens. Try head=mlm.")
    limit = spec.longest
    if limit is not None and not spec.one_length and inputs.shape[1] > limit and positions is None:
        field = "complete_up_to" if limit == spec.complete_up_to else "positions"
        raise GlassformerError(
            f"sequence too long: {spec.reads} has {inputs.shape[1]} positions a row, this encoder has {field}={limit}. "
            f"Cut it with {spec.reads}[:, :{limit}] (drops the last {inputs.shape[1] - limit}), or split the text."
        )
    flat = ask is not None and ask.dtype != torch.bool and ask.ndim == 1
    for name, value in zip(Inputs._fields[1:], (attend, segments, positions, None if flat else ask, sides), strict=True):
        length = spec.positions_of(inputs.shape[2]) if spec.raw_sound else inputs.shape[1]
        if value is not None and value.shape != (inputs.shape[0], length):
            made = f", which makes t={length}" if spec.raw_sound else ""
            raise GlassformerError(f"{name} is {_shape(value)}, {spec.reads} is {_shape(inputs)}{made}: batch and t must agree.")
    if attend is not None and attend.is_floating_point():
        raise _float_mask(attend)
    for name, value in (
        ("attend", attend),
        ("segments", segments),
        ("positions", positions),
        ("predict_at", ask),
        ("boxes", boxes),
    ):
        if value is not None and value.dtype not in (
            WHOLE if name in ("segments", "positions", "boxes") else (torch.bool, *WHOLE)
        ):
            raise GlassformerError(f"{name} must be whole numbers (int64), got {_plain(value.dtype)}.")


def _left_sides(spec: EncoderSpec, boxes: Tensor | None) -> Tensor | None:
    """The left sides of boxes, [batch, t], after a check that the model reads boxes and that these have four sides."""
    if boxes is None:
        return None
    if spec.page is None:
        raise GlassformerError("boxes are given, but this encoder has no page positions. Leave them out.")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise GlassformerError(
            f"boxes must be (batch, t, 4), the left, upper, right and lower side of each token, got {_shape(boxes)}."
        )
    return boxes[..., 0]


def _float_mask(attend: Tensor) -> GlassformerError:
    """Refuse a mask of floats: zeros may mean "add nothing" or "do not attend"."""
    told = "attend must be boolean, or 0 and 1 (1 = a real token)"
    if not unreadable(attend):
        wrong = ((attend != 0) & (attend != 1)).nonzero()
        if len(wrong):
            b, i = wrong[0].tolist()
            additive = " This looks like an additive mask: pass attend == 0." if attend.min() < 0 else ""
            return GlassformerError(f"{told}; found {attend[b, i].item():g} at [{b},{i}].{additive}")
    return GlassformerError(f"{told}, got {_plain(attend.dtype)}. Pass attend.bool(), or attend == 0 if it is additive.")


def _check_layers(spec: EncoderSpec, return_weights: Collection[int]) -> None:
    if not isinstance(return_weights, tuple | list | set | frozenset | range):
        found = shown(return_weights)
        why, way = ("one layer", f"[{found}]") if is_whole(return_weights) else ("not allowed", "such as [0]")
        raise GlassformerError(f"return_weights={found} is {why}: give a list of layers, {way}.")
    if return_weights and not spec.attends:
        raise GlassformerError(f"return_weights: mixing={spec.mixing} has no attention weights. Leave it out.")
    if return_weights and spec.funnel:
        raise GlassformerError(f"return_weights is not implemented with funnel={field_text(spec.funnel)}. Leave it out.")
    for layer in return_weights:
        if not is_whole(layer) or not 0 <= layer < spec.layers:
            has = f"has layers 0 to {spec.layers - 1}" if spec.layers else "has no layers"
            raise GlassformerError(f"return_weights: there is no layer {shown(layer)}, this encoder {has}.")


class Range(NamedTuple):
    """Integers that must lie in 0 … rows - 1 (None: any that are not negative), with their origin for error messages."""

    name: str
    values: Tensor
    rows: int | None
    source: str

    def refusal(self) -> GlassformerError:
        below = self.values < 0
        where = (below if self.rows is None else below | (self.values >= self.rows)).nonzero()[0].tolist()
        value, place = self.values[tuple(where)].item(), ",".join(map(str, where))
        allowed = "it may not be negative" if self.rows is None else f"{self.source} 0 to {self.rows - 1}"
        return GlassformerError(f"{self.name}[{place}] = {value} is out of range: {allowed}.")


def _ranges(spec: EncoderSpec, given: Inputs) -> Iterator[Range]:
    if spec.reads == "tokens":
        yield Range("tokens", given.inputs, spec.vocab, f"the vocabulary has {spec.vocab} entries,")
    if given.segments is not None:
        yield Range("segments", given.segments, spec.segments, f"this encoder has segments={spec.segments},")
    if given.boxes is not None:
        left, upper, right, lower = given.boxes.unbind(-1)
        yield Range("boxes", given.boxes, spec.page, f"this encoder has page={spec.page},")
        yield Range("boxes' widths", right - left, spec.page, "the right side is not left of the left one,")
        yield Range("boxes' heights", lower - upper, spec.page, "the lower side is not above the upper one,")
    if given.positions is not None:
        yield Range("positions", given.positions, spec.longest, f"this encoder has positions={spec.longest},")
    if given.attend is not None and given.attend.dtype != torch.bool:
        yield Range("attend", given.attend, 2, "a mask holds 1 at real tokens and 0 at padding,")
    if given.predict_at is not None and given.predict_at.dtype != torch.bool and given.predict_at.numel():
        places = given.inputs.shape[0] * given.inputs.shape[1]
        yield Range("predict_at", given.predict_at, places, f"the batch has {places} tokens,")


def _check_numbers(spec: EncoderSpec, given: Inputs) -> Inputs:
    """Check that every index is inside its table and that padding is on the allowed side; drop a mask that masks nothing."""
    ranges = list(_ranges(spec, given))
    facts = [fact for one in ranges for fact in one.values.aminmax()]
    if given.attend is not None:
        real = given.attend.bool()
        late = real.any(1) & ~real[:, 0]  # the row begins with padding
        facts += [real.all(), late.any()]
    told: list[int] = torch.stack([fact.long() for fact in facts]).tolist() if facts else []
    for one, low, high in zip(ranges, told[::2], told[1::2], strict=False):
        if low < 0 or (one.rows is not None and high >= one.rows):
            raise one.refusal()
    if given.attend is None:
        return given
    everywhere, left = told[-2:]
    if left and given.positions is None and spec.counts_from_start:
        raise GlassformerError(
            f"row {int(late.nonzero()[0])} is padded on the left, so its tokens would get the wrong positions. "
            "Pad on the right, or pass positions=(attend.cumsum(1) - 1).clamp(min=0)."
        )
    return given._replace(attend=None) if everywhere else given


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _shape(tensor: Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))}{',' if tensor.ndim == 1 else ''})"
