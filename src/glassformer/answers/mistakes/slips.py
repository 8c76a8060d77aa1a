"""Slips of the pen and of the head: which single one turns the right number into the written one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from glassformer.answers.expressions.exact import Real, fixed
from glassformer.answers.expressions.precision import Figure


@dataclass(frozen=True)
class Slip:
    """A stable code, the sentence for the student, and the number that the slip leads to."""

    code: str
    sentence: str
    predicted: str


@dataclass(frozen=True)
class _Pair:
    """The right digits and the written ones, both without separators."""

    right: str
    found: str

    @property
    def differing(self) -> list[int]:
        return [place for place, (one, two) in enumerate(zip(self.right, self.found, strict=True)) if one != two]


def pen_slips(value: Real, figure: Figure) -> list[Slip]:
    """Slips that can be seen in the digits alone, the simplest first."""
    right = Fraction(fixed(value.middle, figure.decimals).replace(",", ""))
    if right == figure.value or not right or not figure.value:
        return []
    found = [
        Slip(code, sentence, figure.text)
        for code, sentence in (
            _sign(right, figure),
            _separator(right, figure),
            *_digits(right, figure),
            _thousands(right, figure),
        )
        if code
    ]
    return found[:1] if found else []


def _sign(right: Fraction, figure: Figure) -> tuple[str, str]:
    return ("sign", "The sign is the wrong one.") if right == -figure.value else ("", "")


def _separator(right: Fraction, figure: Figure) -> tuple[str, str]:
    """`589.824` for 589,824: a point where a comma was meant, or the other way round."""
    head, point, tail = figure.text.replace(",", "").partition(".")
    swapped = point and len(tail) == 3 and right == Fraction(int(head + tail)) if (head + tail).isdecimal() else False
    if swapped and right != figure.value:
        return "decimal_comma", f"The point reads as a decimal point: {figure.text} for {fixed(right, 0)}."
    return "", ""


def _thousands(right: Fraction, figure: Figure) -> tuple[str, str]:
    for power, word in ((3, "a thousand"), (6, "a million"), (9, "a billion")):
        if right == figure.value * 10**power:
            return "thousand", f"Too small by a factor of {word}."
        if right * 10**power == figure.value:
            return "thousand", f"Too large by a factor of {word}."
    return "", ""


def _digits(right: Fraction, figure: Figure) -> list[tuple[str, str]]:
    if (right < 0) != (figure.value < 0):
        return []
    scale = Fraction(10) ** figure.decimals
    whole = abs(right) * scale / max(figure.unit, Fraction(1)), abs(figure.value) * scale / max(figure.unit, Fraction(1))
    if any(part.denominator != 1 for part in whole):
        return []
    pair = _Pair(str(whole[0].numerator), str(whole[1].numerator))
    checks: tuple[Callable[[_Pair], tuple[str, str]], ...] = (_tenfold, _exchanged, _one_wrong, _length)
    return [check(pair) for check in checks]


def _tenfold(pair: _Pair) -> tuple[str, str]:
    for power in (1, 2):
        zeros = "0" * power
        word = "A zero" if power == 1 else "Two zeros"
        if pair.right == pair.found + zeros:
            return "zero_lost", f"{word} got lost at the end."
        if pair.right + zeros == pair.found:
            return "zero_added", f"{word} too many at the end."
    return "", ""


def _exchanged(pair: _Pair) -> tuple[str, str]:
    if len(pair.right) != len(pair.found):
        return "", ""
    places = pair.differing
    if len(places) == 2 and pair.right[places[0]] == pair.found[places[1]] and pair.right[places[1]] == pair.found[places[0]]:
        return "digits_exchanged", f"The digits {pair.right[places[0]]} and {pair.right[places[1]]} changed places."
    return "", ""


def _one_wrong(pair: _Pair) -> tuple[str, str]:
    if len(pair.right) != len(pair.found) or len(pair.right) < 3 or len(pair.differing) != 1:
        return "", ""
    place = pair.differing[0]
    return (
        "digit_wrong",
        f"One digit is wrong: {pair.found[place]} for {pair.right[place]}, digit {place + 1} of {len(pair.right)}.",
    )


def _length(pair: _Pair) -> tuple[str, str]:
    """A digit lost or written twice, a zero most often."""
    longer, shorter = (pair.right, pair.found) if len(pair.right) > len(pair.found) else (pair.found, pair.right)
    if len(longer) != len(shorter) + 1 or len(shorter) < 2:
        return "", ""
    place = next((place for place in range(len(shorter)) if longer[place] != shorter[place]), len(shorter))
    if longer[:place] + longer[place + 1 :] != shorter:
        return "", ""
    lost = longer is pair.right
    if longer[place] == "0":
        return (
            ("zero_lost", "A zero within the number got lost.") if lost else ("zero_added", "A zero too many within the number.")
        )
    if len(shorter) < 4:
        return "", ""
    return ("digit_lost", f"A {longer[place]} got lost.") if lost else ("digit_added", f"A {longer[place]} too many.")
