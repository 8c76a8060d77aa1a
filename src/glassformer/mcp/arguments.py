"""Tools from typed functions: the JSON schema of their arguments, and one-line errors for invalid arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.mcp.folders import Folders
from glassformer.mcp.teaching import description

Document = dict[str, Any]
KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}
LISTED = {"string": "texts", "integer": "whole numbers"}


@dataclass(frozen=True)
class Tool:
    """One tool: a function of the readable folders and of the arguments in its signature."""

    function: Callable[..., Document]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def title(self) -> str:
        return description(self.name)["title"]

    @property
    def about(self) -> str:
        return description(self.name)["about"]

    @cached_property
    def model(self) -> type[BaseModel]:
        hints = get_type_hints(self.function, include_extras=True)
        _, *parameters = inspect.signature(self.function).parameters.values()  # the first parameter is the folders
        fields: dict[str, Any] = {one.name: (hints[one.name], _default(one)) for one in parameters}
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def schema(self) -> Document:
        """The JSON schema of the arguments, with their descriptions."""
        found: Document = _simple(self.model.model_json_schema())
        texts = description(self.name)
        found["properties"] = {name: {"description": texts[name]} | rule for name, rule in found["properties"].items()}
        return found

    def call(self, arguments: Mapping[str, Any], folders: Folders) -> Document:
        """Call the tool; invalid arguments raise a `GlassformerError`."""
        try:
            given = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise GlassformerError(self._refusal(error, arguments)) from None
        return self.function(folders, **{name: getattr(given, name) for name in self.model.model_fields})

    def _refusal(self, error: ValidationError, arguments: Mapping[str, Any]) -> str:
        found = error.errors(include_url=False, include_input=False)
        first = min(found, key=lambda one: one["type"] != "extra_forbidden")  # a misspelt name explains a missing one
        name = str(first["loc"][0]) if first["loc"] else ""
        known: Mapping[str, Any] = self.schema.get("properties", {})
        if first["type"] == "extra_forbidden":
            return f"unknown argument '{shown(name)}'.{nearest(name, known)} {self.name} takes: {', '.join(known)}."
        if first["type"] == "missing":
            first_words = known[name]["description"].partition(". ")[0].rstrip(".")
            return f"'{name}' is missing: give {_rule(known[name])}. {shown(first_words, limit=150)}."
        if first["type"] == "string_too_long":
            return f"{name} is too long: at most {first['ctx']['max_length']:,} characters are allowed."
        return f"{name}={shown(arguments.get(name))} is not allowed: {name} must be {_rule(known[name])}."


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default


def _simple(schema: Any) -> Any:
    """Return a schema without titles, and without null as a type of optional arguments."""
    if isinstance(schema, list):
        return [_simple(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _simple(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    match kept:
        case {"anyOf": [inner, {"type": "null"}], "default": None}:
            return inner
        case _:
            return kept


def _rule(schema: Mapping[str, Any]) -> str:
    """Return what a schema allows, in words: `a whole number (0 to 12)`."""
    if "anyOf" in schema:
        return ", or ".join(map(_rule, schema["anyOf"]))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    kind = str(schema.get("type"))
    limits = [schema[key] for key in ("minimum", "maximum", "minItems", "maxItems") if key in schema]
    within = f" ({limits[0]:,} to {limits[1]:,})" if len(limits) == 2 else ""
    if kind == "array":
        return f"a list of {LISTED.get(schema.get('items', {}).get('type'), 'values')}{within}"
    return KINDS.get(kind, "a value") + within
