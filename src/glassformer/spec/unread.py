"""Fields that somebody wrote and nothing would read: they speak of a part that the encoder has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.errors import GlassformerError


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
                value = str(changed[name]).lower() if isinstance(changed[name], bool) else changed[name]
                raise GlassformerError(
                    f"{name}={value} {rule.about}: {rule.because}={getattr(spec, rule.because)}. {rule.way_out}"
                )
    if changed.get("positions") is not None and "position" not in changed and spec.position == "none" and spec.mels is None:
        raise GlassformerError(
            f"positions={spec.positions} gives rows to a table that is not there: position=none. Add position=learned, "
            "or position=none if only the longest input is meant."
        )
