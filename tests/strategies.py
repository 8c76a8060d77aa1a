"""Random encoders for property tests: one strategy, used everywhere."""

from __future__ import annotations

import math
from typing import Any, get_args

from hypothesis import strategies as st

from glassformer.spec import ALL_BIASES, GATES, TOKEN_HEADS, DecoderSpec, EncoderSpec
from glassformer.spec.encoder_fields import Activation

# Positions that leave queries, keys and scores as they are.
PLAIN_POSITIONS = ("none", "learned", "sinusoidal", "sinusoidal_halves", "convolution")


@st.composite
def specs(draw: st.DrawFn, *, reads: str | None = None) -> EncoderSpec:
    """Any small encoder: every choice of every field can come up."""
    kind = reads or draw(st.sampled_from(["tokens", "image", "frames", "vectors"]))
    heads, d_k, d_v = draw(st.integers(1, 4)), 2 * draw(st.integers(1, 3)), draw(st.integers(1, 4))
    layers = draw(st.integers(0, 3))
    fields: dict[str, Any] = {
        "d_model": 2 * draw(st.integers(1, 4)),
        "heads": heads,
        "kv_heads": draw(st.sampled_from([None, *(count for count in range(1, heads + 1) if heads % count == 0)])),
        "d_k": d_k,
        "d_v": d_v,
        "d_ff": draw(st.integers(1, 7)),
        "layers": layers,
        "norm": draw(st.sampled_from(["post", "pre"])),
        "norm_kind": draw(st.sampled_from(["layer", "rms"])),
        "final_norm": draw(st.sampled_from([None, "none", "all", "pooled"])),
        "first_norm": draw(st.booleans()),
        "layer_scale": draw(st.booleans()),
        "activation": draw(st.sampled_from(get_args(Activation))),
        "biases": tuple(draw(st.sets(st.sampled_from(ALL_BIASES)))),
        "scale": draw(st.sampled_from(["d_k", "d_model", "none"])),
        "attend": draw(st.sampled_from(["all", "causal"])),
        "window": draw(st.sampled_from([None, 2, 4])),
        "pool": draw(st.sampled_from(["first", "mean", "last"])),
        "pooler": draw(st.sampled_from(["none", "dense", "norm", "attention"])),
        "classes": draw(st.integers(1, 4)),
        "eps": draw(st.sampled_from([1e-12, 1e-5])),
    }
    if fields["window"] is not None:
        fields["global_every"] = draw(st.sampled_from([None, 2, 3]))
    if layers and draw(st.booleans()):
        fields["share_layers"] = draw(st.integers(1, layers))
    heads_allowed = ["none", "classify", "tag", "project"]
    positions = ["none", "learned", "sinusoidal", "sinusoidal_halves", "rotary", "relative", "learned_relative"]
    positions += ["rotary_stored"] if kind in ("tokens", "vectors") else []
    positions += ["alibi", "disentangled", "learned_disentangled"]
    if kind == "tokens":
        fields |= {"vocab": draw(st.integers(2, 9)), "segments": draw(st.sampled_from([None, 1, 3])), "tie": draw(st.booleans())}
        fields |= {"embedding_size": draw(st.sampled_from([None, 2, 6])), "embedding_norm": draw(st.booleans())}
        fields["complete_up_to"] = draw(st.sampled_from([None, 20]))
        fields["tasks"] = draw(st.sampled_from([None, None, 2]))
        plain = fields["segments"] is None and fields["tasks"] is None
        fields["token_dropout"] = draw(st.sampled_from([None, 1])) if plain else None
        fields["embedding_scale"] = draw(st.sampled_from(["none", "sqrt_d_model"]))
        fields["position_offset"] = draw(st.sampled_from([0, 2]))
        heads_allowed += ["mlm", "pretrain"]
    fields |= draw(convolutions_beside(fields, kind))
    if kind == "image":
        image, more_heads, more_positions = draw(images(fields["d_k"], fields["d_model"]))
        fields |= image
        heads_allowed, positions = heads_allowed + more_heads, positions + more_positions
    raw_sound = kind == "frames" and draw(st.booleans())
    if raw_sound:
        positions = ["none", "convolution", "convolution_relative", "sinusoidal", "rotary"]
    fields["position"] = draw(st.sampled_from(positions))
    fields |= draw(rotations(fields))
    fields["groups"] = () if "disentangled" in fields["position"] else draw(groups(fields))
    plain = not fields["groups"] and fields["kv_heads"] in (None, heads) and fields["attend"] == "all"
    if fields["window"] is not None and fields.get("global_every") is None and plain and fields["position"] in PLAIN_POSITIONS:
        fields["global_attention"] = draw(st.sampled_from(["none", "stored"]))
    fields["relative_gate"] = "relative" in fields["position"] and fields["d_model"] % heads == 0 and draw(st.booleans())
    fields["relative_buckets"] = draw(st.sampled_from([4, 8]))
    fields["relative_distance"] = draw(st.sampled_from([fields["relative_buckets"] // 2, 128]))
    fields["relative_tables"] = draw(st.sampled_from(["shared", "per_layer"]))
    fields["relative_terms"] = draw(st.sampled_from(["both", "content_to_position", "position_to_content"]))
    fields["relative_projections"] = draw(st.sampled_from(["shared", "own"]))
    fields["relative_norm"] = draw(st.booleans())
    fields["positions"] = 8 if kind != "frames" else draw(st.integers(1, 4))
    if raw_sound:
        fields |= {**draw(raw_sounds()), "positions": None}
    elif kind == "frames":
        fields["mels"] = draw(st.integers(1, 3))
    fields["head"] = draw(st.sampled_from(heads_allowed))
    fields["spare_pooler"] = fields["head"] in TOKEN_HEADS and draw(st.booleans())
    fields["head_hidden"] = draw(st.sampled_from(["none", "gelu", "tanh"]))
    fields |= draw(readings(fields))
    fields["contact_head"] = layers > 0 and draw(st.booleans())
    fields["head_norm"] = draw(st.booleans()) and fields["head_hidden"] != "none"
    return EncoderSpec(**fields)


@st.composite
def groups(draw: st.DrawFn, fields: dict[str, Any]) -> tuple[int, ...]:
    """Groups of features that projections keep apart: none, or divisors of what each is between."""
    if fields["activation"] in GATES or not draw(st.booleans()):
        return ()
    heads, key_heads = fields["heads"], fields["kv_heads"] or fields["heads"]
    widths = [heads * fields["d_k"], key_heads * fields["d_k"], key_heads * fields["d_v"], heads * fields["d_v"]]
    both = [math.gcd(fields["d_model"], width) for width in (*widths, fields["d_ff"], fields["d_ff"])]
    return tuple(draw(st.sampled_from([count for count in range(1, most + 1) if most % count == 0])) for most in both)


@st.composite
def rotations(draw: st.DrawFn, fields: dict[str, Any]) -> dict[str, Any]:
    """Which features rotary positions turn together, and whether values turn as well."""
    if fields["position"] not in ("rotary", "rotary_stored"):
        return {}
    values = {"rotary_values": True, "d_v": fields["d_k"]} if draw(st.booleans()) else {}
    return {"rotary_pairs": draw(st.sampled_from(["halves", "adjacent"])), **values}


@st.composite
def decoder_specs(draw: st.DrawFn) -> DecoderSpec:
    """Any small decoder that reads tokens: every choice of every field can come up."""
    heads = draw(st.integers(1, 4))
    norm = draw(st.sampled_from(["post", "pre"]))
    fields: dict[str, Any] = {
        "vocab": draw(st.integers(2, 9)),
        "d_model": 2 * draw(st.integers(1, 4)),
        "heads": heads,
        "kv_heads": draw(st.sampled_from([None, *(count for count in range(1, heads + 1) if heads % count == 0)])),
        "d_k": 2 * draw(st.integers(1, 3)),
        "d_v": draw(st.integers(1, 4)),
        "d_ff": draw(st.integers(1, 7)),
        "layers": draw(st.integers(0, 3)),
        "norm": norm,
        "norm_kind": draw(st.sampled_from(["layer", "rms"])),
        "final_norm": draw(st.sampled_from([None, "none", "all"])),
        "residual": draw(st.sampled_from(["sequential", "parallel"])) if norm == "pre" else "sequential",
        "input_norm": draw(st.booleans()) or norm == "post",
        "output_norm": draw(st.booleans()),
        "norm_offset": draw(st.booleans()),
        "query_key_norm": draw(st.sampled_from(["none", "head", "all"])),
        "score_divisor": draw(st.sampled_from([None, 3])),
        "score_cap": draw(st.sampled_from([None, 0.5])),
        "logit_cap": draw(st.sampled_from([None, 0.7])),
        "rotary_width": draw(st.sampled_from([None, 2])),
        "rotary_scaling": draw(st.sampled_from(["none", "llama3", "yarn"])),
        "rotary_factor": 3.0,
        "rotary_slow": 0.1,
        "trained_positions": draw(st.integers(2, 40)),
        "rotary_amplitude": draw(st.sampled_from([1.0, 1.2])),
        "activation": draw(st.sampled_from(get_args(Activation))),
        "biases": tuple(draw(st.sets(st.sampled_from(ALL_BIASES)))),
        "scale": draw(st.sampled_from(["d_k", "d_model", "none"])),
        "window": draw(st.sampled_from([None, 2, 4])),
        "position": draw(st.sampled_from(["none", "learned", "sinusoidal", "rotary"])),
        "positions": 16,
        "position_offset": draw(st.sampled_from([0, 2])),
        "embedding_norm": draw(st.booleans()),
        "embedding_size": draw(st.sampled_from([None, 2, 6])),
        "project_first": draw(st.booleans()),
        "embedding_scale": draw(st.sampled_from(["none", "sqrt_d_model"])),
        "tie": draw(st.booleans()),
        "next_token": draw(st.integers(0, 3)) > 0,
    }
    if fields["window"] is not None:
        fields["global_every"] = draw(st.sampled_from([None, 2, 3]))
        fields["global_offset"] = draw(st.integers(0, 1)) if fields["global_every"] else 0
    return DecoderSpec(**fields)


@st.composite
def images(draw: st.DrawFn, d_k: int, d_model: int) -> tuple[dict[str, Any], list[str], list[str]]:
    """An image and its tokens, the heads that read them, and the positions that they can have."""
    fields = {
        **{"image": draw(st.integers(2, 5)), "patch": 2, "channels": draw(st.integers(1, 3))},
        "class_tokens": draw(st.integers(0, 2)),
        "registers": draw(st.integers(0, 2)),
        "patch_stride": draw(st.sampled_from([None, 1, 3])),
        "patch_stride_width": draw(st.sampled_from([None, 1, 3])),
        "mask_token": draw(st.booleans()),
        "head_reads": draw(st.sampled_from(["pooled", "first", "each", "mean", "first_and_mean"])),
    }
    one = fields["class_tokens"] == 1 and not fields["registers"]
    positions = (["relative_2d", "learned_relative_2d"] if one else []) + (["rotary_2d"] if d_k % 4 == 0 else [])
    if draw(st.booleans()):
        fields |= {"video_frames": draw(st.integers(2, 5)), "tube": draw(st.integers(1, 2))}
    if fields["class_tokens"]:
        fields["pool"] = draw(st.sampled_from(["first", "mean", "last", "class_tokens"]))
    positions += ["sinusoidal_2d_stored"] if d_model % 4 == 0 else []
    positions = [] if fields.get("video_frames") else positions
    return fields, ["tag_patches", *(["distilled"] if fields["class_tokens"] == 2 else [])], positions


@st.composite
def convolutions_beside(draw: st.DrawFn, fields: dict[str, Any], kind: str) -> dict[str, Any]:
    """A convolution beside layer 0, where there may be one."""
    if kind not in ("tokens", "vectors") or not fields["layers"] or fields["attend"] == "causal" or draw(st.booleans()):
        return {}
    return {
        **{"beside_kernel": draw(st.sampled_from([1, 3, 5])), "beside_groups": draw(st.sampled_from([1, 2]))},
        "beside_activation": draw(st.sampled_from(["tanh", "gelu"])),
    }


@st.composite
def raw_sounds(draw: st.DrawFn) -> dict[str, Any]:
    """Sound as samples, and the convolutions that read it."""
    return {
        **{"mels": draw(st.integers(1, 2)), "samples": draw(st.integers(20, 24))},
        **{"conv_widths": (3, 4), "conv_kernels": (4, 2), "conv_strides": (draw(st.integers(2, 3)), 2)},
        **{"conv_norm": draw(st.sampled_from(["none", "group", "layer"])), "feature_norm": draw(st.booleans())},
        **{"mask_token": draw(st.booleans()), "position_groups": 2, "position_kernel": draw(st.integers(2, 5))},
        **{"position_layers": draw(st.integers(1, 2)), "position_norm": draw(st.sampled_from(["weight", "output"]))},
        "head_reads": draw(st.sampled_from(["pooled", "mean"])),
    }


@st.composite
def readings(draw: st.DrawFn, fields: dict[str, Any]) -> dict[str, Any]:
    """What a head that reads every token does before it."""
    mean = fields["head"] == "classify" and fields.get("head_reads") == "mean"
    found = {"layer_sum": draw(st.booleans())} if mean or fields["head"] == "tag" else {}
    return found | ({"head_projection": draw(st.sampled_from([None, 3]))} if mean else {})
