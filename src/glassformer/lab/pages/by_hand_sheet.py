"""A sheet: a problem as texts that an address can hold, `k = flying: 1 1; arrows: 0 -1`, and the problem that it is.

Rows stand between semicolons, cells between spaces, a row may start with its name and a colon; one row alone is a vector,
with a semicolon behind it a matrix of one row. `pick 1 2`, `identity`, `diagonal 1 2`, `fill 1` and `causal` are said in
words, matrices of several heads stand between bars, and whatever has no such form is JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents import by_hand as documents
from glassformer.numbers.by_hand import Problem, parse_problem
from glassformer.numbers.by_hand.entries import SHAPED, place
from glassformer.numbers.by_hand.options import CHOICES
from glassformer.numbers.by_hand.problem import PARTS
from glassformer.numbers.by_hand.words import COMMON, KEYS, key_of

MOST_GIVEN = 60
LONGEST = 40_000  # letters of one matrix
WORDS = (*SHAPED, "attend", "hide", "add")  # one of these, then numbers
ALONE = ("identity", "causal", "none")
EMPTY = "_"  # a cell with nothing in it yet
SAID = ("distribution", "causal", "activation")  # choices that the name of a kind makes
UNREAD = ("title", "kind", "note", "claims")
WHOLE, DECIMAL = re.compile(r"[+-]?\d{1,30}"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")


def sheet_of(document: Mapping[str, Any], source: str) -> documents.SheetDocument:
    """The sheet of a problem file."""
    problem = parse_problem(document, source)
    keys = COMMON | KEYS[problem.kind]
    given: dict[str, str] = {}
    choices: dict[str, str] = {}
    for word, value in document.items():
        name = key_of(word, keys)
        if name in UNREAD or word in UNREAD:
            continue
        if name in PARTS and isinstance(value, Mapping):
            for inner, held in value.items():
                own = key_of(inner, {key: keys[key] for key in PARTS[name] if key in keys})
                (given if own else choices)[f"{name}.{inner}" if own else inner] = to_text(held)
        elif name is not None and keys[name][0] == "choice":
            choices[name] = _said(name, value)
        else:
            spelled = "x" if name == "X" and problem.kind not in ("attention", "encoder_layer") else word
            given[spelled] = to_text(value)
    for name in SAID:
        if name in problem.options and name not in choices and name in keys and name not in given.values():
            choices[name] = _said(name, problem.options[name])
    return {
        "kind": problem.kind,
        "title": problem.title,
        "note": shown(str(document.get("note", "")), limit=300),
        "given": given,
        "choices": choices,
    }


def document_of(sheet: Mapping[str, Any]) -> dict[str, Any]:
    """The problem file of a sheet as it came from a page."""
    given, choices = _texts(sheet, "given"), _texts(sheet, "choices")
    document: dict[str, Any] = {}
    for name in ("title", "kind"):
        found = sheet.get(name, "")
        if not isinstance(found, str):
            raise GlassformerError(f"the sheet must have {name} as a string, found {shown(found)}.")
        if found:
            document[name] = found
    for name, text in choices.items():
        if text.strip():
            document[name] = _choice(text.strip())
    for name, text in given.items():
        part, dot, inner = name.partition(".")
        if dot:
            document.setdefault(part, {})[inner] = to_value(name, text)
        else:
            document[name] = to_value(name, text)
    return document


def problem_of(sheet: Mapping[str, Any]) -> Problem:
    """The problem of a sheet."""
    return parse_problem(document_of(sheet), "sheet")


def to_text(value: Any) -> str:
    """Numbers as a sheet writes them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _table(value)
    if isinstance(value, list) and value and all(_flat(row) for row in value):
        return f"{_row(value[0])};" if len(value) == 1 else "; ".join(map(_row, value))
    if isinstance(value, list) and value and all(isinstance(part, list) and all(map(_flat, part)) for part in value):
        return " | ".join(to_text(part) for part in value)
    if _flat(value):
        return _row(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | bool) or value is None else f"fill {value}"


def _said(name: str, value: Any) -> str:
    """A choice as text: words with spaces between them, what is asked with commas."""
    if isinstance(value, list) and value and all(isinstance(word, str) and " " not in word for word in value):
        return (", " if name == "ask" else " ").join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(value: Mapping[str, Any]) -> str:
    (word, inner), *more = value.items()
    if not more and word == "transpose" and isinstance(inner, list) and all(map(_flat, inner)):
        return to_text([list(row) for row in zip(*inner, strict=False)])
    if not more and word in WORDS:
        return f"{word} {to_text(inner).removeprefix('fill ')}"
    if all((_flat(row) or isinstance(row, int | float)) and not set(name) & set(":;|") for name, row in value.items()):
        return "; ".join(f"{name}: {_row(row if isinstance(row, list) else [row])}" for name, row in value.items())
    return json.dumps(value, ensure_ascii=False)


def _flat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not any(isinstance(cell, list | Mapping) for cell in value)


def _row(cells: list[Any]) -> str:
    return " ".join(cell.replace(" ", "") if isinstance(cell, str) else json.dumps(cell) for cell in cells)


def to_value(name: str, text: str) -> Any:
    """What a text of a sheet stands for in a problem file."""
    if len(text) > LONGEST:
        raise GlassformerError(f"{shown(name)} has {len(text):,} characters: a matrix by hand has at most {LONGEST:,}.")
    text = text.strip()
    if not text:
        raise GlassformerError(f"{shown(name)} is empty: give its numbers.")
    if text[0] in "{[":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise GlassformerError(f"{shown(name)} is not understood: '{shown(text)}'.") from None
    word, _, rest = text.partition(" ")
    if text.lower() in ALONE:
        return text.lower()
    if word in WORDS:
        inner = to_value(f"{name}.{word}", rest)
        return {word: inner[0] if word in ("fill", "identity") and isinstance(inner, list) else inner}
    if "|" in text:
        return [to_value(name, part.strip().rstrip(";") + ";") for part in text.split("|")]
    return _rows(name, text)


def _rows(name: str, text: str) -> Any:
    lines = [line.strip() for line in re.split(r"[;\n]", text)]
    rows = [line for line in lines if line]
    labelled = [line.rpartition(":") for line in rows]
    several = len(lines) > 1
    found = [
        [
            _cell(name, cell, (number, column) if several else (column,))
            for column, cell in enumerate(re.split(r"[\s,]+", cells.strip()))
        ]
        for number, (_, _, cells) in enumerate(labelled)
    ]
    if rows and all(colon for _, colon, _ in labelled):
        names = [label.strip() for label, _, _ in labelled]
        if len(set(names)) < len(names):
            twice = next(label for label in names if names.count(label) > 1)
            raise GlassformerError(f"{shown(name)} has two rows named '{shown(twice)}': give each row its own name, or none.")
        return {label: row[0] if all(len(r) == 1 for r in found) else row for label, row in zip(names, found, strict=True)}
    return found if several else found[0]


def _cell(name: str, text: str, where: tuple[int, ...]) -> Any:
    text = text.replace("−", "-")
    if text in ("", EMPTY):
        raise GlassformerError(f"{place(shown(name), where)} is empty: enter a number.")
    if WHOLE.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text):
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _choice(text: str) -> Any:
    """`2` and `true` and `[0, 5]` are themselves; everything else is a word."""
    if WHOLE.fullmatch(text) or DECIMAL.fullmatch(text):
        return _cell("", text, ())
    if text in ("true", "false") or text[0] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _texts(sheet: Mapping[str, Any], key: str) -> dict[str, str]:
    found = sheet.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise GlassformerError(f"the sheet must have {key} as strings by name, found {shown(found)}.")
    if len(found) > MOST_GIVEN:
        raise GlassformerError(f"the sheet has {len(found)} {key}: at most {MOST_GIVEN}.")
    return found


def kinds() -> list[documents.KindDocument]:
    """Every kind of problem: what can be given to it, and its choices with their words."""
    listed: list[documents.KindDocument] = []
    for kind, keys in KEYS.items():
        whole = {"convention": COMMON["convention"], **keys} if kind != "product" else keys
        matrices = [name for name, (role, _) in keys.items() if role != "choice"]
        options: list[documents.Choice] = [
            {"name": name, "choices": list(CHOICES.get(name, ()))} for name, (role, _) in whole.items() if role == "choice"
        ]
        listed.append({"kind": kind, "matrices": matrices, "choices": options})
    return listed
