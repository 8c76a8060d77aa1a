"""Written numbers: separators, decimal points and commas, million and M, and the precision of each number."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from glassformer.errors import shown
from glassformer.expressions.limits import MOST_DIGITS, NotUnderstoodError

Decimal = Literal["point", "comma"]

# One run of digits with separators; `read` decides its meaning.
THIN = "\u00a0\u2007\u2009\u202f"
_BETWEEN = rf"(?:[.,_'’{THIN}]|\{{,\}}|\\[,;])"
_PROGRAMMED = r"0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*(?![\w])|0b[01]+(?![\w])"
PATTERN = rf"{_PROGRAMMED}|(?:[0-9]+(?:{_BETWEEN}[0-9]+)*|\.[0-9]+)(?:[eE][+-]?[0-9]+(?![A-Za-z0-9]))?"

SCALES = {
    "k": 3, "K": 3, "M": 6, "B": 9, "G": 9, "T": 12,
    "thousand": 3, "million": 6, "millions": 6, "billion": 9, "billions": 9, "trillion": 12, "mio": 6, "mln": 6, "bn": 9,
    "millionen": 6, "miljoen": 6, "milliarden": 9, "miljard": 9, "millones": 6, "milioni": 6, "milliards": 9, "millón": 6,
}  # fmt: skip
FRACTIONS = {
    "½": Fraction(1, 2), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4),
    "⅕": Fraction(1, 5), "⅙": Fraction(1, 6), "⅛": Fraction(1, 8), "⅜": Fraction(3, 8), "⅝": Fraction(5, 8), "⅞": Fraction(7, 8),
}  # fmt: skip

_SEPARATOR = re.compile(rf"\{{,\}}|\\[,;]|[ _'’{THIN}]")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_LAKHS = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_PLAIN = re.compile(r"[0-9]*(?:\.[0-9]+)?")
_EUROPEAN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?|[0-9]+,[0-9]+")
_POINTS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}")


@dataclass(frozen=True, slots=True)
class Numeral:
    """A written number: its value, the unit of its last digit, and whether it is marked as rounded."""

    text: str = field(compare=False)  # as written: 14,155,008 and 14155008 are the same number
    value: Fraction
    unit: Fraction
    rounded: bool = False  # `110M`, `about 5`, `0.333…`

    @property
    def decimal(self) -> bool:
        """Whether it has decimals, so that it may stand for a longer number."""
        return self.unit < 1

    @property
    def digits(self) -> str:
        """The significant digits as written."""
        return "".join(letter for letter in self.text.partition("e")[0] if letter in "0123456789").lstrip("0")

    def scaled(self, power: int, word: str) -> Numeral:
        """Return the number times a scale: `110` followed by `million`."""
        factor = Fraction(10) ** power
        return Numeral(
            f"{self.text} {word}" if len(word) > 1 else self.text + word, self.value * factor, self.unit * factor, rounded=True
        )

    def approximate(self) -> Numeral:
        return replace(self, rounded=True)


@lru_cache(maxsize=2048)
def read(text: str, decimal: Decimal = "point") -> Numeral:
    """Return the number of a run of digits and separators."""
    if len(text) > 2 * MOST_DIGITS or sum(letter.isdigit() for letter in text) > MOST_DIGITS:
        raise NotUnderstoodError(f"a number of more than {MOST_DIGITS} digits is too long")
    if text[:2] in ("0x", "0X", "0b"):
        return Numeral(text, Fraction(int(text.replace("_", ""), 0)), Fraction(1))
    digits, _, exponent = text.replace("E", "e").partition("e")
    plain = _without_separators(_SEPARATOR.sub("_", digits), decimal)
    if plain is None:
        raise NotUnderstoodError(f"'{shown(text)}' is not an unambiguous number")
    if exponent and (len(exponent) > 4 or abs(int(exponent)) > MOST_DIGITS):
        raise NotUnderstoodError(f"'{shown(text)}' has an exponent that is too large")
    shift = Fraction(10) ** int(exponent or 0)
    places = len(plain.partition(".")[2])
    rounded = int(exponent or 0) > places  # 2.4e9 is rounded like 2.4 billion; 1e-5 is a decimal
    return Numeral(text, Fraction(plain) * shift, Fraction(1, 10**places) * shift, rounded)


def fraction_sign(sign: str) -> Numeral:
    """Return the exact value of a sign such as `½`."""
    return Numeral(sign, FRACTIONS[sign], Fraction(1))


def parts(text: str) -> list[str]:
    """Return the items of a list such as `0,1,1`."""
    return text.split(",")


def has_commas(text: str) -> bool:
    """Return whether a text contains a comma, not counting `{,}` and `\\,`."""
    return "," in text.replace("{,}", "").replace("\\,", "")


def groups_thousands(text: str) -> bool:
    """Return whether the commas can be thousands separators: in `1,234` but not in `0,1`."""
    return _THOUSANDS.fullmatch(text) is not None and not text.startswith("0,")


def reads_both_ways(text: str) -> bool:
    """Return whether point and comma could have swapped meanings."""
    return _EUROPEAN.fullmatch(text) is not None


def _without_separators(text: str, decimal: Decimal) -> str | None:
    """Return the number in plain digits with a point, or None if the separators are inconsistent."""
    if "_" in text:
        whole, point, after = text.partition(".")
        groups = whole.split("_")[1:]
        if "," in text or "_" in after:
            return None
        if len(groups) == 1 and not point and (len(groups[0]) != 3 or whole.startswith("0_")):
            return whole.replace("_", ".")  # 0{,}27: a LaTeX decimal comma without a space
        text = text.replace("_", "")
    if decimal == "comma" and _EUROPEAN.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    if not text.startswith("0,") and (_THOUSANDS.fullmatch(text) or _LAKHS.fullmatch(text)):
        return text.replace(",", "")
    if _POINTS.fullmatch(text):
        return text.replace(".", "")
    return text if _PLAIN.fullmatch(text) and text not in ("", ".") else None
