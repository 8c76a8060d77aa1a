"""Rotary angles scaled for longer texts, as decoders' configs describe them (`rope_parameters`, or older `rope_scaling`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from glassformer.configs.huggingface.family import Draft
from glassformer.configs.huggingface.values import REQUIRED, Config
from glassformer.spec.rotary_scales import COMPUTED

# Kinds of scaled rotary angles, each with the keys that set the scaling. None of them changes a count.
SCALINGS: dict[str, frozenset[str]] = {
    "default": frozenset(),
    "linear": frozenset({"factor"}),
    "dynamic": frozenset({"factor", "original_max_position_embeddings"}),
    "llama3": frozenset({"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}),
    "yarn": frozenset(
        """factor attention_factor beta_fast beta_slow mscale mscale_all_dim truncate
        original_max_position_embeddings""".split()
    ),
    "longrope": frozenset("factor attention_factor short_factor long_factor original_max_position_embeddings".split()),
}
SCALING_NAMES = {"su": "longrope"}  # of older files


def unscaled(draft: Draft) -> Any:
    """Read how rotary angles are scaled (`rope_parameters`, or older `rope_scaling`), and return the other parameters."""
    config = draft.config
    new, old = config.get("rope_parameters", None), config.get("rope_scaling", None)
    for key, value in (("rope_parameters", new), ("rope_scaling", old)):
        if not isinstance(value, dict | None):
            raise config.refusal(key, "it must be an object with rope_type.")
    found = old or new or {}
    kind = found.get("rope_type", found.get("type", "default"))
    kind = SCALING_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if not isinstance(kind, str) or kind not in SCALINGS:
        key = "rope_scaling" if old else "rope_parameters"
        raise config.refusal(key, f"its rope_type must be one of {', '.join(SCALINGS)}.", verb="is not supported:")
    fields = draft.fields
    if kind == "linear":
        fields["rotary_divisor"] = _positive(draft, found, "factor")
    elif kind != "default":
        fields["rotary_scaling"] = kind
    if kind in COMPUTED:
        fields["trained_positions"] = trained = _trained(draft, found)
        longer = fields["positions"] / trained if kind == "yarn" and found.get("factor", 0) is None else None
        fields["rotary_factor"] = longer or _positive(draft, found, "factor")
    if kind == "llama3":
        fields.update(
            rotary_slow=_positive(draft, found, "low_freq_factor"), rotary_fast=_positive(draft, found, "high_freq_factor")
        )
    if kind == "yarn":
        _read_yarn(draft, found)
    known = {"rope_type", "type", *SCALINGS[kind]}
    return {**{key: value for key, value in (new or {}).items() if key not in known}, **_rest(old, known)}


def _positive(draft: Draft, scaling: Mapping[str, Any], key: str, default: Any = REQUIRED) -> float:
    number = Config(dict(scaling), draft.config.source).number(key, default, rule="positive number")
    if not number:
        raise draft.config.refusal("rope_scaling", f"its {key} must be a positive number.")
    return float(number)


def _trained(draft: Draft, scaling: dict[str, Any]) -> int:
    """Read the length before the scaling: a separate key in Phi-3's files, else a part of the scaling, else the length."""
    key = "original_max_position_embeddings"
    places = (draft.config.whole(key, None), Config(scaling, draft.config.source).whole(key, None), draft.fields.get("positions"))
    trained = next((place for place in places if place is not None), None)
    if trained is None:
        raise draft.config.refusal("rope_scaling", f"its {key} must be a whole number.")
    return int(trained)


def _read_yarn(draft: Draft, scaling: dict[str, Any]) -> None:
    """Read the turns of fast and slow pairs, and the amplitude, which follows from the factor if it is not given."""

    def amplitude(scale: float | None = None) -> float:
        factor = draft.fields["rotary_factor"]
        return 0.1 * (1 if scale is None else scale) * math.log(factor) + 1 if factor > 1 else 1.0

    inner = Config({key: value for key, value in scaling.items() if value is not None}, draft.config.source)
    if not inner.flag("truncate", default=True):
        raise draft.config.refusal("rope_scaling", "truncate = false is not implemented.")
    names = ("attention_factor", "mscale", "mscale_all_dim")
    given, scale, whole = (inner.number(name) if name in inner.values else None for name in names)
    if given is None:
        given = amplitude(scale) / amplitude(whole) if scale and whole else amplitude()
    slow, fast = (_positive(draft, inner.values, key, default) for key, default in (("beta_slow", 1.0), ("beta_fast", 32.0)))
    draft.fields.update(rotary_slow=slow, rotary_fast=fast, rotary_amplitude=given)


def _rest(old: dict[str, Any] | None, known: set[str]) -> dict[str, Any]:
    """The entries of `rope_scaling` other than the scaling."""
    return {key: value for key, value in (old or {}).items() if key not in known}
