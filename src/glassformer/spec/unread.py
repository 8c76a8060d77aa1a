"""Fields that somebody wrote and nothing would read: they speak of a part that the encoder has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.errors import GlassformerError
from glassformer.spec.fields import field_text


class _Rule(NamedTuple):
    fields: tuple[str, ...]
    read: Callable[[EncoderSpec], bool]  # whether the encoder has what they speak of
    about: str  # what that is
    because: str  # the field that says it is not there
    way_out: str


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
        lambda spec: spec.tie or spec.head in ("mlm", "pretrain"),
        "speaks of a head that predicts tokens, which is not there",
        "head",
        "Add head=mlm.",
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
            if changed.get(name) is not None and not rule.read(spec):
                because = f"{rule.because}={field_text(getattr(spec, rule.because))}"
                raise GlassformerError(f"{name}={field_text(changed[name])} {rule.about}: {because}. {rule.way_out}")
    if changed.get("positions") is not None and "position" not in changed and spec.position == "none" and spec.mels is None:
        raise GlassformerError(
            f"positions={spec.positions} gives rows to a table that is not there: position=none. Add position=learned, "
            "or position=none if only the longest input is meant."
        )
