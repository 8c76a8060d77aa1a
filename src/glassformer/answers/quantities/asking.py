"""`ask`: evaluate an expression for a spec; one answer, or a table over several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from glassformer.answers.quantities.answer import Answer, Table
from glassformer.answers.quantities.context import FIELDS, LENGTHS, Overrides, model_named, with_fields
from glassformer.answers.quantities.evaluation import Evaluation, is_known, meaning_of, unknown_names
from glassformer.answers.quantities.units import worth
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.language import read, write
from glassformer.expressions.tree import Converted, List, Name, Node, Quantity, Relation, rebuilt, walk
from glassformer.spec import DecoderSpec
from glassformer.spec.fields import field_rules

MOST_ROWS = 200
NOT_GIVEN = {"batch": 1, "t": None, "u": None}
WHOLE_FIELDS = frozenset(name for name, rule in field_rules(DecoderSpec).items() if rule.kind == "whole")


def ask(
    expression: str | Node,
    request: Request | None = None,
    *,
    over: Mapping[str, Sequence[str]] | None = None,
    digits: int | None = None,
    files: bool = False,
) -> Answer | Table:
    """Evaluate an expression: `ask("params(ffn) / params", request("bert-base"))`.

    `over` gives several values to a size, `{"t": ["128", "256"]}`; a list in the expression, `flops(t=128, 256)`, does the same.
    The result is then a table. `files` allows file paths after `@`; set it only for input that the user wrote.
    """
    node = read(expression) if isinstance(expression, str) else expression
    if isinstance(node, Relation):
        raise GlassformerError(f"'{shown(write(node))}' is a claim: use 'glassformer check', or ask for one side of it.")
    for name in unknown_names(node):
        meaning_of(Quantity(name))  # raises an error that suggests a known name
    varied = {name: list(values) for name, values in (over or {}).items()} | _listed(node)
    if not varied:
        return answer(node, request, digits=digits, files=files)
    choices = list(product(*varied.values()))
    if len(choices) > MOST_ROWS:
        raise GlassformerError(f"{len(choices):,} combinations of sizes are too many: a table has at most {MOST_ROWS} rows.")
    chosen = (_put_in(node, request, dict(zip(varied, choice, strict=True))) for choice in choices)
    rows = tuple((choice, answer(*one, digits=digits, files=files)) for choice, one in zip(choices, chosen, strict=True))
    return Table(node, tuple(varied), rows)


def several(fields: Mapping[str, object]) -> tuple[dict[str, object], dict[str, list[str]]]:
    """Split fields into those with one value and sizes with several: `t=128,256` as text, `t=[128, 256]` in Python."""
    varied = {name: values for name, value in fields.items() if len(values := _values(name, value)) > 1}
    return {name: value for name, value in fields.items() if name not in varied}, varied


def _values(name: str, value: object) -> list[str]:
    if name not in LENGTHS and name not in WHOLE_FIELDS:
        return []
    if isinstance(value, str):
        parts = value.split(",")
        thousands = name not in LENGTHS and all(len(part) == 3 for part in parts[1:])  # vocab=30,522 is one number
        return [] if thousands else parts
    return [str(one) for one in value] if isinstance(value, list | tuple | range) else []


def answer(node: Node, request: Request | None, *, digits: int | None = None, files: bool = False) -> Answer:
    """Return the answer to an expression without lists of sizes."""
    request = request_for(node, request, files=files)
    inner = node.inner if isinstance(node, Converted) else node
    found = Evaluation(request, sizes=stated_sizes(node, request), files=files).found(inner)
    scale = (node.unit, worth(node.unit, inner, found.unit)) if isinstance(node, Converted) else None
    return Answer(node, request if needs_model(inner) else None, found, scale, digits)


def request_for(node: Node, request: Request | None, *, files: bool = False) -> Request | None:
    """Return the model that names without `@` refer to: the given one, or the only model that the expression names."""
    models = {quantity.model for quantity in walk(node) if isinstance(quantity, Quantity) and quantity.model}
    return model_named(models.pop(), files=files) if request is None and len(models) == 1 else request


def stated_sizes(node: Node, request: Request | None) -> Overrides:
    """Return the values of plain `t` and `batch` in `flops(attention, t=512) = 4 t² d`: the only value that an option sets.

    Quantities without that option keep the size of the spec, so `flops(t=512) / flops` compares two lengths.
    """
    options = [option for quantity in walk(node) if isinstance(quantity, Quantity) for option in quantity.options]
    stated = {size: {write(value) for key, value in options if key == size} for size in LENGTHS}
    open_sizes = [size for size in LENGTHS if request is not None and getattr(request, size) == NOT_GIVEN[size]]
    return tuple((size, stated[size].pop()) for size in open_sizes if len(stated[size]) == 1)


def needs_model(node: Node) -> bool:
    """Return whether an expression refers to a model."""
    return any((isinstance(leaf, Name) and is_known(leaf.text)) or isinstance(leaf, Quantity) for leaf in walk(node))


def _listed(node: Node) -> dict[str, list[str]]:
    """Return the options that list several sizes: `t=128, 256`."""
    found: dict[str, list[str]] = {}
    for quantity in walk(node):
        if isinstance(quantity, Quantity):
            for key, value in quantity.options:
                if isinstance(value, List) and not value.bracket and (key in LENGTHS or key in FIELDS):
                    found[key] = [write(item) for item in value.items]
    return found


def _put_in(node: Node, request: Request | None, sizes: Mapping[str, str]) -> tuple[Node, Request | None]:
    """Substitute one choice of sizes: into the options that list them, otherwise into the spec."""

    def chosen(inner: Node) -> Node:
        inner = rebuilt(inner, chosen)
        if not isinstance(inner, Quantity):
            return inner
        options = tuple(
            (key, read(sizes[key]) if key in sizes and isinstance(value, List) else value) for key, value in inner.options
        )
        return Quantity(inner.name, inner.arguments, options, inner.model)

    inside = _listed(node)
    fields = {name: value for name, value in sizes.items() if name not in inside}
    return chosen(node), with_fields(request, fields) if request is not None and fields else request
