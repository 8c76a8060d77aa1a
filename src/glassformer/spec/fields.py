"""The values a field may take: type, choices and range, and parsing them from text."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from glassformer.errors import GlassformerError, UnknownFieldError, nearest, shown
from glassformer.spec.encoder_fields import ALL_BIASES, EncoderFields

LARGEST = 10**9  # far above the axes of real encoders; anything larger is a typing error
LARGEST_NUMBER = 1e300  # excludes NaN, infinity, and integers too large for a float
MOST_LAYERS = 2000  # each layer becomes its own steps
LONG_LIST, MANY = 200, 10  # characters of a list of choices, and how many of a longer one are shown
MOST_SIZES = 32  # of a list, such as the kernels of convolutions: each becomes its own steps
MOST_TOKENS = 64  # each class or register token becomes its own step

FRACTION = "number from 0 up to, but not including, 1"

Kind = Literal["whole", "number", "yes_no", "choice", "places", "sizes", "record"]

# Spellings accepted for booleans.
YES = ("true", "yes", "on", "1")
NO = ("false", "no", "off", "0", "none")
# Names of the fields in other libraries, too different for a spelling suggestion.
OTHER_NAMES = {
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
    """The values that one field of the spec may take."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    optional: bool = False
    least: int = 1
    most: int = LARGEST


FRACTIONS = ("dropout", "mask_ratio")  # numbers from 0 to below 1; the others are positive

# Ranges other than 1 to 10^9.
RANGES = {
    "layers": (0, MOST_LAYERS),
    "position_offset": (0, 1024),
    "token_dropout": (0, LARGEST),
    "relative_buckets": (2, LARGEST),
    "relative_distance": (2, LARGEST),
    "class_tokens": (0, MOST_TOKENS),
    "registers": (0, MOST_TOKENS),
    "share_layers": (1, MOST_LAYERS),
    "layer_cycle": (1, MOST_LAYERS),
    "global_every": (1, MOST_LAYERS),
    "global_offset": (0, MOST_LAYERS),
    "ffn_blocks": (1, MOST_SIZES),
    "token_kernel": (1, MOST_SIZES),
}


@lru_cache(maxsize=8)
def field_rules(of: Any = EncoderFields) -> dict[str, FieldRule]:
    """Return field name -> rule, derived from the types of the fields."""
    hints = get_type_hints(of)
    return {item.name: _rule(item.name, hints[item.name]) for item in dataclasses.fields(of)}


def _rule(name: str, hint: Any) -> FieldRule:
    optional = get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint)
    if optional:
        hint = next(part for part in get_args(hint) if part is not type(None))
    least, most = RANGES.get(name, (1, LARGEST))
    if get_origin(hint) is Literal:
        return FieldRule(name, "choice", get_args(hint), optional)
    if get_origin(hint) is tuple:
        if get_args(hint)[0] is int:
            return FieldRule(name, "sizes")
        return FieldRule(name, "places", ALL_BIASES)
    if dataclasses.is_dataclass(hint):
        return FieldRule(name, "record")
    kinds: dict[Any, Kind] = {bool: "yes_no", int: "whole", float: "number"}
    return FieldRule(name, kinds[hint], (), optional, least, most)


def rule_for(name: str, *, of: Any = EncoderFields, also: tuple[str, ...] = ()) -> FieldRule:
    """Return the rule of a field; for an unknown name, raise an error that suggests a known one (`also`: other valid names)."""
    rules = field_rules(of)
    if name not in rules:
        known = [*rules, *also]
        other = OTHER_NAMES.get(name.lower())
        meant = other if other in known else None
        raise UnknownFieldError(name, known, "'glassformer presets --fields' lists the fields.", meant=meant)
    return rules[name]


def accept(name: str, value: Any, of: Any = EncoderFields) -> Any:
    """Return `value` in the field's type: parse text, check other types; errors name the field, the value and the rule."""
    rule = rule_for(name, of=of)
    if isinstance(value, str):
        value = _read(rule, value)
    if name == "share_layers" and isinstance(value, bool):
        value = 1 if value else None  # all layers share one set of weights, or each has its own
    if value is None:
        if rule.optional:
            return None
        raise GlassformerError(f"{name}=none is not allowed: {_allowed(rule)}")
    return _CHECKS[rule.kind](rule, value)


def _read(rule: FieldRule, text: str) -> Any:
    word = text.strip()
    absent = ("auto", "") if "none" in rule.choices else ("none", "auto", "")  # final_norm=none is a choice, not "not given"
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
    if rule.kind in ("places", "sizes"):
        return _places(word) if rule.kind == "places" else _sizes(rule, word)
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
    """Parse 12, 30522, 30,522 or 30_522; return None for anything else, such as 1,5, a decimal in many countries."""
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


def _sizes(rule: FieldRule, word: str) -> tuple[int, ...]:
    if word.lower() in NO:
        return ()
    return tuple(_whole_number(rule, part.strip()) for part in word.split(","))


def _refusal(rule: FieldRule, value: object) -> GlassformerError:
    written = shown(",".join(str(part) for part in value) if isinstance(value, tuple) else value)
    return GlassformerError(f"{rule.name}={written} is not allowed: {_allowed(rule)}{nearest(written, rule.choices)}")


def _listed(choices: Sequence[str]) -> str:
    """Return the choices; of very many the first, and where all of them are listed."""
    if len(", ".join(choices)) <= LONG_LIST:
        return ", ".join(choices)
    return f"{', '.join(choices[:MANY])}, … ({len(choices)} in all: 'glassformer presets --fields')"


def _allowed(rule: FieldRule) -> str:
    what = {
        "whole": f"{rule.name} must be a whole number from {rule.least:,} to {rule.most:,}",
        "number": f"{rule.name} must be a {FRACTION if rule.name in FRACTIONS else 'positive number'}",
        "yes_no": f"{rule.name} must be true or false",
        "choice": f"{rule.name} must be one of {_listed(rule.choices)}",
        "places": f"{rule.name} must be all, none or a list of {', '.join(rule.choices)}",
        "record": f"{rule.name} is a record: set its fields, as in {rule.name}.layers=6",
        "sizes": f"{rule.name} must be none or a list of at most {MOST_SIZES} whole numbers, such as 10,3,3",
    }[rule.kind]
    return what + (", or none." if rule.optional and "none" not in rule.choices else ".")


def _check_whole(rule: FieldRule, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not rule.least <= int(value) <= rule.most:
        raise _refusal(rule, value)
    return int(value)  # also NumPy integers


def _check_number(rule: FieldRule, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _refusal(rule, value)
    try:
        number = float(value) + 0.0  # -0 is 0
    except OverflowError:
        raise _refusal(rule, value) from None
    if not (0 <= number < 1 if rule.name in FRACTIONS else 0 < number <= LARGEST_NUMBER):
        raise _refusal(rule, value)
    return number


def _check_yes_no(rule: FieldRule, value: Any) -> bool:
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # NumPy's own booleans
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
    both = {*value, "ffn_output"} if "ffn" in value else value  # one place for all projections, and one for the last alone
    return tuple(place for place in ALL_BIASES if place in both)


def _check_record(rule: FieldRule, value: Any) -> Any:
    if not dataclasses.is_dataclass(value):
        raise _refusal(rule, value)
    return value


def _check_sizes(rule: FieldRule, value: Any) -> tuple[int, ...]:
    whole = isinstance(value, tuple | list) and all(isinstance(size, Integral) and not isinstance(size, bool) for size in value)
    if not whole or len(value) > MOST_SIZES or any(not rule.least <= size <= rule.most for size in value):
        raise _refusal(rule, tuple(value) if isinstance(value, list) else value)
    return tuple(int(size) for size in value)


_CHECKS = {
    "whole": _check_whole,
    "number": _check_number,
    "yes_no": _check_yes_no,
    "choice": _check_choice,
    "places": _check_places,
    "record": _check_record,
    "sizes": _check_sizes,
}


def field_text(value: Any) -> str:
    """Return a value as it is written after `field=`."""
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value) or "none"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
