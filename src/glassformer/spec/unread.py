"""Fields that were set but have no effect: they refer to a part that this encoder lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_fields import MASKED_HEADS, TOKEN_HEADS, defaults
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import field_text
from glassformer.spec.rotary_scales import COMPUTED
from glassformer.spec.seq2seq_spec import Seq2SeqSpec, divided


class _Part(NamedTuple):
    """A part of an encoder that fields refer to."""

    field: str  # the field that removes it
    there: Callable[[EncoderSpec], bool]
    way_out: str


class _Rule(NamedTuple):
    """Fields that refer to a part, and why they have no effect without it."""

    fields: tuple[str, ...]
    part: _Part
    why: str


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
    "project_first": False,
    "relative_gate": False,
    "relative_scaled": False,
    "rotary_amplitude": 1.0,
    "rotary_factor": 1.0,
    "rotary_pairs": "halves",
    "rotary_scaling": "none",
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


CLASS_HEAD = _Part("head", lambda spec: spec.head not in ("none", "mlm"), "Add head=classify, or head=tag.")
NEXT_OR_MASKED = _Part("head", lambda spec: spec.head in MASKED_HEADS or spec.predicts_next, "Add head=mlm.")
MASKED_HEAD = _Part("head", lambda spec: spec.head in MASKED_HEADS, "Add head=mlm.")
HIDDEN_HEAD = _Part(
    "head", lambda spec: spec.head in ("classify", *TOKEN_HEADS, *MASKED_HEADS), "Add head=classify, or head=tag."
)
CLASSIFIER = _Part("head", lambda spec: spec.head == "classify", "Add head=classify.")
READ_POOLER = _Part("head", lambda spec: spec.head not in TOKEN_HEADS or spec.spare_pooler, "Leave pooler out.")
ATTENTION = _Part("mixing", lambda spec: spec.attends, "Leave it out, or give mixing=attention.")
BOTTLENECK = _Part("bottleneck", lambda spec: spec.bottleneck is not None, "Add bottleneck=128.")
ANY_LENGTH = _Part("image", lambda spec: spec.reads in ("tokens", "vectors"), "Leave complete_up_to out.")
TOKEN_HEAD_AND_POOLER = _Part(
    "head", lambda spec: spec.head in TOKEN_HEADS and spec.pooler != "none", "Add pooler=dense and head=mlm, or leave it out."
)
POOLED_NORM = _Part(
    "head",
    lambda spec: spec.final_norm != "pooled" or (spec.has_pooler and spec.pooler != "attention"),
    "Add final_norm=all, or leave it out.",
)
POOLED = _Part("head", _pools, "Add head=classify, or pooler=dense.")
PRE_NORM = _Part("norm", lambda spec: spec.norm == "pre", "Add norm=pre.")
SHARED_LAYERS = _Part("share_layers", lambda spec: spec.share_layers is not None, "Add share_layers.")
TOKENS = _Part("vocab", lambda spec: spec.vocab is not None, "Add vocab, such as vocab=30522.")
POSITION_TABLE = _Part(
    "position", lambda spec: spec.learns_positions or spec.position == "sinusoidal_halves", "Add position=learned."
)
IMAGE = _Part("image", lambda spec: spec.reads == "image", "Add image and patch, such as image=224 patch=16.")
DISENTANGLED = _Part("position", lambda spec: spec.disentangled, "Add position=disentangled.")
RELATIVE_BIAS = _Part("position", lambda spec: spec.relative and not spec.disentangled, "Add position=relative.")
CONVOLVED = _Part("position", lambda spec: spec.convolves_positions, "Add position=convolution.")
RAW_SOUND = _Part("samples", lambda spec: spec.raw_sound, "Add samples=16000 and mels=1.")
BESIDE = _Part("beside_kernel", lambda spec: spec.beside_kernel is not None, "Add beside_kernel=3.")
NORMED_POOLER = _Part("pooler", lambda spec: spec.pooler == "norm", "Add pooler=norm.")
VIDEO = _Part("video_frames", lambda spec: spec.video_frames is not None, "Add video_frames=16.")
STATES_HEAD = _Part("head", lambda spec: spec.head in ("classify", "tag"), "Add head=tag, or head=classify head_reads=mean.")
RELATIVE_TABLE = _Part("position", lambda spec: spec.relative, "Add position=relative, or position=disentangled.")
ROTARY = _Part("position", lambda spec: spec.rotary, "Add position=rotary.")
COMPUTED_ROTARY = _Part("position", lambda spec: spec.rotary and not spec.stores_rotation, "Add position=rotary.")
SEQUENCE_ROTARY = _Part("position", lambda spec: spec.position == "rotary", "Add position=rotary.")

# Sizes of a full layer are allowed with block=attention (block=attention d_ff=2048), since textbooks list them together.
RULES = (
    _Rule(("classes",), CLASS_HEAD, "sets the size of a head with classes, and there is none"),
    _Rule(("tie",), NEXT_OR_MASKED, "applies to a head that predicts tokens, and there is none"),
    _Rule(("spare_bias", "head_dense"), MASKED_HEAD, "applies to a head that predicts tokens, and there is none"),
    _Rule(("head_width",), MASKED_HEAD, "sets the hidden layer of a head that predicts tokens, and there is none"),
    _Rule(("head_hidden",), HIDDEN_HEAD, "sets the hidden layer of a head, and there is no head with one"),
    _Rule(("head_reads",), CLASSIFIER, "sets the input of a classifier, and there is none"),
    _Rule(("pooler",), READ_POOLER, "has no effect, since the head reads every token"),
    _Rule(("heads", "kv_heads", "d_k", "d_v", "scale"), ATTENTION, "describes attention, and there is none"),
    _Rule(("bottleneck_reads",), BOTTLENECK, "applies to layers inside a bottleneck, and there is none"),
    _Rule(("wide_output",), MASKED_HEAD, "widens the output matrix of a head that predicts tokens, and there is none"),
    _Rule(("complete_up_to",), ANY_LENGTH, "limits the length of a text, and the input is of one length"),
    _Rule(("spare_pooler",), TOKEN_HEAD_AND_POOLER, "keeps a pooler beside a head that reads tokens, and there is none"),
    _Rule(("final_norm",), POOLED_NORM, "normalises the pooled vector, which nothing uses"),
    _Rule(("pool",), POOLED, "selects the pooled tokens, which nothing uses"),
    _Rule(("first_norm",), PRE_NORM, "sets a norm before the attention, and there is none"),
    _Rule(("layer_cycle",), SHARED_LAYERS, "sets how layers share weights, and none do"),
    _Rule(("embedding_scale", "token_dropout"), TOKENS, "scales token embeddings, and there are none"),
    _Rule(("position_offset",), POSITION_TABLE, "adds rows to a position table, and there is none"),
    _Rule(("embedding_size",), TOKENS, "sets the width of token embeddings, and there are none"),
    _Rule(
        ("project_first",),
        _Part("embedding_size", lambda spec: spec.embedding_size is not None, "Add embedding_size, such as embedding_size=512."),
        "projects token embeddings before positions are added, and they are not projected",
    ),
    _Rule(
        ("channels", "patch_stride", "patch_stride_width", "mask_ratio", "video_frames"),
        IMAGE,
        "applies to an image, and the input is not one",
    ),
    _Rule(("relative_terms", "relative_projections", "relative_norm"), DISENTANGLED, "applies to disentangled attention only"),
    _Rule(("relative_gate", "relative_scaled"), RELATIVE_BIAS, "scales a relative bias, and there is none"),
    _Rule(
        ("position_kernel", "position_groups", "position_layers", "position_norm"),
        CONVOLVED,
        "applies to positional convolutions only",
    ),
    _Rule(("conv_widths", "conv_kernels", "conv_strides", "conv_norm", "feature_norm"), RAW_SOUND, "applies to raw audio only"),
    _Rule(("beside_groups", "beside_activation"), BESIDE, "applies to a convolution beside layer 0, and there is none"),
    _Rule(("pooler_eps",), NORMED_POOLER, "sets a number of the pooler's norm, and there is none"),
    _Rule(("tube",), VIDEO, "sets the frames of a patch of a video, and there is none"),
    _Rule(("layer_sum", "layer_sum_normed"), STATES_HEAD, "sets the input of a head that reads tokens, and there is none"),
    _Rule(
        ("relative_buckets", "relative_distance", "relative_tables"),
        RELATIVE_TABLE,
        "applies to a relative position table, and there is none",
    ),
    _Rule(("rotary_pairs", "rotary_values"), ROTARY, "applies to rotary positions only"),
    _Rule(("rotary_base", "rotary_base_local"), COMPUTED_ROTARY, "applies to rotary positions only"),
    _Rule(("rotary_divisor",), SEQUENCE_ROTARY, "applies to rotary positions only"),
    _Rule(("rotary_width", "rotary_scaling"), SEQUENCE_ROTARY, "applies to rotary positions only"),
    _Rule(
        ("rotary_factor", "rotary_slow", "rotary_fast", "trained_positions", "rotary_amplitude"),
        _Part("rotary_scaling", lambda spec: spec.rotary_scaling in COMPUTED, "Add rotary_scaling=llama3."),
        "describes scaled rotary angles, and there are none",
    ),
)


def require_read(spec: EncoderSpec, changed: Mapping[str, Any]) -> None:
    """Refuse a field that was set explicitly but has no effect. Files and presets may contain such fields."""
    if isinstance(spec, Seq2SeqSpec):
        _require_read_by_a_stack(spec, changed)
        return
    for rule in RULES:
        for name in rule.fields:
            if changed.get(name) not in (None, NEUTRAL.get(name)) and not rule.part.there(spec):
                because = f"{rule.part.field}={field_text(getattr(spec, rule.part.field))}"
                raise GlassformerError(f"{name}={field_text(changed[name])} {rule.why}: {because}. {rule.part.way_out}")
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
