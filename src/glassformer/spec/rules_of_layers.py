"""The rules of layers of other kinds: bottlenecks, transforms, landmarks, pooled sequences, adapters."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.spec.encoder_sizes import EncoderSizes
from glassformer.spec.fields import field_text


def _layer_adapter(spec: EncoderSizes) -> None:
    """Rules of a small block after each layer."""
    whole = spec.block == "layer" and spec.norm == "pre" and spec.bottleneck is None and spec.ffn_blocks == 1 and not spec.funnel
    if spec.layer_adapter is not None and (not whole or spec.beside_kernel is not None):
        raise GlassformerError(
            f"layer_adapter={spec.layer_adapter} is implemented only for complete layers with norm=pre. Leave it out."
        )


def check_layers(spec: EncoderSizes) -> None:
    """Refuse layers that do not fit together."""
    _bottleneck(spec)
    _mixing(spec)
    _landmarks(spec)
    _funnel(spec)
    _adapters(spec)
    _layer_adapter(spec)


def _funnel(spec: EncoderSizes) -> None:
    """Rules of a sequence that is pooled between blocks of layers."""
    if not spec.funnel and not spec.funnel_repeats:
        return
    given = f"funnel={field_text(spec.funnel)}"
    if len(spec.funnel) != len(spec.funnel_repeats) or spec.layers < len(spec.funnel_owners):
        raise GlassformerError(
            f"{given} needs a number of repeats for each block, as in funnel_repeats=1,1,1, and layers={spec.layers} must "
            f"include them all: {len(spec.funnel_owners) if len(spec.funnel) == len(spec.funnel_repeats) else 'unknown'} or more."
        )
    plain = {
        **{"norm": "post", "position": "none", "window": None, "attend": "all", "block": "layer", "mixing": "attention"},
        **{"kv_heads": None, "groups": (), "scale": "d_k", "layer_scale": False, "share_layers": None, "bottleneck": None},
        **{"ffn_blocks": 1, "beside_kernel": None, "landmarks": None, "value_kernel": None, "contact_head": False, "page": None},
        **{"token_dropout": None, "adapters": (), "pool": "first", "pooler": "none", "complete_up_to": None, "final_norm": None},
        **{"global_attention": "none", "layer_sum": False, "relative_gate": False, "spare_pooler": False, "head_reads": "pooled"},
    }
    for field in (field for field, value in plain.items() if getattr(spec, field) != value):
        told = field_text(getattr(spec, field))
        raise GlassformerError(
            f"{field}={told} is not allowed with {given}, which has its own kind of attention. Leave one of them out."
        )
    if (
        spec.vocab is None
        or spec.segments is None
        or spec.segments < 3
        or spec.d_model % 2
        or spec.head in ("pretrain", "project")
    ):
        raise GlassformerError(
            f"{given} needs tokens of even width with three segments (2 is that of the class token): give segments=3."
        )


def _landmarks(spec: EncoderSizes) -> None:
    """Rules of attention by landmarks, and of a convolution over values."""
    for field in ("landmarks", "value_kernel"):
        given = f"{field}={getattr(spec, field)}"
        if getattr(spec, field) is None:
            continue
        if spec.window is not None or spec.attend == "causal" or spec.group > 1 or not spec.attends or spec.pooler == "attention":
            raise GlassformerError(f"{given} is implemented only for full attention in which each head has its own keys.")
        if field == "landmarks" and (spec.by_distance or spec.score_cap is not None or spec.reads not in ("tokens", "vectors")):
            raise GlassformerError(f"{given} is implemented only for text without relative positions. Leave it out.")
    if spec.value_kernel is not None and spec.value_kernel % 2 == 0:
        raise GlassformerError(
            f"value_kernel={spec.value_kernel} is even: the result would have one position too many. Give an odd number."
        )


def _adapters(spec: EncoderSizes) -> None:
    """Rules of adapters that are stored for tasks."""
    if not spec.adapters:
        return
    given = f"adapters={field_text(spec.adapters)}"
    if len(spec.adapters) != 2:
        raise GlassformerError(f"{given} must have two numbers: tasks and rank, such as 5,4.")
    if spec.reads != "tokens" or not spec.attends or spec.block != "layer" or spec.gated or spec.head != "none":
        raise GlassformerError(f"{given} is implemented for plain text encoders without a head or a gated block. Leave it out.")
    if spec.bottleneck is not None or spec.embedding_size is not None or spec.by_distance or spec.groups:
        raise GlassformerError(f"{given} is implemented for layers of one width, without groups. Leave it out.")


def _bottleneck(spec: EncoderSizes) -> None:
    """Rules of layers inside a bottleneck, and of token embeddings that are projected or placed on a page."""
    whole = spec.norm == "post" and spec.block == "layer" and not spec.layer_scale and not spec.groups and not spec.by_distance
    plain = whole and spec.global_attention == "none" and spec.pooler != "attention" and spec.beside_kernel is None
    for field, given in (("bottleneck", spec.bottleneck), ("ffn_blocks", spec.ffn_blocks if spec.ffn_blocks > 1 else None)):
        if given is not None and not plain:
            raise GlassformerError(
                f"{field}={given} is implemented for plain layers with norm=post only: without layer_scale, groups, positions by "
                "distance, global tokens and an attention pooler. Leave it out."
            )
    if spec.token_kernel is not None and (spec.vocab is None or spec.embedding_size is None or spec.token_norm):
        raise GlassformerError(
            f"token_kernel={spec.token_kernel} projects token embeddings of their own width: give vocab and embedding_size."
        )
    if spec.wide_output and (spec.table_width >= spec.d_model or not spec.head_dense or spec.head_width is not None):
        raise GlassformerError(
            "wide_output=true adds features to those of the token table: give an embedding_size below d_model, "
            "head_dense=true, and no head_width."
        )


def _mixing(spec: EncoderSizes) -> None:
    """Rules of layers without attention: every position reads every other one, wherever it is."""
    if spec.attends:
        return
    about_attention = {
        "position": spec.by_distance or spec.rotary,
        "attend": spec.attend == "causal",
        "window": spec.window is not None,
        "complete_up_to": spec.complete_up_to is not None,
        "groups": bool(spec.groups),
        "contact_head": spec.contact_head,
        "block": spec.block == "attention",
        "pooler": spec.pooler == "attention",
        "bottleneck": spec.bottleneck is not None,
        "ffn_blocks": spec.ffn_blocks > 1,
        "beside_kernel": spec.beside_kernel is not None,
    }
    for field in (field for field, given in about_attention.items() if given):
        raise GlassformerError(
            f"{field}={field_text(getattr(spec, field))} is not allowed with mixing={spec.mixing}: it is implemented for layers "
            f"with attention only. Leave {field} out, or mixing."
        )
