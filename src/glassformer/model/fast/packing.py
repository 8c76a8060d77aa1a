"""Many sequences of different lengths: one packed row of tokens, or batches of similar length where a model needs rectangles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from glassformer.arguments import as_list, one_of, require, whole
from glassformer.errors import GlassformerError
from glassformer.model.boundary.checks import WHOLE, check_batch
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import Inputs, Output, PlainEncoder
from glassformer.model.fast.packed import Packed, flash_serves
from glassformer.model.fast.precision import product_dtype
from glassformer.spec import MASKED_HEADS, TOKEN_HEADS, EncoderSpec

Part = Literal["states", "pooled", "logits"]
Run: TypeAlias = Callable[[Inputs, Layout], Output]

FEWEST, MOST = 4_096, 131_072  # tokens per pass on a GPU: more keep it busy
ON_CPU = 2_048  # tokens per packed pass on a CPU: with more, activations no longer stay in its caches
PADDED = 1_024  # the same with padding: texts of a small batch are of nearly the same length, and need little of it
ROOM = 1 / 8  # of a GPU's memory, for activations


def encode_packed(
    encoder: PlainEncoder,
    sequences: Sequence[Tensor],
    *,
    segments: Sequence[Tensor] | None = None,
    part: Part = "states",
    tokens_at_once: int | None = None,
    run: Run | None = None,
) -> list[Tensor]:
    """Run the encoder on each sequence of ids [t], in input order: its states [t, d_model], pooled vector or logits.

    No sequence attends to another or to padding: the results are those of one sequence at a time. `run` replaces `encoder.run`.
    """
    require(Module, encoder, "sequences go through an encoder, as gf.Encoder(spec) or gf.load(folder).encoder")
    tokens_at_once = whole("tokens_at_once", tokens_at_once, least=1) if tokens_at_once is not None else None
    sequences, segments = as_list(sequences), as_list(segments) if segments is not None else None
    lengths = _checked_lengths(encoder.spec, sequences, segments, part)
    results: list[Tensor | None] = [None] * len(sequences)

    def faulty() -> None:
        _check_each(encoder.spec, sequences, segments)

    found = passes(encoder, sequences, segments, lengths=lengths, tokens_at_once=tokens_at_once, run=run, faulty=faulty)
    for members, output, layout in found:
        for i, result in zip(members, _cut(encoder.spec, output, part, [lengths[i] for i in members], layout), strict=True):
            results[i] = result
    return [result for result in results if result is not None]


def passes(
    encoder: PlainEncoder,
    sequences: Sequence[Tensor],
    segments: Sequence[Tensor] | None = None,
    *,
    lengths: list[int] | None = None,
    tokens_at_once: int | None = None,
    run: Run | None = None,
    faulty: Callable[[], None] | None = None,
) -> Iterator[tuple[list[int], Output, Layout]]:
    """Yield sequences in groups: their indices, their results, and how they are arranged in these.

    With `faulty`, which names what is wrong, they are checked first, while a GPU computes the previous group.
    """
    limit = tokens_at_once or at_once(encoder)
    lengths = lengths or _lengths(sequences)
    run = run or encoder.run
    packs = len(sequences) > 1 and (packable(encoder) or packs_on_cpu(encoder))
    for members in rows(lengths, limit) if packs else buckets(lengths, limit, equal=bool(encoder.spec.padding_reader)):
        chosen = [sequences[i] for i in members]
        beside = [segments[i] for i in members] if segments is not None else None
        if faulty is not None and not _shapes_in_order(encoder.spec, chosen):
            faulty()
        row = in_a_row(chosen)
        if faulty is not None and not _ids_in_order(encoder.spec, row):
            faulty()
        if packs:
            given, layout = _packed(encoder, row, [lengths[i] for i in members], beside)
        else:
            given, layout = _padded(encoder, chosen, beside)
        yield members, run(given, layout), layout


def at_once(encoder: PlainEncoder) -> int:
    """The default number of tokens per forward pass; on a GPU it follows from the memory."""
    spec, here = encoder.spec, encoder.here
    if not here.is_cuda:
        return ON_CPU if packs_on_cpu(encoder) else PADDED
    wide = spec.ffn_width * (2 if spec.gated else 1) + spec.ffn_width
    said = {**dict.fromkeys(MASKED_HEADS, spec.vocab or 0), "tag": spec.classes}.get(spec.head, 0)
    a_token = here.element_size() * (6 * spec.d_model + wide + (said if encoder.head is not None else 0))
    memory = torch.cuda.get_device_properties(here.device).total_memory
    return max(FEWEST, min(MOST, int(ROOM * memory) // a_token))


def _lengths(sequences: Sequence[Tensor]) -> list[int]:
    return [sequence.shape[0] for sequence in sequences]  # len() takes four times as long, and a GPU waits for it


def packable(encoder: PlainEncoder) -> bool:
    """Whether the variable-length kernel supports this encoder on its device and in its number format."""
    spec, here = encoder.spec, encoder.here
    dtype = product_dtype(here.dtype, here.device)
    return not encoder.rectangles_only and packing_suits(spec) and flash_serves(spec.head_k, spec.head_v, dtype, here.device)


def packs_on_cpu(encoder: PlainEncoder) -> bool:
    """Whether passes on a CPU are packed: nothing then computes padding, and attention takes sequences of one length together."""
    return not encoder.here.is_cuda and not encoder.rectangles_only and packing_suits(encoder.spec)


def packing_suits(spec: EncoderSpec) -> bool:
    """Whether the spec allows packed rows: no bias by distance, capped scores, attention pooler, token count, global token.

    A Fourier transform would mix the texts of a row.
    """
    plain = spec.score_cap is None and spec.token_dropout is None and spec.global_attention != "first"
    plain = plain and not spec.padding_reader and spec.beside_kernel is None  # a convolution would see the neighbouring text
    return not spec.one_length and not spec.by_distance and spec.pooler != "attention" and plain


def rows(lengths: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Group sequences into packed rows of up to `limit` tokens, long sequences first.

    The kernel reserves as many blocks for each sequence as the longest in its row needs, so similar lengths go together. A row
    of few long sequences is prepared quickly, and while the device computes it the others are prepared.
    """
    row: list[int] = []
    taken = 0
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if row and taken + lengths[i] > limit:
            yield row
            row, taken = [], 0
        row.append(i)
        taken += lengths[i]
    if row:
        yield row


def buckets(lengths: Sequence[int], limit: int, *, equal: bool = False) -> Iterator[list[int]]:
    """Group sequences of similar length into padded batches of up to `limit` tokens, padding included.

    With `equal`, no sequence is padded: a model without a mask would read the padding.
    """
    bucket: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        other = equal and bucket and lengths[i] != lengths[bucket[0]]
        if bucket and (other or (len(bucket) + 1) * lengths[i] > limit):
            yield bucket
            bucket = []
        bucket.append(i)
    if bucket:
        yield bucket


def _packed(encoder: PlainEncoder, row: Tensor, lengths: list[int], segments: Sequence[Tensor] | None) -> tuple[Inputs, Layout]:
    """One row that holds all sequences; each has positions from 0."""
    device = encoder.here.device
    bounds = moved(torch.tensor([0, *accumulate(lengths)], dtype=torch.int32), device)
    tokens = moved(row[None], device)
    beside = moved(in_a_row(segments)[None], device) if segments is not None else None
    starts = bounds[:-1].repeat_interleave(bounds.diff(), output_size=sum(lengths))
    positions = torch.arange(sum(lengths), device=device) - starts
    return Inputs(tokens, None, beside, positions[None]), Packed(bounds, max(lengths))


def in_a_row(sequences: Sequence[Tensor]) -> Tensor:
    """Concatenate. In CPU memory by NumPy: PyTorch's threads stay awake after such a copy, and compete with the tokenizer's."""
    if all(sequence.is_cpu for sequence in sequences):
        return _long(torch.from_numpy(np.concatenate([sequence.numpy() for sequence in sequences])))
    return _long(torch.cat(list(sequences)))


def _long(values: Tensor) -> Tensor:
    """Convert ids of any integer type to the type of table indices; vectors are unchanged."""
    return values if values.is_floating_point() else values.long()


def moved(values: Tensor, device: torch.device) -> Tensor:
    """Copy to the device without waiting for it, which requires pinned memory."""
    if device.type == "cuda" and values.device.type == "cpu":
        pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        pinned.numpy()[...] = values.numpy()  # by numpy, too
        return pinned.to(device, non_blocking=True)
    return values.to(device)


def _padded(encoder: PlainEncoder, sequences: list[Tensor], segments: list[Tensor] | None) -> tuple[Inputs, Layout]:
    """One padded batch, padded on the right; no mask if nothing is padded."""
    device, lengths = encoder.here.device, torch.tensor(_lengths(sequences))
    tokens = _long(torch.nn.utils.rnn.pad_sequence(list(sequences), batch_first=True)).to(device)
    beside = _long(torch.nn.utils.rnn.pad_sequence(list(segments), batch_first=True)).to(device) if segments is not None else None
    attend = None if lengths.min() == lengths.max() else (torch.arange(tokens.shape[1]) < lengths[:, None]).to(device)
    return Inputs(tokens, attend, beside), Padded(attend)


def _cut(spec: EncoderSpec, output: Output, part: Part, lengths: list[int], layout: Layout) -> Sequence[Tensor]:
    """Split the results: a row per sequence, or as many rows as it has tokens."""
    whole = getattr(output, part)
    if part == "pooled" or (part == "logits" and spec.head not in (*TOKEN_HEADS, *MASKED_HEADS)):
        return tuple(whole)
    if isinstance(layout, Packed):
        return tuple(whole[0].split(lengths))
    return [row[:length] for row, length in zip(whole, lengths, strict=True)]


def _checked_lengths(spec: EncoderSpec, sequences: Sequence[Tensor], segments: Sequence[Tensor] | None, part: Part) -> list[int]:
    """The length of each sequence, if it has one; its values are checked later, group by group."""
    one_of("part", part, get_args(Part))
    if spec.one_length:
        what = (
            "an image encoder reads images of one size" if spec.reads == "image" else "an audio encoder reads audio of one length"
        )
        raise GlassformerError(f"{what}, which need no packing. Call the encoder itself.")
    if part == "pooled" and not spec.has_pooler:
        raise GlassformerError("part=pooled: this encoder has no pooler. Try pooler=dense, or pool its states.")
    if part == "logits" and spec.head == "none":
        raise GlassformerError("part=logits: this encoder has no head. Try head=classify.")
    if segments is not None and len(segments) != len(sequences):
        raise GlassformerError(
            f"there are {len(sequences)} sequences and {len(segments)} lists of segments: give each sequence one."
        )
    try:
        lengths = _lengths(sequences)
    except (AttributeError, IndexError, TypeError):  # not all are tensors with an axis
        _check_each(spec, sequences, segments)
        raise
    in_order = min(lengths, default=1) > 0 and max(lengths, default=0) <= (spec.longest or torch.inf)
    if spec.reads != "tokens" or segments is not None or not in_order:
        _check_each(spec, sequences, segments)
    return lengths


def _check_each(spec: EncoderSpec, sequences: Sequence[Tensor], segments: Sequence[Tensor] | None) -> None:
    """Name the first faulty sequence: slow, so called only if there is one."""
    for i, sequence in enumerate(sequences):
        try:
            check_batch(spec, _one(sequence), None, _one(segments[i]) if segments is not None else None)
        except GlassformerError as error:
            raise GlassformerError(f"sequences[{i}], as a batch of one: {error}") from None


def _one(sequence: Tensor) -> Tensor:
    """A batch of one; anything but a tensor is left for the check to report."""
    return sequence[None] if isinstance(sequence, Tensor) else sequence


def _shapes_in_order(spec: EncoderSpec, sequences: Sequence[Tensor]) -> bool:
    if spec.reads != "tokens":
        return True
    return all(isinstance(x, Tensor) and x.ndim == 1 and x.dtype in WHOLE for x in sequences)


def _ids_in_order(spec: EncoderSpec, row: Tensor) -> bool:
    if spec.reads != "tokens":
        return True  # anything but a tensor was checked separately
    ids = row.numpy() if row.is_cpu else row  # by numpy, too
    return bool(ids.min() >= 0 and ids.max() < (spec.vocab or 0))
