"""Equations set in HTML: indices, fractions and roots as on paper, with nothing but a few lines of style."""

from __future__ import annotations

import re
from html import escape

from glassformer.program.pen import GREEK, TextPen

SCRIPTS = re.compile(r"(?<![A-Za-z0-9_&;])([A-Za-z\u0370-\u03ff]+)_(\{[^{}<>]*\}|[A-Za-z0-9]+)")

STYLE = (
    ".eq{font-family:'STIX Two Math','Cambria Math',Cambria,Georgia,serif;font-size:1.06em;line-height:1.9}"
    ".eq i{padding-right:.05em}.eq sub{font-size:.72em;line-height:0}"
    ".eq .frac{display:inline-flex;flex-direction:column;vertical-align:middle;text-align:center;line-height:1.35;margin:0 .15em}"
    ".eq .frac>span:first-child{border-bottom:1px solid;padding:0 .25em}.eq .frac>span:last-child{padding:0 .25em}"
    ".eq .frac .over{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden;white-space:nowrap}"
    ".eq .root>span{border-top:1px solid;padding:0 .1em}"
)


class HtmlPen(TextPen):
    """Writes a rule as HTML. What an operation says in words is escaped; marks are made here and nowhere else."""

    def symbol(self, text: str) -> str:
        head, _, tail = text.partition("_")
        letter = GREEK.get(head, head)
        if len(head) > 1 and head not in GREEK:
            return escape(text.replace("_", "\u00a0"))
        set_ = f"<i>{escape(letter)}</i>" if len(letter) == 1 else escape(letter)
        return f"{set_}<sub>{escape(tail)}</sub>" if tail else set_

    def number(self, value: float) -> str:
        mantissa, _, exponent = f"{value:g}".partition("e")
        if not exponent:
            return mantissa
        power = f"10<sup>{str(int(exponent)).replace('-', '−')}</sup>"
        return power if mantissa == "1" else f"{mantissa} · {power}"

    def product(self, *factors: str) -> str:
        return "\u2009".join(factors)

    def transposed(self, text: str) -> str:
        return f"{text}<sup>⊤</sup>"

    def ratio(self, top: str, bottom: str) -> str:
        return f'<span class="frac"><span>{top}</span><span class="over"> / </span><span>{bottom}</span></span>'

    def square(self, text: str) -> str:
        return f"({text})²" if " " in text else f"{text}²"

    def root(self, text: str) -> str:
        return f'<span class="root">√<span>{text}</span></span>'

    def words(self, text: str) -> str:
        return escape(text)

    def over(self, axis: str) -> str:
        return f" over {self.symbol(axis)}"


def equation(left: str, right: str) -> str:
    """One equation that an `HtmlPen` wrote."""
    return f'<span class="eq">{indices(left)} = {indices(right)}</span>'


def indices(text: str) -> str:
    """`X_l`, which stands for any layer and is written as plain text, with its index below the line."""
    return SCRIPTS.sub(lambda found: f"{_letter(found[1])}<sub>{found[2].strip('{}')}</sub>", text)


def _letter(word: str) -> str:
    return f"<i>{word}</i>" if len(word) == 1 else word
