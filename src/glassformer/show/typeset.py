"""Equations in HTML: indices, fractions and roots, with a few lines of CSS."""

from __future__ import annotations

import re

from glassformer.program.formatter import GREEK, TextFormatter
from glassformer.show.markup import Child, Html, element, join, tags

# A rule is a string; these characters, which no text contains, mark the beginning and the end of an element.
OPENS = {kind: chr(0xE000 + place) for place, kind in enumerate(("i", "sub", "sup", "frac", "over", "root", "span"))}
KINDS = {sign: kind for kind, sign in OPENS.items()}
ENDS = "\ue0ff"
SIGNS = re.compile(f"([{''.join(KINDS)}{ENDS}])")
INDEXED = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z\u0370-\u03ff]+)_(?:\{([^{}\ue000-\ue0ff]*)\}|([A-Za-z0-9]+))")


class HtmlFormatter(TextFormatter):
    """Writes a rule as text with marks, which `typeset` converts to elements."""

    def symbol(self, text: str) -> str:
        head, _, tail = text.partition("_")
        letter = GREEK.get(head, head)
        if len(head) > 1 and head not in GREEK:
            return text.replace("_", "\u00a0")
        return _letter(letter) + (_marked("sub", tail) if tail else "")

    def number(self, value: float) -> str:
        mantissa, _, exponent = f"{value:g}".partition("e")
        if not exponent:
            return mantissa
        power = f"10{_marked('sup', str(int(exponent)).replace('-', '−'))}"
        return power if mantissa == "1" else f"{mantissa} · {power}"

    def product(self, *factors: str) -> str:
        return "\u2009".join(factors)

    def transposed(self, text: str) -> str:
        return f"{text}{_marked('sup', '⊤')}"

    def ratio(self, top: str, bottom: str) -> str:
        return _marked("frac", f"{_marked('span', top)}{_marked('over', ' / ')}{_marked('span', bottom)}")

    def square(self, text: str) -> str:
        return f"({text})²" if " " in text else f"{text}²"

    def root(self, text: str) -> str:
        return _marked("root", f"√{_marked('span', text)}")

    def over(self, axis: str) -> str:
        return f" over {self.symbol(axis)}"


def equation(left: str, right: str) -> Html:
    """One equation written by an `HtmlFormatter`."""
    return tags.span(typeset(left), " = ", typeset(right), class_="eq")


def typeset(text: str) -> Html:
    """Convert the output of an `HtmlFormatter` to elements, with the index of `X_l` (any layer) below the line."""
    text = INDEXED.sub(lambda found: _letter(found[1]) + _marked("sub", found[2] or found[3] or ""), text)
    open_: list[tuple[str, list[Child]]] = [("", [])]
    for piece in SIGNS.split(text):
        if piece in KINDS:
            open_.append((KINDS[piece], []))
        elif piece == ENDS and len(open_) > 1:
            kind, inner = open_.pop()
            plain = kind in ("i", "sub", "sup", "span")
            open_[-1][1].append(element(kind, inner) if plain else tags.span(inner, class_=kind))
        else:
            open_[-1][1].append(piece)
    return join(open_[0][1])


def _marked(kind: str, text: str) -> str:
    return f"{OPENS[kind]}{text}{ENDS}"


def _letter(word: str) -> str:
    return _marked("i", word) if len(word) == 1 else word
