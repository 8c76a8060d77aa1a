"""The values in the fields of a set: texts, names, numbers and choices, each refused in one line that names the field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake
from glassformer.spec import GlassformerError, nearest, shown

MOST_TEXT = 4_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


@contextmanager
def in_question(where: str, number: int, table: Any) -> Iterator[None]:
    """Whatever is refused inside names the file and the question."""
    try:
        yield
    except GlassformerError as error:
        known = f" ({shown(table['id'])})" if isinstance(table, Mapping) and isinstance(table.get("id"), str) else ""
        raise GlassformerError(f"{where}, question {number}{known}: {error}") from None


def listed_in(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def name_in(value: Any, field: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise GlassformerError(f"{field} = {shown(value)}: a short name of letters, digits, - and _ is wanted.")
    return value


def text_in(field: str, value: Any) -> str:
    """A text of bounded length without control characters; line breaks stay."""
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise GlassformerError(f"{field} must be a text of at most {MOST_TEXT:,} characters, found {shown(value)}.")
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in value).strip()


def fraction_in(field: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
        raise GlassformerError(f"{field} = {shown(value)}: a number from 0 to 1,000 is wanted.")
    if field == "convention_credit" and value > 1:
        raise GlassformerError("convention_credit is a share of the marks, from 0 to 1.")
    return Fraction(repr(value))


def whole_in(field: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise GlassformerError(f"{field} = {shown(value)}: a whole number from {least} to {most} is wanted.")
    return value


def choice_in(table: Mapping[str, Any], field: str, choices: tuple[str, ...]) -> str:
    value = table.get(field)
    if value not in choices:
        near = nearest(str(value), choices)
        raise GlassformerError(f"{field} = {shown(value)} is not known: one of {', '.join(choices)}.{near}")
    return str(value)


def known_mistake(code: Any, own: Mapping[str, Mistake], field: str) -> Mistake:
    """The mistake of a code: one of the set's own, or one of the catalogue."""
    found = own.get(code) or CATALOGUE.get(code) if isinstance(code, str) else None
    if found is None:
        near = nearest(str(code), [*own, *CATALOGUE])
        raise GlassformerError(
            f"{field}: the mistake '{shown(code)}' is not known.{near} "
            'One of your own needs a sentence: {code = "…", gives = "…", say = "…"}.'
        )
    return found


def declared_mistakes(table: Any, own: dict[str, Mistake], field: str = "mistakes") -> None:
    """Add the mistakes that a table explains with `say`; the same code may be explained once."""
    for given in listed_in(table):
        if not isinstance(given, Mapping) or "say" not in given:
            continue
        code, say = name_in(given.get("code"), f"{field}, code"), text_in(f"{field}, say", given["say"])
        named = Mistake(code, text_in(f"{field}, name", given.get("name", code.replace("_", " "))), say)
        if code in CATALOGUE:
            raise GlassformerError(f"{field}: '{code}' is the code of a known mistake: choose another code, or leave say out.")
        if own.setdefault(code, named) != named:
            raise GlassformerError(f"{field}: '{code}' has two different sentences: leave say out where it is used again.")
