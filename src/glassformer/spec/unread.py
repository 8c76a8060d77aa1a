"""Fields that were set but have no effect: they refer to a part that this encoder lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_fields import MASKED_HEADS, TOKEN_HEADS, defaults
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import field_text
from glassformer.spec.seq2seq_spec import Seq2SeqSpec, divided


class _Rule(NamedTuple):
    fields: tuple[str, ...]
    read: Callable[[EncoderSpec], bool]  # whether the encoder has the part that they refer to
    why: str  # why they have no effect
    because: str  # the field that removes the part
    way_out: str


# Values that ask for nothing, such as head_hidden=none: always allowed.
NEUTRAL: dict[str, Any] = {
    "first_norm": True,
    "contact_head": False,
    "embedding_scale": "none",
    "head_dense": True,
    "head_hidden": "none",
    "head_reads": "pooled",
    "layer_cycle": 1,
    "mask_ratio": 0.0,
    "pool": "first",
    "pooler": "none",
    "layer_sum": False,
    "layer_sum_normed": False,
    "position_offset": 0,
    "relative_gate": False,
    "relative_scaled": False,
    "rotary_pairs": "halves",
    "rotary_values": False,
    "spare_bias": False,
    "spare_pooler": False,
    "wide_output": False,
    "tie": True,
    "tube": 1,
}


def _pools(spec: EncoderSpec) -> bool:
    """Whether anything uses the tokens selected by `pool`."""
    if spec.pooler == "attention" or (spec.head in TOKEN_HEADS and not spec.spare_pooler):
        return False
    classifier = spec.head == "classify" and spec.head_reads == "pooled"
    return classifier or spec.head in ("project", "pretrain") or spec.pooler != "none" or spec.final_norm == "pooled"


# Sizes of a full layer are allowed with block=attention (block=attention d_ff=2048), since textbooks list them together.
RULES = (
    _Rule(
        ("classes",),
        lambda spec: spec.head not in ("none", "mlm"),
        "sets the size of a head with classes, and there is none",
        "head",
        "Add head=classify, or head=tag.",
    ),
    _Rule(
        ("tie",),
        lambda spec: spec.head in MASKED_HEADS or spec.predicts_next,
        "applies to a head that predicts tokens, and there is none",
        "head",
        "Add head=mlm.",
    ),
    _Rule(
        ("spare_bias", "head_dense"),
        lambda spec: spec.head in MASKED_HEADS,
        "applies to a head that predicts tokens, and there is none",
        "head",
        "Add head=mlm.",
    ),
    _Rule(
        ("head_width",),
        lambda spec: spec.head in MASKED_HEADS,
        "sets the hidden layer of a head that predicts tokens, and there is none",
        "head",
        "Add head=mlm.",
    ),
    _Rule(
        ("head_hidden",),
        lambda spec: spec.head in ("classify", *TOKEN_HEADS, *MASKED_HEADS),
        "sets the hidden layer of a head, and there is no head with one",
        "head",
        "Add head=classify, or head=tag.",
    ),
    _Rule(
        ("head_reads",),
        lambda spec: spec.head == "classify",
        "sets the input of a classifier, and there is none",
        "head",
        "Add head=classify.",
    ),
    _Rule(
        ("pooler",),
        lambda spec: spec.head not in TOKEN_HEADS or spec.spare_pooler,
        "has no effect, since the head reads every token",
        "head",
        "Leave pooler out.",
    ),
    _Rule(
        ("heads", "kv_heads", "d_k", "d_v", "scale"),
        lambda spec: spec.attends,
        "describes attention, and there is none",
        "mixing",
        "Leave it out, or give mixing=attention.",
    ),
    _Rule(
        ("bottleneck_reads",),
        lambda spec: spec.bottleneck is not None,
        "applies to layers inside a bottleneck, and there is none",
        "bottleneck",
        "Add bottleneck=128.",
    ),
    _Rule(
        ("wide_output",),
        lambda spec: spec.head in MASKED_HEADS,
        "widens the output matrix of a head that predicts tokens, and there is none",
        "head",
        "Add head=mlm.",
    ),
    _Rule(
        ("complete_up_to",),
        lambda spec: spec.reads in ("tokens", "vectors"),
        "limits the length of a text, and the input is of one length",
        "image",
        "Leave complete_up_to out.",
    ),
    _Rule(
        ("spare_pooler",),
        lambda spec: spec.head in TOKEN_HEADS and spec.pooler != "none",
        "keeps a pooler beside a head that reads tokens, and there is none",
        "head",
        "Add pooler=dense and head=mlm, or leave it out.",
    ),
    _Rule(
        ("final_norm",),
        lambda spec: spec.final_norm != "pooled" or (spec.has_pooler and spec.pooler != "attention"),
        "normalises the pooled vector, which nothing uses",
        "head",
        "Add final_norm=all, or leave it out.",
    ),
    _Rule(
        ("pool",),
        _pools,
        "selects the pooled tokens, which nothing uses",
        "head",
        "Add head=classify, or pooler=dense.",
    ),
    _Rule(
        ("first_norm",),
        lambda spec: spec.norm == "pre",
        "sets a norm before the attention, and there is none",
        "norm",
        "Add norm=pre.",
    ),
    _Rule(
        ("layer_cycle",),
        lambda spec: spec.share_layers is not None,
        "sets how layers share weights, and none do",
        "share_layers",
        "Add share_layers.",
    ),
    _Rule(
        ("embedding_scale", "token_dropout"),
        lambda spec: spec.vocab is not None,
        "scales token embeddings, and there are none",
        "vocab",
        "Add vocab, such as vocab=30522.",
    ),
    _Rule(
        ("position_offset",),
        lambda spec: spec.learns_positions or spec.position == "sinusoidal_halves",
        "adds rows to a position table, and there is none",
        "position",
        "Add position=learned.",
    ),
    _Rule(
        ("embedding_size",),
        lambda spec: spec.vocab is not None,
        "sets the width of token embeddings, and there are none",
        "vocab",
        "Add vocab, such as vocab=30522.",
    ),
    _Rule(
        ("channels", "patch_stride", "patch_stride_width", "mask_ratio", "video_frames"),
        lambda spec: spec.reads == "image",
        "applies to an image, and the input is not one",
        "image",
        "Add image and patch, such as image=224 patch=16.",
    ),
    _Rule(
        ("relative_terms", "relative_projections", "relative_norm"),
        lambda spec: spec.disentangled,
        "applies to disentangled attention only",
        "position",
        "Add position=disentangled.",
    ),
    _Rule(
        ("relative_gate", "relative_scaled"),
        lambda spec: spec.relative and not spec.disentangled,
        "scales a relative bias, and there is none",
        "position",
        "Add position=relative.",
    ),
    _Rule(
        ("position_kernel", "position_groups", "position_layers", "position_norm"),
        lambda spec: spec.convolves_positions,
        "applies to positional convolutions only",
        "position",
        "Add position=convolution.",
    ),
    _Rule(
        ("conv_widths", "conv_kernels", "conv_strides", "conv_norm", "feature_norm"),
        lambda spec: spec.raw_sound,
        "applies to raw sound only",
        "samples",
        "Add samples=16000 and mels=1.",
    ),
    _Rule(
        ("beside_groups", "beside_activation"),
        lambda spec: spec.beside_kernel is not None,
        "applies to a convolution beside layer 0, and there is none",
        "beside_kernel",
        "Add beside_kernel=3.",
    ),
    _Rule(
        ("pooler_eps",),
        lambda spec: spec.pooler == "norm",
        "sets a number of the pooler's norm, and there is none",
        "pooler",
        "Add pooler=norm.",
    ),
    _Rule(
        ("tube",),
        lambda spec: spec.video_frames is not None,
        "sets the frames of a patch of a video, and there is none",
        "video_frames",
        "Add video_frames=16.",
    ),
    _Rule(
        ("layer_sum", "layer_sum_normed"),
        lambda spec: spec.head in ("classify", "tag"),
        "sets the input of a head that reads tokens, and there is none",
        "head",
        "Add head=tag, or head=classify head_reads=mean.",
    ),
    _Rule(
        ("relative_buckets", "relative_distance", "relative_tables"),
        lambda spec: spec.relative,
        "applies to a relative position table, and there is none",
        "position",
        "Add position=relative, or position=disentangled.",
    ),
    _Rule(
        ("rotary_pairs", "rotary_values"),
        lambda spec: spec.rotary,
        "applies to rotary positions only",
        "position",
        "Add position=rotary.",
    ),
    _Rule(
        ("rotary_base", "rotary_base_local"),
        lambda spec: spec.rotary and not spec.stores_rotation,
        "applies to rotary positions only",
        "position",
        "Add position=rotary.",
    ),
    _Rule(
        ("rotary_divisor",),
        lambda spec: spec.position == "rotary",
        "applies to rotary positions only",
        "position",
        "Add position=rotary.",
    ),
)


def require_read(spec: EncoderSpec, changed: Mapping[str, Any]) -> None:
    """Refuse a field that was set explicitly but has no effect. Files and presets may contain such fields."""
    if isinstance(spec, Seq2SeqSpec):
        _require_read_by_a_stack(spec, changed)
        return
    for rule in RULES:
        for name in rule.fields:
            if changed.get(name) not in (None, NEUTRAL.get(name)) and not rule.read(spec):
                because = f"{rule.because}={field_text(getattr(spec, rule.because))}"
                raise GlassformerError(f"{name}={field_text(changed[name])} {rule.why}: {because}. {rule.way_out}")
    if changed.get("positions") is not None and "position" not in changed and spec.position == "none" and spec.mels is None:
        raise GlassformerError(
            f"positions={spec.positions} sets the rows of a position table, and there is none: position=none. "
            "Add position=learned, or position=none if you mean only the maximum length."
        )


def _require_read_by_a_stack(spec: Seq2SeqSpec, changed: Mapping[str, Any]) -> None:
    """Refuse a field that has no effect in the stack that it was set in; one that was set in both must have an effect in one."""
    for name, value in changed.items():
        own, of_decoder = divided(spec, {name: value})
        refusals: list[GlassformerError | None] = []
        for stack, fields, known in (
            (spec.encoder, own, defaults(EncoderSpec)),
            (spec.decoder, of_decoder, defaults(DecoderSpec)),
        ):
            inside = {inner: item for inner, item in fields.items() if inner in known}
            if inside:
                try:
                    require_read(stack, inside)
                    refusals.append(None)
                except GlassformerError as error:
                    refusals.append(error)
        wrong = [error for error in refusals if error is not None]
        if wrong and len(wrong) == len(refusals):
            raise wrong[0]
