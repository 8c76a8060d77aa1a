"""Readings of ambiguous notation: the possible choices, and which of them apply to a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Literal, get_args, get_type_hints

from glassformer.expressions import numerals
from glassformer.expressions.scanner import Token

MOST_READINGS = 24


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One interpretation of every ambiguous sign; the defaults are the usual ones."""

    commas: Literal["usual", "thousands", "items"] = "usual"  # usual: items between square brackets, thousands elsewhere
    decimal: numerals.Decimal = "point"
    juxtaposition: Literal["tight", "even"] = "tight"  # 1/2d is 1/(2d), or (1/2)d
    logarithm: Literal["e", "10", "2"] = "e"
    vectors: Literal["dot", "each", "outer"] = "dot"
    softmax: Literal["rows", "columns"] = "rows"
    percent: Literal["hundredth", "one"] = "hundredth"
    scale: Literal["decimal", "binary", "none"] = "decimal"  # MB
    minus: Literal["outside", "inside"] = "outside"  # -2^2 is -(2^2), or (-2)^2
    spread: Literal["population", "sample"] = "population"  # of var and std
    hats: Literal["number", "unit"] = "number"  # 5 heads^2 is 25 heads; 5 cm^2 is 5
    mixed: Literal["product", "sum"] = "product"  # 2\frac{1}{2} is one, or two and a half

    def description(self) -> str:
        """Describe what is unusual about this reading."""
        usual = Reading()
        return "; ".join(
            WORDS[name, getattr(self, name)]
            for name in self.__dataclass_fields__
            if getattr(self, name) != getattr(usual, name) and (name, getattr(self, name)) in WORDS
        )


WORDS = {
    ("decimal", "comma"): "with a decimal comma",
    ("logarithm", "10"): "with the logarithm to base 10",
    ("logarithm", "2"): "with the logarithm to base 2",
    ("vectors", "each"): "with an element-wise product",
    ("vectors", "outer"): "with an outer product",
    ("softmax", "columns"): "with the softmax down the columns",
    ("scale", "binary"): "with units of 1,024",
    ("spread", "sample"): "with the variance divided by n - 1",
}


def readings(tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield the usual reading, then every other possible reading of the tokens, at most a few dozen."""
    choices = _open_choices(tokens)
    usual = Reading()
    yield usual
    count = 1
    for values in product(*choices.values()):
        found = replace(usual, **dict(zip(choices, values, strict=True)))
        if found != usual:
            count += 1
            if count > MOST_READINGS:
                return
            yield found


def _open_choices(tokens: Sequence[Token]) -> dict[str, Any]:
    """Return the values of each relevant field, the usual one first."""
    texts = {(token.kind, token.text) for token in tokens}
    kinds = {token.kind for token in tokens}
    numbers = [token.text for token in tokens if token.kind == "number"]
    lists = sum(token.kind == "begin" or (token.kind == "open" and token.text in "[⟨(") for token in tokens)
    several = lists > 1 and ("begin" in kinds or "comma" in kinds or any(map(numerals.has_commas, numbers)))
    questions = {
        "commas": lists and any(map(numerals.has_commas, numbers)),
        "decimal": any(numerals.reads_both_ways(text) for text in numbers),
        "vectors": several and _multiplies(tokens),
        "logarithm": ("function", "log") in texts,
        "softmax": several and ("function", "softmax") in texts and (lists > 2 or "begin" in kinds),
        "spread": texts & {("function", "var"), ("function", "std")},
        "percent": "percent" in kinds,
        "scale": "unit" in kinds,
        "juxtaposition": ("operator", "/") in texts,
        "hats": any(one.kind in ("word", "note", "unit") and two.text == "^" for one, two in pairwise(tokens)),
        "mixed": any(one.kind == "number" and two.text == "frac" for one, two in pairwise(tokens)),
        "minus": ("operator", "-") in texts and ("operator", "^") in texts,
    }
    return {name: CHOICES[name] for name, asked in questions.items() if asked}


CHOICES = {name: get_args(hint) for name, hint in get_type_hints(Reading).items()}


def _multiplies(tokens: Sequence[Token]) -> bool:
    """Return whether lists may be multiplied: a product sign, or adjacent brackets."""
    if any(token.kind == "operator" and token.text in "×·*@" for token in tokens):
        return True
    return any(one.kind in ("close", "end", "name", "sub") and two.kind in ("open", "begin") for one, two in pairwise(tokens))
