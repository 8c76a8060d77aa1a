"""A quantity in the context of one spec: its validated arguments and options, and the program that it is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from glassformer.configs.presets import known_preset, preset_names
from glassformer.configs.reading import SIZES, TARGET, Request, request, request_from_words
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.expressions.evaluate import Evaluator
from glassformer.expressions.exact import Real
from glassformer.expressions.language import names_of, write
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import List, Name, Node, Quantity
from glassformer.program import Program, build
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec
from glassformer.spec.encoder_fields import defaults

Overrides = tuple[tuple[str, str], ...]
LENGTHS = (*SIZES, TARGET)
FIELDS = defaults(DecoderSpec)  # of encoders and decoders
YES_NO = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True)
class Context:
    """A quantity, the spec that it refers to, and its options."""

    quantity: Quantity
    request: Request
    options: Mapping[str, Node]  # the quantity's own options; fields and sizes are already applied to the spec

    @property
    def text(self) -> str:
        return shown(write(self.quantity))

    @property
    def spec(self) -> EncoderSpec:
        return self.request.spec

    @cached_property
    def program(self) -> Program:
        return program_of(self.request)

    @property
    def beyond(self) -> bool:
        """Whether the length exceeds the model's position table; its cost can still be computed."""
        return self.request.t is not None and self.spec.longest is not None and self.request.t > self.spec.longest

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The positional arguments: parts, symbols or tensors."""
        return names_of(self.quantity.arguments)

    def one_name(self, examples: str) -> str:
        if len(self.names) != 1:
            raise GlassformerError(f"{self.text}: expected one name in the parentheses, as in {examples}.")
        return self.names[0]

    @cached_property
    def layer(self) -> int | None:
        """The layer of `layer=0`; None for all layers together."""
        if "layer" not in self.options or self.word("layer", "") == "all":
            return None
        number = self.number("layer")
        layers = max(self.spec.layers, self.spec.decoder.layers if isinstance(self.spec, Seq2SeqSpec) else 0)
        if not 0 <= number < layers:
            raise GlassformerError(f"{self.text}: layer={number} does not exist; the layers are 0 to {layers - 1}.")
        return number

    @cached_property
    def head(self) -> int | None:
        if "head" not in self.options:
            return None
        number = self.number("head")
        if not 0 <= number < self.spec.heads:
            raise GlassformerError(f"{self.text}: head={number} does not exist; the heads are 0 to {self.spec.heads - 1}.")
        return number

    def listed(self, key: str) -> tuple[str, ...]:
        """Return the names in an option such as `without=biases+norms`."""
        return names_of((self.options[key],)) if key in self.options else ()

    def word(self, key: str, default: str, choices: tuple[str, ...] = ()) -> str:
        """Return the value of an option that takes one of a few words."""
        node = self.options.get(key)
        if node is None:
            return default
        found = node.text if isinstance(node, Name) else plain(node)
        if choices and found not in choices:
            raise GlassformerError(
                f"{self.text}: {key}={shown(found)} is not allowed; use one of {', '.join(choices)}.{nearest(found, choices)}"
            )
        return found

    def flag(self, key: str) -> bool:
        return YES_NO[self.word(key, "no", tuple(YES_NO))]

    def number(self, key: str, default: int | None = None) -> int:
        node = self.options.get(key)
        if node is None:
            if default is None:
                raise GlassformerError(f"{self.text}: {key}=… is missing, as in {key}=32.")
            return default
        return whole(node, f"{self.text}: {key}")


def whole(node: Node, what: str) -> int:
    """Return the value of a node that must be a whole number, at least 0."""
    try:
        value = Evaluator(Reading(), {}).value(node)
    except NotUnderstoodError:
        value = None
    if not isinstance(value, Real) or not value.whole or not 0 <= value.low < 10**15:
        raise GlassformerError(f"{what}={shown(plain(node))} is not a whole number of at least 0.")
    return int(value.low)


@lru_cache(maxsize=16)
def _program(spec: EncoderSpec, batch: int, t: int | None, u: int | None) -> Program:
    return build(spec, batch=batch, t=t, u=u)


def program_of(requested: Request) -> Program:
    """Return the program; if the length exceeds the position table, that of the same model with a longer table."""
    spec, length = requested.spec, requested.t
    if length is not None and spec.longest is not None and length > spec.longest and not spec.one_length:
        spec = spec.replace(positions=length)
    return _program(spec, requested.batch, length, requested.u)


def resolve(
    quantity: Quantity, requested: Request | None, own: tuple[str, ...], overrides: Overrides = (), *, files: bool = False
) -> Context:
    """Resolve a quantity: find its model, apply its fields. `own` lists the options that belong to the quantity itself."""
    fields: dict[str, Any] = dict(overrides)
    options: dict[str, Node] = {}
    for key, node in quantity.options:
        if [name for name, _ in quantity.options].count(key) > 1:
            raise GlassformerError(f"{shown(write(quantity))}: {key} is given twice.")
        if key in own and not (key == "head" and isinstance(node, Name)):  # head=mlm is the task head, head=0 an attention head
            options[key] = node
        elif key in LENGTHS or key in FIELDS:
            fields[key] = _field_text(key, node)
        else:
            known = [*own, *LENGTHS, *FIELDS]
            said = f" Options of {quantity.name}: {', '.join(own)}, and any field of the spec." if own else ""
            raise GlassformerError(f"{shown(write(quantity))}: '{shown(key)}' is not an option.{nearest(key, known)}{said}")
    return Context(quantity, with_fields(model_of(quantity, requested, files=files), fields), options)


def model_of(quantity: Quantity, requested: Request | None, *, files: bool) -> Request:
    """Return the model after `@`, or the default one."""
    if quantity.model:
        return model_named(quantity.model, files=files)
    if requested is None:
        text = shown(write(quantity))
        raise GlassformerError(f"{text}: of which model? Add a spec, as in 'bert-base', or write {text} @ bert-base.")
    return requested


def model_named(words: str, *, files: bool) -> Request:
    """Return the model named after `@`. Untrusted text may name presets only, since it must not open files."""
    name, *fields = words.split()
    if not files and known_preset(name) is None:
        raise GlassformerError(
            f"'@ {shown(name)}' is not a preset, and files are not opened here.{nearest(name, preset_names())}"
        )
    return request_from_words((name, *fields), decoders=True)


def with_fields(requested: Request, fields: Mapping[str, Any]) -> Request:
    """Return the same model with some fields or sizes changed."""
    if not fields:
        return requested
    changed = request(requested.spec, decoders=True, **fields)
    label = requested.label + "".join(f" {name}={value}" for name, value in fields.items() if name not in LENGTHS)
    sizes = {name: getattr(changed if name in fields else requested, name) for name in LENGTHS}
    return changed._replace(label=label, **sizes)


def _field_text(key: str, node: Node) -> str:
    """Return the value of a field as it is written in a spec."""
    if isinstance(node, Name):
        return node.text
    if isinstance(node, List):
        return ",".join(_field_text(key, item) for item in node.items)
    value = Evaluator(Reading(), {}).value(node)
    if not isinstance(value, Real) or not value.exact:
        raise GlassformerError(f"{key}={shown(plain(node))} is not a valid value for a field.")
    return str(int(value.low)) if value.whole else str(float(value.low))


def scoped(quantity: Quantity, **options: Node) -> Quantity:
    """Return the quantity with some options set."""
    kept = tuple((key, value) for key, value in quantity.options if key not in options)
    return replace(quantity, options=(*kept, *options.items()))
