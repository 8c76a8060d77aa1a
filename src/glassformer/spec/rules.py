"""The rules between fields: which combinations describe an encoder."""

from __future__ import annotations

import math
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.spec.encoder_fields import GROUPED, defaults
from glassformer.spec.encoder_sizes import EncoderSizes
from glassformer.spec.fields import accept, field_text
from glassformer.spec.rules_of_heads import check_head
from glassformer.spec.rules_of_layers import check_layers
from glassformer.spec.rules_of_pages import check_page


def check(spec: EncoderSizes) -> None:
    """Normalise each field and refuse invalid combinations; messages name the field, the value, the rule and the way out."""
    kind: Any = type(spec)
    for name, default in defaults(kind).items():
        value = getattr(spec, name)
        if value is not default:  # the defaults are valid
            object.__setattr__(spec, name, accept(name, value, kind))
    _widths(spec)
    _groups(spec)
    _positions(spec)
    _layers(spec)
    _global_tokens(spec)
    _beside(spec)
    _video(spec)
    _input(spec)
    _audio(spec)
    _convolved(spec)
    check_layers(spec)
    check_page(spec)
    check_head(spec)


def _widths(spec: EncoderSizes) -> None:
    if spec.attends and spec.d_k is None and spec.inner_width % spec.heads:
        raise GlassformerError(
            f"heads={spec.heads} does not divide d_model={spec.d_model}, and d_k is not given: "
            f"every head needs a whole number of features. Try heads={nearest_divisor(spec.d_model, spec.heads)} or give d_k."
        )
    if spec.heads % spec.key_heads:
        raise GlassformerError(
            f"kv_heads={spec.kv_heads} does not divide heads={spec.heads}: "
            "every key/value head is shared by the same number of query heads. "
            f"Try kv_heads={nearest_divisor(spec.heads, spec.key_heads)}."
        )
    if spec.rotary_values and spec.head_v != spec.head_k:
        raise GlassformerError(
            f"d_v={spec.head_v} is not d_k={spec.head_k}, and rotary_values=true rotates values like keys. Leave d_v out."
        )
    if spec.position in ("rotary", "rotary_stored") and spec.head_k % 2:
        raise GlassformerError(f"d_k={spec.head_k} is odd: rotary positions rotate pairs of features. Give an even d_k.")
    if spec.position == "rotary_2d" and spec.head_k % 4:
        raise GlassformerError(
            f"d_k={spec.head_k} is not a multiple of 4: position=rotary_2d rotates half of the pairs of features by the row of a "
            "patch and half by its column. Give a multiple of 4."
        )
    if spec.computes_positions and spec.placed_width % 2:
        raise GlassformerError(
            f"d_model={spec.placed_width} is odd: sinusoidal positions come in pairs of a sine and a cosine. Give an even width."
        )


def _groups(spec: EncoderSizes) -> None:
    """Rules of grouped projections: all groups have the same number of features."""
    if not spec.groups:
        return
    if len(spec.groups) != len(GROUPED):
        raise GlassformerError(
            f"groups={field_text(spec.groups)} has {len(spec.groups)} numbers, and there are {len(GROUPED)} grouped "
            f"projections: {', '.join(GROUPED)}. Give one number for each."
        )
    if spec.gated or spec.disentangled or spec.query_key_norm == "all":
        field = f"activation={spec.activation}" if spec.gated else "query_key_norm=all"
        field = f"position={spec.position}" if spec.disentangled else field
        raise GlassformerError(f"groups={field_text(spec.groups)} is not implemented with {field}. Leave groups out.")
    keys, values = spec.key_heads * spec.head_k, spec.key_heads * spec.head_v
    made = (spec.heads * spec.head_k, keys, values, spec.heads * spec.head_v, spec.ffn_width, spec.ffn_width)
    for place, count, width in zip(GROUPED, spec.groups, made, strict=True):
        if spec.d_model % count or width % count:
            raise GlassformerError(
                f"groups={field_text(spec.groups)}: the projection {place} is between {spec.d_model} and {width} features, and "
                f"{count} groups do not divide both. Try {math.gcd(spec.d_model, width)} or one of its divisors."
            )


def nearest_divisor(width: int, wanted: int) -> int:
    """Return the divisor of `width` closest to `wanted`."""
    divisors = (i for i in range(1, min(width, 4096) + 1) if width % i == 0)
    return min(divisors, key=lambda divisor: (abs(divisor - wanted), divisor))


def _positions(spec: EncoderSizes) -> None:
    if (spec.learns_positions or spec.stores_rotation) and spec.positions is None and spec.patch is None:
        raise GlassformerError(f"position={spec.position} needs positions, the number of rows in its table. Try positions=512.")
    if spec.position_offset and spec.patch is not None and spec.learns_positions:
        raise GlassformerError(
            f"position_offset={spec.position_offset} is not allowed for an image: its position table has one row per patch "
            "and class token, starting at row 0. Leave it out."
        )
    if spec.disentangled:
        _disentangled(spec)
        return
    near = spec.relative_buckets // 4  # distances with their own bucket, in each direction
    if spec.relative and not spec.position.endswith("2d") and spec.relative_distance <= near:
        raise GlassformerError(
            f"relative_distance={spec.relative_distance} is too small for relative_buckets={spec.relative_buckets}: each "
            f"distance below {near} has its own bucket, and larger ones share. Give relative_distance={near + 1} or more."
        )


def _disentangled(spec: EncoderSizes) -> None:
    rows, distance = spec.relative_buckets, spec.relative_distance
    if rows % 2 or rows < 4:
        raise GlassformerError(
            f"relative_buckets={rows} is not allowed with position={spec.position}: half of the rows are for earlier keys, "
            "half for later ones, and distances 0 and 1 have one each. Give an even number, 4 or more."
        )
    if distance < rows // 2:
        raise GlassformerError(
            f"relative_distance={distance} is too small for relative_buckets={rows}: some rows would never be used. "
            f"Give relative_distance={rows // 2} (one row per distance) or more."
        )


def _layers(spec: EncoderSizes) -> None:
    if spec.share_layers is not None and spec.share_layers > spec.layers:
        raise GlassformerError(
            f"share_layers={spec.share_layers} is more than layers={spec.layers}: some layers would never be used. "
            "Try share_layers=1."
        )
    if spec.layers % spec.layer_cycle or spec.distinct_layers % spec.layer_cycle:
        raise GlassformerError(
            f"layer_cycle={spec.layer_cycle} does not divide layers={spec.layers} and share_layers. Try layer_cycle=1."
        )
    if spec.global_every is not None and spec.window is None:
        raise GlassformerError(
            f"global_every={spec.global_every} has no effect without window: it selects the layers that ignore the window. "
            "Give window, or leave it out."
        )


def _global_tokens(spec: EncoderSizes) -> None:
    """Rules of global tokens, which attend to all tokens and to which all tokens attend."""
    if spec.global_attention == "none":
        return
    given = f"global_attention={spec.global_attention}"
    if spec.window is None or spec.attend == "causal":
        raise GlassformerError(f"{given} selects tokens that ignore a window in both directions. Give window and attend=all.")
    if spec.global_every is not None:
        raise GlassformerError(
            f"{given} needs a window in every layer, and global_every={spec.global_every} leaves it out of some. Leave it out."
        )
    if spec.by_distance or spec.rotary or spec.groups or spec.group > 1 or spec.query_key_norm != "none" or spec.score_cap:
        raise GlassformerError(
            f"{given} is implemented for plain queries, keys and scores only: without relative or rotary positions, groups, "
            "and shared keys. Leave one of them out."
        )


def _beside(spec: EncoderSizes) -> None:
    """Rules of a convolution parallel to layer 0, which reads as many positions before each position as after it."""
    if spec.beside_kernel is None:
        return
    if spec.beside_kernel % 2 == 0:
        raise GlassformerError(
            f"beside_kernel={spec.beside_kernel} is even: the convolution would give one position less. Give an odd number."
        )
    if spec.d_model % spec.beside_groups:
        raise GlassformerError(
            f"beside_groups={spec.beside_groups} does not divide d_model={spec.d_model}. "
            f"Try beside_groups={nearest_divisor(spec.d_model, spec.beside_groups)}."
        )
    if not spec.layers or spec.block != "layer" or spec.attend == "causal":
        why = "attend=causal hides later tokens" if spec.attend == "causal" else "there is no whole layer"
        raise GlassformerError(f"beside_kernel={spec.beside_kernel} adds a convolution to layer 0, and {why}. Leave it out.")


def _input(spec: EncoderSizes) -> None:
    if (spec.image is None) != (spec.patch is None):
        given, missing = ("image", "patch") if spec.patch is None else ("patch", "image")
        raise GlassformerError(
            f"{given}={getattr(spec, given)} is given without {missing}: an image is cut into patches. Give both."
        )
    for width, height in (("image_width", "image"), ("patch_width", "patch")):
        if getattr(spec, width) is not None and getattr(spec, height) is None:
            raise GlassformerError(f"{width}={getattr(spec, width)} is given without {height}, the height. Give both.")
    if spec.image is not None and spec.patch is not None:
        if not spec.patches:
            side, across = ("", 0) if spec.patch_size[0] > spec.image_size[0] else ("_width", 1)
            raise GlassformerError(
                f"patch{side}={spec.patch_size[across]} is larger than image{side}={spec.image_size[across]}: "
                "no patch fits. Give a smaller patch."
            )
        if spec.vocab is not None:
            raise GlassformerError(
                f"vocab={spec.vocab} and image={spec.image} are both given: an encoder reads tokens or an image. Leave one out."
            )
    elif spec.class_tokens or spec.registers or (spec.mask_token and not spec.raw_sound):
        raise GlassformerError(
            "class_tokens, registers and mask_token are for image encoders: give image and patch, or leave them out."
        )
    _places_in_image(spec)
    _tables(spec)


def _tables(spec: EncoderSizes) -> None:
    """Rules of what is added to tokens or done to them."""
    if spec.token_dropout is not None:
        _token_dropout(spec)
    for table in ("segments", "tasks", "languages"):
        if getattr(spec, table) is not None and spec.vocab is None:
            other = "Leave it out" if spec.one_length else "Give vocab"
            raise GlassformerError(f"{table}={getattr(spec, table)} needs a token embedding. {other}.")


def _token_dropout(spec: EncoderSizes) -> None:
    token = f"token_dropout={spec.token_dropout}"
    if spec.vocab is None or spec.token_dropout not in range(spec.vocab):
        what = "there are no tokens" if spec.vocab is None else f"vocab={spec.vocab} has no such token"
        raise GlassformerError(f"{token} is the id of the mask token, but {what}. Give a smaller id, or leave it out.")
    for field in ("segments", "tasks", "token_kernel"):
        if getattr(spec, field) is not None:
            raise GlassformerError(f"{token} is not implemented with {field}={getattr(spec, field)}. Leave one of them out.")


def _video(spec: EncoderSizes) -> None:
    if spec.video_frames is None:
        return
    given = f"video_frames={spec.video_frames}"
    if spec.patch is None:
        raise GlassformerError(f"{given} is for video, but there is no image. Give image and patch, or leave it out.")
    if spec.tube > spec.video_frames:
        raise GlassformerError(f"tube={spec.tube} is larger than {given}: no patch fits. Give a smaller tube.")
    if "2d" in spec.position:
        raise GlassformerError(f"position={spec.position} is for patches of an image, and {given} is a video. Give another one.")


def _places_in_image(spec: EncoderSizes) -> None:
    if spec.mask_ratio and (spec.patch is None or spec.relative or spec.rotary):
        why = "there is no image" if spec.patch is None else f"position={spec.position} has no positions for a subset of them"
        raise GlassformerError(f"mask_ratio={spec.mask_ratio:g} masks patches of an image, but {why}. Leave it out.")
    if spec.position == "sinusoidal_2d_stored" and (spec.patch is None or spec.d_model % 4):
        why = "there is no image" if spec.patch is None else f"d_model={spec.d_model} is not a multiple of 4"
        raise GlassformerError(
            f"position=sinusoidal_2d_stored stores sines and cosines of rows and columns of patches, but {why}. Give image and "
            "patch with a multiple of 4, or another position."
        )
    if spec.stores_rotation and spec.one_length:
        raise GlassformerError("position=rotary_stored is for text and vectors only. Try position=rotary.")
    if spec.position == "rotary_2d" and spec.rotary_pairs == "adjacent":
        raise GlassformerError("rotary_pairs=adjacent is not implemented with position=rotary_2d. Leave rotary_pairs out.")
    if spec.position == "rotary_2d" and spec.patch is None:
        raise GlassformerError(
            "position=rotary_2d rotates by row and column of a patch, but there is no image. Give image and patch."
        )
    if spec.relative and spec.position.endswith("2d") and (spec.patch is None or spec.class_tokens != 1 or spec.registers):
        raise GlassformerError(
            f"position={spec.position} is for images with one class token and no registers. Give image, patch and class_tokens=1."
        )


def _audio(spec: EncoderSizes) -> None:
    if spec.mels is None:
        if spec.raw_sound:
            raise GlassformerError(f"samples={spec.samples} needs mels, the features of a frame: raw audio has one. Give mels=1.")
        return
    for name, value, what in (("vocab", spec.vocab, "tokens"), ("image", spec.image, "an image")):
        if value is not None:
            raise GlassformerError(
                f"{name}={value} and mels={spec.mels} are both given: an encoder reads {what} or audio. Leave one out."
            )
    if spec.raw_sound:
        _raw_sound(spec)
    elif spec.positions is None:
        raise GlassformerError(
            f"mels={spec.mels} needs positions, the length of the audio: two frames make one position. Try positions=1500."
        )


def _raw_sound(spec: EncoderSizes) -> None:
    lists = {name: getattr(spec, name) for name in ("conv_widths", "conv_kernels", "conv_strides")}
    if not spec.conv_kernels or len({len(sizes) for sizes in lists.values()}) > 1:
        given = ", ".join(f"{len(sizes)} {name}" for name, sizes in lists.items())
        raise GlassformerError(f"samples={spec.samples} needs one width, kernel and stride for each convolution, found {given}.")
    if spec.positions_of(spec.frames) < 1:
        raise GlassformerError(
            f"samples={spec.samples} is too short: the convolutions need {spec.frames_of(1):,} for one position. Give more."
        )
    if spec.learns_positions or spec.positions is not None:
        field = f"positions={spec.positions}" if spec.positions is not None else f"position={spec.position}"
        raise GlassformerError(f"{field} is not allowed with samples, which determine the length. Leave it out.")


def _convolved(spec: EncoderSizes) -> None:
    """Rules of positional convolutions and of gates, which cut the features into groups and heads."""
    if spec.convolves_positions and spec.d_model % spec.position_groups:
        raise GlassformerError(
            f"position_groups={spec.position_groups} does not divide d_model={spec.d_model}. "
            f"Try position_groups={nearest_divisor(spec.d_model, spec.position_groups)}."
        )
    if spec.convolves_positions and not spec.raw_sound:
        raise GlassformerError(f"position={spec.position} is implemented for raw audio only. Give samples, or another position.")
    if spec.relative_gate and (spec.disentangled or spec.d_model % spec.heads):
        why = "gates scale a relative bias, but disentangled positions have none"
        if not spec.disentangled:
            why = f"heads={spec.heads} does not divide d_model={spec.d_model}, and a gate reads one head's share"
        raise GlassformerError(f"relative_gate=true is not allowed: {why}. Leave it out.")
