"""Writes the front end's types of what the lab sends, from the records in src/glassformer/lab/documents.

python web/wire_types.py             # web/src/**/types.ts and their kin
python web/wire_types.py --check     # exit 1 unless they are what is committed

A TypedDict, a NamedTuple or a dataclass becomes an interface, an alias a type. A float of a document may be NaN or infinite,
which JSON has not, and a count may be larger than a double can hold: both travel as `WireNumber`. Those of a layout are finite.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

WEB = Path(__file__).parent / "src"
ROOM = "glassformer.lab.documents."
OTHERS = "shared/records"  # where records of other rooms go
# A module of documents, and where its types go.
FILES = {
    "lab": "shared/known",
    "cells": "shared/cells",
    "bench": "bench/types",
    "check": "check/types",
    "by_hand": "hand/types",
    "trace": "trace/types",
    "train": "train/types",
    "walk": "walk/types",
    "widget": "widget/types",
}
PLAIN = {str: "string", bool: "boolean", int: "number", type(None): "null", Any: "unknown"}


class Types:
    """One file of types."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.aliases: dict[str, Any] = {}
        self.imports: dict[str, set[str]] = {}
        self.foreign: dict[str, Any] = {}
        self.declared: list[str] = []

    def text(self) -> str:
        head = f"// Made by web/wire_types.py from {self.source}: do not edit.\n"
        listed = ((", ".join(sorted(names)), file) for file, names in sorted(self.imports.items()))
        imports = [f'import type {{ {names} }} from "{file}";\n' for names, file in listed]
        return "\n".join(["".join([head, *imports]), *self.declared])

    def alias(self, name: str, hint: Any) -> None:
        self.declared.append(f"export type {name} = {self.type(hint)};\n")
        self.aliases[name] = hint

    def interface(self, record: Any) -> None:
        bases = bases_of(record)
        given = {name for base in bases for name in get_type_hints(base)}
        hints = get_type_hints(record, include_extras=True)
        fields = [
            f"  {name}{'?' * (get_origin(hint) is NotRequired)}: {self.type(hint, finite=not is_typeddict(record))};\n"
            for name, hint in hints.items()
            if name not in given
        ]
        extends = f" extends {', '.join(map(self.type, bases))}" if bases else ""
        doc = f"/** {record.__doc__.partition(chr(10))[0]} */\n" if record.__doc__ else ""
        self.declared.append(f"{doc}export interface {record.__name__}{extends} {{\n{''.join(fields)}}}\n")

    def type(self, hint: Any, *, finite: bool = False) -> str:
        """A hint as TypeScript."""
        known = next((name for name, found in self.aliases.items() if found == hint), None)
        if known is not None:
            return known
        if hint is float:
            return "number" if finite else self.named("WireNumber", "shared/wire")
        if is_record(hint):
            return self.named(hint.__name__, self.home(hint))
        return PLAIN[hint] if hint in PLAIN else self.generic(hint, finite=finite)

    def generic(self, hint: Any, *, finite: bool) -> str:
        """A hint that is made of others."""
        origin, given = get_origin(hint), get_args(hint)
        if origin is Literal:
            return " | ".join(f'"{one}"' if isinstance(one, str) else str(one).lower() for one in given)
        inner = [self.type(one, finite=finite) for one in given if one is not ...]
        if origin in (Union, UnionType):
            return " | ".join(name for name in dict.fromkeys(inner) if not (name == "string" and "WireNumber" in inner))
        if origin is dict:
            return f"Record<string, {inner[1]}>"
        if origin is list or origin is Sequence or ... in given:
            return f"({inner[0]})[]" if " | " in inner[0] else f"{inner[0]}[]"
        if origin in (tuple, NotRequired):
            return f"[{', '.join(inner)}]" if origin is tuple else inner[0]
        raise TypeError(f"{self.file}: {hint} has no type in TypeScript")

    def named(self, name: str, file: str) -> str:
        """A type of this file or of another."""
        if file != self.file:
            here, there = Path(self.file), Path(file)
            way = f"./{there.name}" if here.parent == there.parent else f"../{file}"
            self.imports.setdefault(way, set()).add(name)
        return name

    def home(self, record: Any) -> str:
        module = record.__module__.removeprefix(ROOM)
        if module in FILES:
            return FILES[module]
        self.foreign[record.__name__] = record
        return OTHERS


def is_record(thing: Any) -> bool:
    """A class with named fields."""
    return is_typeddict(thing) or (isinstance(thing, type) and (hasattr(thing, "_fields") or dataclasses.is_dataclass(thing)))


def bases_of(record: Any) -> list[Any]:
    """The records that a class of records extends, as its source names them: before Python 3.12 a TypedDict does not know."""
    try:
        (written,) = ast.parse(inspect.getsource(record)).body
    except OSError:  # TypedDict("Name", {…})
        return []
    names = [base.id for base in getattr(written, "bases", ()) if isinstance(base, ast.Name)]
    known = vars(sys.modules[record.__module__])
    return [known[name] for name in names if is_typeddict(known.get(name))]


def made() -> dict[Path, str]:
    """Every file of types with its text."""
    files = []
    for name, file in FILES.items():
        module = import_module(f"{ROOM}{name}")
        types = Types(file, f"src/{module.__name__.replace('.', '/')}.py")
        for key, thing in vars(module).items():
            if key in vars(module).get("__annotations__", {}):
                types.alias(key, thing)
            elif is_record(thing) and thing.__module__ == module.__name__:
                types.interface(thing)
        files.append(types)
    others = Types(OTHERS, "records of src/glassformer")
    wanted = {name: record for types in files for name, record in types.foreign.items()}
    done: set[str] = set()
    while wanted:
        for record in wanted.values():
            others.interface(record)
        done |= wanted.keys()
        wanted = {name: record for name, record in others.foreign.items() if name not in done}
    return {WEB / f"{types.file}.ts": types.text() for types in [*files, others]}


def main() -> int:
    texts = made()
    different = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in different:
        sys.stdout.write(f"{path.relative_to(WEB)}\n")
        if "--check" not in sys.argv:
            path.write_text(texts[path], encoding="utf-8")
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
