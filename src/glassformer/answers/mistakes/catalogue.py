"""The known mistakes: a stable code, a name, and the sentence for the student, read from catalogue.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from glassformer.spec import GlassformerError, nearest, shown

GROUPS = ("counts", "numbers", "slips", "ideas")


class Mistake(NamedTuple):
    """A misconception or a slip: its code, its name, and what is right instead."""

    code: str
    name: str
    sentence: str


class Catalogue(Mapping[str, Mistake]):
    """Every mistake by its code, in the order of the file; the file is read the first time that one is needed."""

    @cached_property
    def groups(self) -> dict[str, dict[str, dict[str, Any]]]:
        text = files("glassformer.answers.mistakes").joinpath("catalogue.toml").read_text(encoding="utf-8")
        return validated(tomllib.loads(text))

    @cached_property
    def _known(self) -> dict[str, Mistake]:
        tables = {code: table for group in self.groups.values() for code, table in group.items()}
        return {code: Mistake(code, table["name"], table["sentence"]) for code, table in tables.items()}

    @cached_property
    def worked(self) -> dict[str, Mistake]:
        """The mistakes that read differently for numbers worked by hand than for counts."""
        tables = {code: table.get("worked") for group in self.groups.values() for code, table in group.items()}
        return {code: Mistake(code, table["name"], table["sentence"]) for code, table in tables.items() if table}

    def __getitem__(self, code: str) -> Mistake:
        return self._known[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def validated(document: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """The groups of a catalogue, once every entry has a code of its own, a name and a sentence."""
    if tuple(document) != GROUPS:
        raise GlassformerError(f"catalogue.toml: the groups must be {', '.join(GROUPS)}, not {shown(', '.join(document))}.")
    seen: set[str] = set()
    for group, entries in document.items():
        for code, table in entries.items():
            texts = [table, table["worked"]] if "worked" in table else [table]
            for text in texts:
                if not text.get("name") or not str(text.get("sentence", "")).endswith("."):
                    raise GlassformerError(
                        f"catalogue.toml: {group}.{shown(code)} needs a name and a sentence that ends with a full stop."
                    )
            if set(table) - {"name", "sentence", "worked"} or code in seen:
                raise GlassformerError(f"catalogue.toml: {group}.{shown(code)} has an unknown key, or its code is used twice.")
            seen.add(code)
    return document


CATALOGUE = Catalogue()


def mistake(code: str, *, worked: bool = False) -> Mistake:
    """The mistake of a code; `worked`: worded for numbers worked by hand. An unlisted code is named after its own words."""
    found = CATALOGUE.worked.get(code) if worked else None
    return found or CATALOGUE.get(code) or Mistake(code, code.replace("_", " "), "")


def check_codes(codes: Iterable[str]) -> None:
    """Refuse a code that is not in the catalogue."""
    for code in codes:
        if code not in CATALOGUE:
            raise GlassformerError(f"the mistake '{shown(code)}' is not known.{nearest(code, [*CATALOGUE])}")
