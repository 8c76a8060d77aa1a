"""What a field may hold: its kind, its choices, its range, and reading it from text."""

from __future__ import annotations

import dataclasses
import math
import re
from functools import lru_cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from glassformer.spec.encoder_spec import ALL_BIASES, EncoderSpec
from glassformer.spec.errors import GlassformerError, UnknownFieldError, nearest, shown

LARGEST = 10**9  # No axis of any encoder comes near; past it a figure is a typing slip, not a size.
LARGEST_NUMBER = 1e300  # neither NaN nor infinity nor a whole number that no float can hold comes below it
MOST_LAYERS = 2000  # Each layer is written out, step by step.
MOST_TOKENS = 64  # Class and register tokens are written out one by one.

SHARE = "share from 0 up to, but not including, 1"

Kind = Literal["whole", "number", "yes_no", "choice", "places"]

# Words that stand for a choice, because people write them.
YES = ("true", "yes", "on", "1")
NO = ("false", "no", "off", "0", "none")
# What other programs call a field: nothing in the letters leads from one name to the other.
ELSEWHERE = {
    "batch_size": "batch",
    "context_length": "t",
    "dim": "d_model",
    "embed_dim": "d_model",
    "ff_dim": "d_ff",
    "ffn_dim": "d_ff",
    "head_dim": "d_k",
    "hidden_act": "activation",
    "hidden_dim": "d_model",
    "hidden_dropout_prob": "dropout",
    "hidden_size": "d_model",
    "image_size": "image",
    "intermediate_size": "d_ff",
    "layer_norm_eps": "eps",
    "max_position_embeddings": "positions",
    "n": "t",
    "n_embd": "d_model",
    "n_kv_heads": "kv_heads",
    "n_mels": "mels",
    "num_attention_heads": "heads",
    "num_channels": "channels",
    "num_classes": "classes",
    "num_hidden_layers": "layers",
    "num_key_value_heads": "kv_heads",
    "num_kv_heads": "kv_heads",
    "num_labels": "classes",
    "num_mel_bins": "mels",
    "patch_size": "patch",
    "seq_len": "t",
    "seq_length": "t",
    "sequence_length": "t",
    "tie_word_embeddings": "tie",
    "type_vocab_size": "segments",
    "vocab_size": "vocab",
    "width": "d_model",
}


@dataclasses.dataclass(frozen=True)
class FieldRule:
    """What one field of the spec may hold."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    optional: bool = False
    least: int = 1
    most: int = LARGEST


# Ranges that are not 1 … 10^9.
RANGES = {
    "layers": (0, MOST_LAYERS),
    "position_offset": (0, 1024),
    "relative_buckets": (2, LARGEST),
    "relative_distance": (2, LARGEST),
    "class_tokens": (0, MOST_TOKENS),
    "registers": (0, MOST_TOKENS),
    "share_layers": (1, MOST_LAYERS),
    "layer_cycle": (1, MOST_LAYERS),
    "global_every": (1, MOST_LAYERS),
}


@lru_cache(maxsize=1)
def field_rules() -> dict[str, FieldRule]:
    """Field name -> rule, read off the types of `EncoderSpec`."""
    hints = get_type_hints(EncoderSpec)
    return {item.name: _rule(item.name, hints[item.name]) for item in dataclasses.fields(EncoderSpec)}


def _rule(name: str, hint: Any) -> FieldRule:
    optional = get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint)
    if optional:
        hint = next(part for part in get_args(hint) if part is not type(None))
    least, most = RANGES.get(name, (1, LARGEST))
    if get_origin(hint) is Literal:
        return FieldRule(name, "choice", get_args(hint), optional)
    if get_origin(hint) is tuple:
        return FieldRule(name, "places", ALL_BIASES)
    kinds: dict[Any, Kind] = {bool: "yes_no", int: "whole", float: "number"}
    return FieldRule(name, kinds[hint], (), optional, least, most)


def rule_for(name: str, *, also: tuple[str, ...] = ()) -> FieldRule:
    """The rule of a field, or an error that names the nearest field (`also`: other names known to the caller)."""
    rules = field_rules()
    if name not in rules:
        known = [*rules, *also]
        elsewhere = ELSEWHERE.get(name.lower())
        meant = elsewhere if elsewhere in known else None
        raise UnknownFieldError(name, known, "'glassformer presets --fields' lists the fields.", meant=meant)
    return rules[name]


def accept(name: str, value: Any) -> Any:
    """`value` as the field holds it: text is read, other types are checked; the error names field, value and rule."""
    rule = rule_for(name)
    if isinstance(value, str):
        value = _read(rule, value)
    if name == "share_layers" and isinstance(value, bool):
        value = 1 if value else None  # all layers share one set of weights, or none do
    if value is None:
        if rule.optional:
            return None
        raise GlassformerError(f"{name}=none: {name} must be given. {_allowed(rule)}")
    return _CHECKS[rule.kind](rule, value)


def _read(rule: FieldRule, text: str) -> Any:
    word = text.strip()
    absent = ("auto", "") if "none" in rule.choices else ("none", "auto", "")  # final_norm=none is a choice, not an absence
    if rule.optional and word.lower() in absent:
        return None
    if rule.kind == "whole":
        if rule.name == "share_layers" and word.lower() in (*YES[:3], *NO):
            return word.lower() in YES
        return _whole_number(rule, word)
    if rule.kind == "number":
        return _number(rule, word)
    if rule.kind == "yes_no":
        if word.lower() in (*YES, *NO):
            return word.lower() in YES
        raise _refusal(rule, text)
    if rule.kind == "places":
        return _places(word)
    if word.lower() in YES and rule.name == "pooler":
        return "dense"
    choice = word.replace("-", "_")
    if choice.lower() in rule.choices:
        return choice.lower()
    return "none" if word.lower() in NO and "none" in rule.choices else choice


def _whole_number(rule: FieldRule, word: str) -> int:
    number = whole_number(word)
    if number is None:
        raise _refusal(rule, word)
    return number


def whole_number(word: str) -> int | None:
    """12, 30522, 30,522 or 30_522; None for everything else, among it 1,5, which is one and a half to many."""
    if len(word) > 40 or not re.fullmatch(r"[+-]?([0-9]+|[0-9]{1,3}(,[0-9]{3})+|[0-9]+(_[0-9]+)+)", word):
        return None
    return int(word.replace("_", "").replace(",", ""))


def _number(rule: FieldRule, word: str) -> float:
    try:
        return float(word) if len(word) <= 40 else math.nan
    except ValueError:
        raise _refusal(rule, word) from None


def _places(word: str) -> tuple[str, ...]:
    if word.lower() in ("all", *YES):
        return ALL_BIASES
    if word.lower() in NO:
        return ()
    return tuple(part.strip() for part in word.split(","))


def _refusal(rule: FieldRule, value: object) -> GlassformerError:
    written = shown(",".join(str(part) for part in value) if isinstance(value, tuple) else value)
    return GlassformerError(f"{rule.name}={written} is not allowed: {_allowed(rule)}{nearest(written, rule.choices)}")


def _allowed(rule: FieldRule) -> str:
    what = {
        "whole": f"{rule.name} is a whole number from {rule.least:,} to {rule.most:,}",
        "number": f"{rule.name} is a {SHARE if rule.name == 'dropout' else 'positive number'}",
        "yes_no": f"{rule.name} is true or false",
        "choice": f"{rule.name} is one of {', '.join(rule.choices)}",
        "places": f"{rule.name} is all, none or a list of {', '.join(rule.choices)}",
    }[rule.kind]
    return what + (", or none." if rule.optional and "none" not in rule.choices else ".")


def _check_whole(rule: FieldRule, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not rule.least <= int(value) <= rule.most:
        raise _refusal(rule, value)
    return int(value)  # NumPy's whole numbers are whole numbers, too


def _check_number(rule: FieldRule, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _refusal(rule, value)
    try:
        number = float(value) + 0.0  # -0 is 0
    except OverflowError:
        raise _refusal(rule, value) from None
    if not (0 <= number < 1 if rule.name == "dropout" else 0 < number <= LARGEST_NUMBER):
        raise _refusal(rule, value)
    return number


def _check_yes_no(rule: FieldRule, value: Any) -> bool:
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # NumPy's yes is a yes, too
        raise _refusal(rule, value)
    return bool(value)


def _check_choice(rule: FieldRule, value: Any) -> str:
    if isinstance(value, bool):
        return _check_choice(rule, _read(rule, str(value)))
    if not isinstance(value, str) or value not in rule.choices:
        raise _refusal(rule, value)
    return str(value)


def _check_places(rule: FieldRule, value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ALL_BIASES if value else ()
    if not isinstance(value, tuple | list | set | frozenset) or any(place not in ALL_BIASES for place in value):
        raise _refusal(rule, value)
    return tuple(place for place in ALL_BIASES if place in value)


_CHECKS = {
    "whole": _check_whole,
    "number": _check_number,
    "yes_no": _check_yes_no,
    "choice": _check_choice,
    "places": _check_places,
}


def field_text(value: Any) -> str:
    """The value of a field as one writes it after `field=`."""
    if isinstance(value, tuple):
        return ",".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
