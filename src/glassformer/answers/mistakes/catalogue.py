"""The catalogue of known mistakes: a stable code, a name, and a sentence for the student, read from catalogue.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, shown

GROUPS = ("counts", "numbers", "slips", "ideas")


class Mistake(NamedTuple):
    """A misconception or a slip: its code, its name, and a sentence that says what is right."""

    code: str
    name: str
    sentence: str
    here: str = ""  # the sentence, with facts about the model in braces


class Catalogue(Mapping[str, Mistake]):
    """All mistakes by code, in the order of the file, which is read on first use."""

    @cached_property
    def groups(self) -> dict[str, dict[str, dict[str, Any]]]:
        text = files("glassformer.answers.mistakes").joinpath("catalogue.toml").read_text(encoding="utf-8")
        return validated(tomllib.loads(text))

    @cached_property
    def _known(self) -> dict[str, Mistake]:
        tables = {code: table for group in self.groups.values() for code, table in group.items()}
        return {code: Mistake(code, table["name"], table["sentence"], table.get("here", "")) for code, table in tables.items()}

    @cached_property
    def worked(self) -> dict[str, Mistake]:
        """The mistakes with a different wording for problems worked by hand."""
        tables = {code: table.get("worked") for group in self.groups.values() for code, table in group.items()}
        return {code: Mistake(code, table["name"], table["sentence"]) for code, table in tables.items() if table}

    def __getitem__(self, code: str) -> Mistake:
        return self._known[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def validated(document: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the groups of a catalogue after checking that every entry has a unique code, a name and a sentence."""
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
            if set(table) - {"name", "sentence", "here", "worked"} or code in seen:
                raise GlassformerError(f"catalogue.toml: {group}.{shown(code)} has an unknown key, or its code is used twice.")
            seen.add(code)
    return document


CATALOGUE = Catalogue()


def mistake(code: str, *, worked: bool = False) -> Mistake:
    """Return the mistake with a code; `worked` selects the wording for problems by hand. An unlisted code is its own name."""
    found = CATALOGUE.worked.get(code) if worked else None
    return found or CATALOGUE.get(code) or Mistake(code, code.replace("_", " "), "")
