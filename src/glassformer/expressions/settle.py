"""Applies a reading to numbers: commas separate thousands or items, and every numeral gets its value."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.expressions import numerals
from glassformer.expressions.readings import Reading
from glassformer.expressions.scanner import Token


def settle(tokens: Sequence[Token], reading: Reading) -> list[Token]:
    """Return the tokens without dollar signs and quotes, each number with its value."""
    found: list[Token] = []
    brackets: list[str] = []
    about = False
    for token in tokens:
        if token.kind in ("edge", "about"):
            about = about or token.kind == "about"
            continue
        if token.kind == "open":
            called = bool(found) and token.text == "(" and _calls(found[-1], token)
            brackets.append("call" if called else token.text)
        elif token.kind == "close" and brackets:
            brackets.pop()
        if token.kind == "number":
            found.extend(_numbers(token, brackets[-1] if brackets else "", reading, about=about))
        elif token.kind == "dots" and found and found[-1].numeral is not None and not token.gap:
            found[-1] = found[-1]._replace(numeral=found[-1].numeral.approximate())
        elif token.kind == "scale" and found and found[-1].numeral is not None:
            before = found[-1]
            scaled = before.numeral.scaled(numerals.SCALES[token.text], token.text) if before.numeral else None
            found[-1] = before._replace(numeral=scaled, end=token.end)
        else:
            found.append(token)
        about = about and token.kind != "number"
    return found


def _calls(before: Token, bracket: Token) -> bool:
    """Return whether a bracket contains the arguments of a function or a quantity."""
    named = before.kind == "name" and before.named and not bracket.gap and before.text != "solve"
    return before.kind in ("function", "sub") or named


def _numbers(token: Token, bracket: str, reading: Reading, *, about: bool) -> list[Token]:
    if token.text in numerals.FRACTIONS:
        return [token._replace(numeral=numerals.fraction_sign(token.text))]
    if numerals.has_commas(token.text) and _are_items(token.text, bracket, reading):
        found: list[Token] = []
        start = token.start
        for part in numerals.parts(token.text):
            if found:
                found.append(token._replace(kind="comma", text=",", start=start - 1, end=start, gap=False))
            found.append(token._replace(text=part, start=start, end=start + len(part), numeral=numerals.read(part)))
            start += len(part) + 1
        return found
    numeral = numerals.read(token.text, reading.decimal)
    return [token._replace(numeral=numeral.approximate() if about else numeral)]


def _are_items(text: str, bracket: str, reading: Reading) -> bool:
    if "{,}" in text or "\\," in text or not bracket or bracket == "{":
        return False
    if reading.commas == "thousands":
        return not numerals.groups_thousands(text) and reading.decimal == "point"
    if reading.commas == "items":
        return True
    return bracket in ("[", "⟨", "call") or not (numerals.groups_thousands(text) or reading.decimal == "comma")
