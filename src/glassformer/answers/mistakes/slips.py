"""Slips in writing a number down: the single slip that turns the right number, or list of numbers, into the written one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from glassformer.expressions.exact import Real, about, fixed
from glassformer.expressions.precision import Figure

TELLING = 4  # digits: one in thirty numbers of three digits differs from another in one
ANY_TWO = 6  # from this many digits on, any two swapped digits are a slip, not only neighbours
POWERS = {1: "ten", 2: "a hundred", 3: "a thousand", 6: "a million", 9: "a billion"}


@dataclass(frozen=True)
class Slip:
    """A slip: its stable code, the sentence for the student, and the number that it leads to."""

    code: str
    sentence: str
    predicted: str
    exact: bool = False  # whether the slip gives exactly the written number, without rounding

    @property
    def what(self) -> str:
        """The sentence as part of a longer one."""
        return self.sentence[0].lower() + self.sentence[1:].rstrip(".")


@dataclass(frozen=True)
class _Pair:
    """The right digits and the written ones, without point and separators."""

    right: str
    found: str

    @property
    def differing(self) -> list[int]:
        return [place for place, (one, two) in enumerate(zip(self.right, self.found, strict=True)) if one != two]


def pen_slips(value: Real, figure: Figure) -> list[Slip]:
    """Return the simplest slip in the digits of one number; empty if it would take more than one."""
    right = Fraction(fixed(value.middle, figure.decimals).replace(",", ""))
    if right == figure.value or not value.middle or not figure.value:
        return []
    found = (*_sign(right, figure), *_separator(right, figure), *_point(value, figure), *_digits(right, figure))
    found = (*found, *_power_of_ten(value, figure))
    exact = figure.unit >= 1 and not figure.rounded
    return [Slip(code, sentence, figure.text, exact) for code, sentence in found[:1]]


def list_slips(
    values: Sequence[Real], figures: Sequence[Figure], wrong: Sequence[int], place: Callable[[int], str]
) -> list[Slip]:
    """Return the slip in the only wrong number of a list, two swapped numbers, or the same slip in all wrong numbers.

    `wrong` lists the indices of the wrong numbers; `place` returns the description of an index.
    """
    found = [pen_slips(values[one], figures[one])[:1] for one in wrong]
    if len(wrong) == 2 and _crossed(values, figures, wrong):
        what = f"{place(wrong[0])} and {place(wrong[1])} are swapped."
        return [Slip("entries_exchanged", what[0].upper() + what[1:], ", ".join(figures[one].text for one in wrong), exact=True)]
    if not wrong or not all(found) or len({slip.code for (slip,) in found}) > 1:
        return []
    if len(wrong) == 1 and len(values) > 1:
        (slip,), figure = found[0], figures[wrong[0]]
        due = fixed(values[wrong[0]].middle, max(figure.decimals, 4 if figure.unit < 1 else 0))
        said = f"{slip.sentence.partition(':')[0].rstrip('.')} in {place(wrong[0])}: {figure.text} instead of {due}."
        return [replace(slip, sentence=said.replace("-", "−"))]
    everywhere = len(wrong) == len(values) > 1 and len({slip.sentence for (slip,) in found}) == 1
    return [replace(found[0][0], sentence=f"Every number: {found[0][0].what}.")] if everywhere else found[0]


def _crossed(values: Sequence[Real], figures: Sequence[Figure], wrong: Sequence[int]) -> bool:
    """Return whether two numbers, each of more than one digit, are swapped."""
    pairs = ((values[wrong[0]], figures[wrong[1]]), (values[wrong[1]], figures[wrong[0]]))
    return all(value.meets(_room(figure)) and abs(figure.value) >= 10 * figure.unit for value, figure in pairs)


def _room(figure: Figure) -> Real:
    """Return the interval of numbers that a figure may stand for."""
    return about(figure.value, figure.unit / 2 if figure.unit < 1 or figure.rounded else Fraction(0))


def _sign(right: Fraction, figure: Figure) -> Iterator[tuple[str, str]]:
    if right == -figure.value:
        yield "sign_slip", "The sign is wrong."


def _separator(right: Fraction, figure: Figure) -> Iterator[tuple[str, str]]:
    """Detect `589.824` instead of 589,824."""
    head, point, tail = figure.text.replace(",", "").partition(".")
    if point and len(tail) == 3 and (head + tail).isdecimal() and right == int(head + tail):
        yield "decimal_comma", f"The point reads as a decimal point: {figure.text} instead of {fixed(right, 0)}."


def _point(value: Real, figure: Figure) -> Iterator[tuple[str, str]]:
    """Detect a decimal point that is one or two places off, in a number of at least two digits."""
    for power in (1, -1, 2, -2) if figure.unit < 1 and abs(figure.value) >= 10 * figure.unit else ():
        if (value * Real(Fraction(10) ** power, Fraction(10) ** power)).meets(_room(figure)):
            yield "decimal_point", f"The decimal point is misplaced: too {_size(power)} by a factor of {POWERS[abs(power)]}."


def _power_of_ten(value: Real, figure: Figure) -> Iterator[tuple[str, str]]:
    for power in (3, 6, 9, -3, -6, -9):
        if value.middle * Fraction(10) ** power == figure.value:
            yield "thousand", f"Too {_size(power)} by a factor of {POWERS[abs(power)]}."


def _size(power: int) -> str:
    return "large" if power > 0 else "small"


def _digits(right: Fraction, figure: Figure) -> Iterator[tuple[str, str]]:
    if (right < 0) != (figure.value < 0):
        return
    scale = Fraction(10) ** figure.decimals / max(figure.unit, Fraction(1))
    whole = abs(right) * scale, abs(figure.value) * scale
    if all(part.denominator == 1 for part in whole):
        pair = _Pair(str(whole[0].numerator), str(whole[1].numerator))
        for check in (_zeros, _exchanged, _one_wrong, _length):
            yield from check(pair)


def _zeros(pair: _Pair) -> Iterator[tuple[str, str]]:
    for zeros, words in (("0", "A zero"), ("00", "Two zeros")):
        if pair.right == pair.found + zeros:
            yield "zero_lost", f"{words} {'is' if zeros == '0' else 'are'} missing at the end."
        if pair.right + zeros == pair.found:
            yield "zero_added", f"{words} too many at the end."


def _exchanged(pair: _Pair) -> Iterator[tuple[str, str]]:
    if len(pair.right) != len(pair.found) or len(pair.differing) != 2:
        return
    one, two = pair.differing
    if pair.right[one] + pair.right[two] == pair.found[two] + pair.found[one] and (two - one == 1 or len(pair.right) >= ANY_TWO):
        yield "digits_exchanged", f"The digits {pair.right[one]} and {pair.right[two]} are swapped."


def _one_wrong(pair: _Pair) -> Iterator[tuple[str, str]]:
    if len(pair.right) == len(pair.found) >= TELLING and len(pair.differing) == 1:
        (place,) = pair.differing
        where = f"digit {place + 1} of {len(pair.right)}"
        yield "digit_wrong", f"One digit is wrong: {pair.found[place]} instead of {pair.right[place]}, {where}."


def _length(pair: _Pair) -> Iterator[tuple[str, str]]:
    """Detect a missing or extra digit, most often a zero."""
    longer, shorter = (pair.right, pair.found) if len(pair.right) > len(pair.found) else (pair.found, pair.right)
    if len(longer) != len(shorter) + 1 or len(shorter) < 2:
        return
    place = next((place for place in range(len(shorter)) if longer[place] != shorter[place]), len(shorter))
    lost = longer is pair.right
    if longer[:place] + longer[place + 1 :] != shorter:
        return
    if longer[place] == "0":
        yield (
            ("zero_lost", "A zero within the number is missing.")
            if lost
            else ("zero_added", "A zero too many within the number.")
        )
    elif len(shorter) >= 4:
        digit = longer[place]
        yield ("digit_lost", f"A digit {digit} is missing.") if lost else ("digit_added", f"A digit {digit} too many.")
