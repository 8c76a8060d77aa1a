"""Validation of the fields of a set: texts, names, numbers and choices; errors are one line and name the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, get_args

from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake
from glassformer.answers.quiz.template import Kind, NamedMistake, Option
from glassformer.errors import GlassformerError, nearest, shown

MOST_TEXT = 4_000
MOST_OPTIONS = 8
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


@contextmanager
def in_question(where: str, number: int, table: Any) -> Iterator[None]:
    """Add the file and the question to any error raised inside."""
    try:
        yield
    except GlassformerError as error:
        known = f" ({shown(table['id'])})" if isinstance(table, Mapping) and isinstance(table.get("id"), str) else ""
        raise GlassformerError(f"{where}, question {number}{known}: {error}") from None


def text_in(field: str, value: Any) -> str:
    """Return a text of limited length without control characters; line breaks are kept."""
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise GlassformerError(f"{field} must be a text of at most {MOST_TEXT:,} characters, found {shown(value)}.")
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in value).strip()


def name_in(field: str, value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise GlassformerError(f"{field} = {shown(value)}: expected a short name of letters, digits, - and _.")
    return value


def _texts(field: str, value: Any) -> tuple[str, ...]:
    return tuple(text_in(field, item) for item in _listed(value))


def _kind(field: str, value: Any) -> str:
    if value not in get_args(Kind):
        near = nearest(str(value), get_args(Kind))
        raise GlassformerError(f"unknown {field} = {shown(value)}: use one of {', '.join(get_args(Kind))}.{near}")
    return str(value)


def _fraction(field: str, value: Any) -> Fraction:
    most = 1 if field == "convention_credit" else 1000
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise GlassformerError(f"{field} = {shown(value)}: expected a number from 0 to {most:,}.")
    return Fraction(repr(value))


def _whole(field: str, value: Any, least: int = 0, most: int = 9) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise GlassformerError(f"{field} = {shown(value)}: expected a whole number from {least} to {most}.")
    return value


def _table(field: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise GlassformerError(f"{field} must be a table.")
    return value


def _rule(field: str, value: Any) -> str | dict[str, str]:
    return {str(k): text_in(field, v) for k, v in value.items()} if isinstance(value, Mapping) else text_in(field, value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("text", "ask", "answer", "spec", "because", "proof", "pick", "same_as"), text_in),
    **dict.fromkeys(("hints", "where", "answers", "depends_on"), _texts),
    **dict.fromkeys(("marks", "tolerance", "convention_credit"), _fraction),
    **dict.fromkeys(("digits", "choices"), _whole),
    **dict.fromkeys(("parameters", "problem"), _table),
    "id": name_in,
    "kind": _kind,
    "carried": _rule,
    "cell": lambda field, value: tuple(_whole(field, place, 1, 4096) for place in _listed(value)),
}


def declared_mistakes(tables: Any, own: dict[str, Mistake], field: str = "mistakes") -> None:
    """Add the mistakes that are declared with `say`; each code can be declared once."""
    for given in _listed(tables):
        if not isinstance(given, Mapping) or "say" not in given:
            continue
        code, say = name_in(f"{field}, code", given.get("code")), text_in(f"{field}, say", given["say"])
        named = Mistake(code, text_in(f"{field}, name", given.get("name", code.replace("_", " "))), say)
        if code in CATALOGUE:
            raise GlassformerError(f"{field}: '{code}' is the code of a known mistake: choose another code, or omit say.")
        if own.setdefault(code, named) != named:
            raise GlassformerError(f"{field}: '{code}' has two different sentences: give say only once.")


def named_mistakes(given: Any, own: Mapping[str, Mistake]) -> tuple[NamedMistake, ...]:
    """Return the mistakes that a question names: codes, or tables with their wrong answers."""
    found = []
    for one in _listed(given):
        table = {"code": one, "gives": ""} if isinstance(one, str) else one
        if not isinstance(table, Mapping) or set(table) - {"code", "gives", "say", "name"} or "gives" not in table:
            raise GlassformerError('mistakes: a mistake is a code, or {code = "…", gives = "an expression", say = "a sentence"}.')
        found.append(NamedMistake(_mistake(table.get("code"), own, "mistakes"), text_in("gives", table["gives"])))
    return tuple(found)


def options_in(tables: Any, own: Mapping[str, Mistake]) -> tuple[Option, ...]:
    """Return the written options of a question, at most one of which is right."""
    if not isinstance(tables, list) or not 1 <= len(tables) <= MOST_OPTIONS:
        raise GlassformerError(f"expected 1 to {MOST_OPTIONS} [[question.option]] tables.")
    found = []
    for table in tables:
        if not isinstance(table, Mapping) or set(table) - {"says", "code", "why"} or "says" not in table:
            raise GlassformerError("an option needs says; a wrong one also a code, and optionally why.")
        mistake = _mistake(table["code"], own, "option, code") if "code" in table else None
        found.append(Option(text_in("says", table["says"]), mistake, text_in("why", table.get("why", ""))))
    if sum(option.right for option in found) > 1:
        raise GlassformerError("only the right option has no code: give every wrong one the code of its mistake.")
    return tuple(found)


def _mistake(code: Any, own: Mapping[str, Mistake], field: str) -> Mistake:
    """Return the mistake with a code: one of the set's own, or one of the catalogue."""
    found = own.get(code) or CATALOGUE.get(code) if isinstance(code, str) else None
    if found is None:
        raise GlassformerError(
            f"{field}: unknown mistake '{shown(code)}'.{nearest(str(code), [*own, *CATALOGUE])} "
            'Declare your own with a sentence: {code = "…", gives = "…", say = "…"}.'
        )
    return found
