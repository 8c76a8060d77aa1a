"""Fields that somebody wrote and nothing would read: they speak of a part that the encoder has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glassformer.spec.encoder_spec import MASKED_HEADS, TOKEN_HEADS, EncoderSpec
from glassformer.spec.errors import GlassformerError
from glassformer.spec.fields import field_text


class _Rule(NamedTuple):
    fields: tuple[str, ...]
    read: Callable[[EncoderSpec], bool]  # whether the encoder has what they speak of
    about: str  # what that is
    because: str  # the field that says it is not there
    way_out: str
    free: Any = None  # a value that asks for nothing, such as head_hidden=none: it says what is so, and may be written anywhere


def _pools(spec: EncoderSpec) -> bool:
    """Whether some tokens are taken to stand for the whole input."""
    if spec.head in TOKEN_HEADS or spec.pooler == "attention":
        return False
    classifier = spec.head == "classify" and spec.head_reads == "pooled"
    return classifier or spec.head in ("project", "pretrain") or spec.pooler != "none" or spec.final_norm == "pooled"


# The sizes of a whole layer may stand beside the attention that is asked about (block=attention, d_ff=2048), as in textbooks.
RULES = (
    _Rule(
        ("classes",),
        lambda spec: spec.head not in ("none", "mlm"),
        "is the size of a head that is not there",
        "head",
        "Add head=classify, or head=tag.",
    ),
    _Rule(
        ("tie",),
        lambda spec: spec.head in MASKED_HEADS,
        "speaks of a head that predicts tokens, which is not there",
        "head",
        "Add head=mlm.",
        free=True,
    ),
    _Rule(
        ("spare_bias",),
        lambda spec: spec.head in MASKED_HEADS,
        "speaks of a head that predicts tokens, which is not there",
        "head",
        "Add head=mlm.",
        free=False,
    ),
    _Rule(
        ("head_hidden",),
        lambda spec: spec.head in ("classify", *TOKEN_HEADS, *MASKED_HEADS),
        "speaks of a hidden layer in the head, and there is no head that has one",
        "head",
        "Add head=classify, or head=tag.",
        free="none",
    ),
    _Rule(
        ("head_reads",),
        lambda spec: spec.head == "classify",
        "says what a classifier reads, and there is none",
        "head",
        "Add head=classify.",
        free="pooled",
    ),
    _Rule(
        ("pooler",),
        lambda spec: spec.head not in TOKEN_HEADS,
        "would be read by nothing: the head reads every token",
        "head",
        "Leave pooler out.",
        free="none",
    ),
    _Rule(
        ("final_norm",),
        lambda spec: spec.final_norm != "pooled" or (spec.head not in TOKEN_HEADS and spec.pooler != "attention"),
        "normalises one vector for the whole input, and nothing reads such a one",
        "head",
        "Add final_norm=all, or leave it out.",
    ),
    _Rule(
        ("pool",),
        _pools,
        "says which tokens stand for the whole input, and nothing reads those",
        "head",
        "Add head=classify, or pooler=dense.",
        free="first",
    ),
    _Rule(
        ("first_norm",),
        lambda spec: spec.norm == "pre",
        "speaks of a norm before the attention, which is not there",
        "norm",
        "Add norm=pre.",
        free=True,
    ),
    _Rule(
        ("layer_cycle",),
        lambda spec: spec.share_layers is not None,
        "says how layers that share weights take turns, and none do",
        "share_layers",
        "Add share_layers.",
        free=1,
    ),
    _Rule(
        ("embedding_scale",),
        lambda spec: spec.vocab is not None,
        "multiplies the rows of a token table that is not there",
        "vocab",
        "Add vocab, such as vocab=30522.",
        free="none",
    ),
    _Rule(
        ("position_offset",),
        lambda spec: spec.learns_positions,
        "gives rows to a table of positions that is not there",
        "position",
        "Add position=learned.",
        free=0,
    ),
    _Rule(
        ("embedding_size",),
        lambda spec: spec.vocab is not None,
        "is the width of a token table that is not there",
        "vocab",
        "Add vocab, such as vocab=30522.",
    ),
    _Rule(
        ("channels",),
        lambda spec: spec.reads == "image",
        "speaks of an image, and none is read",
        "image",
        "Add image and patch, such as image=224 patch=16.",
    ),
    _Rule(
        ("relative_terms", "relative_projections", "relative_norm"),
        lambda spec: spec.disentangled,
        "speaks of disentangled attention, which is not there",
        "position",
        "Add position=disentangled.",
    ),
    _Rule(
        ("relative_buckets", "relative_distance", "relative_tables"),
        lambda spec: spec.relative,
        "speaks of a relative table that is not there",
        "position",
        "Add position=relative, or position=disentangled.",
    ),
    _Rule(
        ("rotary_base", "rotary_base_local"),
        lambda spec: spec.position == "rotary",
        "speaks of rotary positions, which are not there",
        "position",
        "Add position=rotary.",
    ),
)


def require_read(spec: EncoderSpec, changed: Mapping[str, Any]) -> None:
    """Refuse a field that was asked for and changes nothing. A file may hold such fields, and so may a preset."""
    for rule in RULES:
        for name in rule.fields:
            if changed.get(name) not in (None, rule.free) and not rule.read(spec):
                because = f"{rule.because}={field_text(getattr(spec, rule.because))}"
                raise GlassformerError(f"{name}={field_text(changed[name])} {rule.about}: {because}. {rule.way_out}")
    if changed.get("positions") is not None and "position" not in changed and spec.position == "none" and spec.mels is None:
        raise GlassformerError(
            f"positions={spec.positions} gives rows to a table that is not there: position=none. Add position=learned, "
            "or position=none if only the longest input is meant."
        )
