"""Typed access to the values of a config.json; errors name the file's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.spec.encoder_fields import GATES
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import FRACTION, FRACTIONS, LARGEST, LARGEST_NUMBER, MOST_SIZES, field_rules
from glassformer.spec.rules import nearest_divisor
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

Fields = dict[str, Any]

REQUIRED: Any = object()  # the default of a required key: sizes are never guessed

# Many functions have several names, and the variants of `gelu_new` differ only by rounding.
ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
# Function of the gate -> name of the gated block, for the functions that a file can name.
GATED = {function: name for name, function in GATES.items() if function in ACTIVATIONS.values()}


class Config:
    """The values of a config, by key. Keys that are read are recorded; the others are unknown."""

    def __init__(
        self, values: Mapping[str, Any], source: str, *, synonyms: Mapping[str, str] | None = None, nested: bool = False
    ) -> None:
        self.values = values
        self.source = source
        self.nested = nested  # a config inside another one contains only what differs from the defaults of its class
        self.asked: set[str] = set()
        self.written: dict[str, str] = {}  # key -> the synonym that the file uses
        for other, key in (synonyms or {}).items():
            if other not in values:
                continue
            self.asked.add(other)
            if key in values and values[key] != values[other]:
                raise self.refusal(
                    other, f"it contradicts {key} = {value_text(values[key])}, which has the same meaning. Keep one of them."
                )
            self.written[key] = other if key not in values else key

    def name(self, key: str) -> str:
        """Return the key as written in the file."""
        return self.written.get(key, key)

    def get(self, key: str, default: Any = REQUIRED) -> Any:
        """Return the value in the file, or the default."""
        self.asked.add(key)
        value = self.values.get(self.name(key))
        if value is None and default is REQUIRED:
            what = "is null" if self.name(key) in self.values else "is missing"
            raise GlassformerError(f"{self.source}: {self.name(key)} {what}. Add it to the file: sizes are not guessed.")
        if value is None and (default is None or self.name(key) not in self.values):
            return default
        return value

    def refusal(self, key: str, why: str, *, verb: str = "is not allowed:") -> GlassformerError:
        """Return an error that names the file, the key, the value and the rule."""
        value = value_text(self.values.get(self.name(key)))
        return GlassformerError(f"{self.source}: {self.name(key)} = {value} {verb} {why}")

    def whole(self, key: str, default: Any = REQUIRED, *, least: int = 1, most: int = LARGEST) -> Any:
        """Return a whole number in range; text, 12.0, true and lists are refused."""
        value = self.get(key, default)
        if value is None and default is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refusal(key, f"{self.name(key)} must be a whole number from {least:,} to {most:,}.")
        return value

    def sizes(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers, such as the kernels of several convolutions."""
        value = self.get(key)
        whole = isinstance(value, list | tuple) and all(isinstance(size, int) and not isinstance(size, bool) for size in value)
        if not whole or not 1 <= len(value) <= MOST_SIZES or any(not 1 <= size <= LARGEST for size in value):
            raise self.refusal(key, f"{self.name(key)} must be a list of 1 to {MOST_SIZES} whole numbers from 1 to {LARGEST:,}.")
        return tuple(value)

    def number(self, key: str, default: Any = REQUIRED, *, least: float = 0.0, rule: str = "") -> Any:
        """Return a finite number."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= LARGEST_NUMBER:
            raise self.refusal(key, f"{self.name(key)} must be a {rule or f'number, {least:g} or more'}.")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false; 0, 1 and text are refused."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise self.refusal(key, f"{self.name(key)} must be true or false.")
        return value

    def word(self, key: str, default: str, known: tuple[str, ...]) -> str:
        """Return a string that is one of the known ones."""
        value = self.get(key, default)
        if value not in known:
            raise self.unknown_word(key, value, known)
        return str(value)

    def unknown_word(self, key: str, value: Any, known: tuple[str, ...]) -> GlassformerError:
        hint = nearest(value, known) if isinstance(value, str) else ""
        return self.refusal(key, f"{self.name(key)} must be one of {', '.join(known)}.{hint}", verb="is not supported:")

    def activation(self, key: str, default: str) -> str:
        """Return our name of an activation."""
        return ACTIVATIONS[self.word(key, default, tuple(ACTIVATIONS))]

    def pair(self, key: str, default: Any = REQUIRED) -> tuple[int, int]:
        """Return a height and a width, from one whole number for both or a list of two."""
        value = self.get(key, default)
        sides = value if isinstance(value, list | tuple) and len(value) == 2 else [value, value]
        if not all(isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= LARGEST for side in sides):
            raise self.refusal(key, f"{self.name(key)} must be a whole number from 1 to {LARGEST:,}, or [height, width].")
        return sides[0], sides[1]

    def rope(self, key: str, default: float, parameters: Any = None) -> float:
        """Return the base of the rotary angles: `rope_theta` in `parameters`, or the key `key`; scaled angles are refused."""
        if not isinstance(parameters, dict | None):
            raise self.refusal("rope_parameters", "it must be an object with rope_theta.")
        inner = Config(parameters or {}, self.source)
        kind = inner.get("rope_type", "default")
        if kind != "default":
            raise GlassformerError(
                f"{self.source}: rope_parameters.rope_type = {value_text(kind)} is not supported: "
                "scaled rotary angles are not implemented."
            )
        base = inner.number("rope_theta", self.number(key, default))
        inner.refuse_unknown("rope_parameters.")
        if not base:
            raise GlassformerError(
                f"{self.source}: {key} = 0 is not allowed: the base of rotary angles must be a positive number."
            )
        return float(base)

    def refuse_unknown(self, prefix: str = "", aside: tuple[str, ...] = ()) -> None:
        """Refuse the first key that was not read and has a value: it may change the computation."""
        for key, value in self.values.items():
            if key not in self.asked and key not in aside and not says_nothing(value):
                raise GlassformerError(
                    f"{self.source}: {prefix}{shown(key)} = {value_text(value)} is not a known key, and may change what is "
                    "computed. Remove it if it does not."
                )


def field_value(config: Config, key: str, field: str, default: Any) -> Any:
    """Return the value of a key as a spec field: checked against the field's range, with errors that name the key."""
    field = field.rpartition(".")[2]  # decoder.layers has the rule of layers
    rule = field_rules()[field]
    if field == "activation":
        return config.activation(key, default)
    if rule.kind == "whole":
        return config.whole(key, default, least=rule.least, most=rule.most)
    if rule.kind == "yes_no":
        return config.flag(key, default=default)
    if rule.kind == "sizes":
        return config.sizes(key)
    positive = "positive number" if field not in FRACTIONS else ""
    value = config.number(key, default, rule=positive)
    if field in FRACTIONS and value >= 1:
        raise config.refusal(key, f"{config.name(key)} must be a {FRACTION}.")
    if field not in FRACTIONS and value <= 0:
        raise config.refusal(key, f"{config.name(key)} must be a {positive}.")
    return value


def build_spec(fields: Fields, names: Mapping[str, str], source: str, kind: type[EncoderSpec] = EncoderSpec) -> EncoderSpec:
    """Return the spec; if its rules refuse the fields, the message names the keys of the config."""
    for stack in ("", "encoder.", "decoder."):
        _require_whole_heads(fields, names, source, stack)
    heads_key = names.get("heads") or names.get("encoder.heads")
    if heads_key is not None:  # there are files in which no key gives the width of a head
        names = {"d_k": f"{names['d_model']} / {heads_key}", **names}
    try:
        return kind().replace(**fields) if kind is Seq2SeqSpec else kind(**fields)
    except GlassformerError as error:
        words = str(error).split(" ")
        for number, word in enumerate(words):
            field, equals, value = word.partition("=")
            if equals and field in names:
                words[number] = f"{names[field]} = {value}"
        raise GlassformerError(f"{source}: {' '.join(words)}") from None


def _require_whole_heads(fields: Fields, names: Mapping[str, str], source: str, stack: str) -> None:
    """Refuse heads that have no whole number of features, by the keys of the config."""
    d_model, heads = fields["d_model"], fields.get(f"{stack}heads")
    if heads is not None and fields.get("d_k") is None and d_model % heads:
        near = nearest_divisor(d_model, heads)
        raise GlassformerError(
            f"{source}: {names[f'{stack}heads']} = {heads} does not divide {names['d_model']} = {d_model}: "
            f"every head needs a whole number of features. Try {near} heads of {d_model // near}."
        )


def says_nothing(value: Any) -> bool:
    """Whether a value is null, false, 0 or empty."""
    return value is None or value is False or (isinstance(value, int | float | str | list | dict) and not value)


def value_text(value: Any) -> str:
    """Return an untrusted value as JSON, shortened to fit one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object" if value else "{}"
    if isinstance(value, list | tuple):
        short = len(value) <= 4 and not any(isinstance(item, dict | list | tuple) for item in value)
        return f"[{', '.join(value_text(item) for item in value)}]" if short else f"a list of {len(value)}"
    return f'"{shown(value)}"' if isinstance(value, str) else shown(value)
