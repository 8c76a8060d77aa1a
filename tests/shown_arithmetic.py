"""Displayed arithmetic, evaluated again from its text."""

from __future__ import annotations

import math
import re

NOTE = re.compile(r" \((?:\d+ more|padding|masked|all keys are masked[^)]*)\)")
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+−-]?\d+)?|∞|π|NaN|[a-z]+|[-+−·/^²√()])")
FUNCTIONS = {
    "exp": math.exp,
    "erf": math.erf,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 0.5 * (1 + math.tanh(x / 2)),
}
NAMES = {"∞": math.inf, "π": math.pi, "NaN": math.nan}


def worked_out(text: str) -> float:
    """The value of `0.5 · (−2) + exp(1) / √2`."""
    reader = _Reader(NOTE.sub("", text))
    value = reader.sum()
    assert reader.here is None, f"{text!r} goes on with {reader.here!r}"
    return value


class _Reader:
    """Sums of products of signed powers, in the usual order; 0 / 0 is 0, as in the program."""

    def __init__(self, text: str) -> None:
        self.tokens, place = [], 0
        while place < len(text.rstrip()):
            found = TOKEN.match(text, place)
            assert found is not None, f"{text[place:]!r} is no arithmetic"
            self.tokens.append(found[1].replace("-", "−"))
            place = found.end()
        self.place = 0

    @property
    def here(self) -> str | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *wanted: str) -> str | None:
        found = self.here
        if found is None or (wanted and found not in wanted):
            return None
        self.place += 1
        return found

    def sum(self) -> float:
        terms = [self.product()]
        while sign := self.take("+", "−"):
            terms.append(self.product() * (1 if sign == "+" else -1))
        return math.fsum(terms)

    def product(self) -> float:
        value = self.signed()
        while sign := self.take("·", "/"):
            other = self.signed()
            value = value * other if sign == "·" else 0.0 if value == other == 0 else value / other
        return value

    def signed(self) -> float:
        return -self.signed() if self.take("−") else self.power()

    def power(self) -> float:
        value = self.atom()
        if self.here == "√":  # 2√3
            value *= self.atom()
        while sign := self.take("²", "^"):
            value = value * value if sign == "²" else value ** self.atom()
        return value

    def atom(self) -> float:
        token = self.take()
        assert token is not None, "a number is missing"
        if token == "√":
            inside = self.atom()
            return math.sqrt(inside) if inside >= 0 else math.nan
        if token in NAMES:
            return NAMES[token]
        if token == "(" or token in FUNCTIONS:
            assert token == "(" or self.take("("), f"{token} is not called"
            value = self.sum()
            assert self.take(")"), "a bracket stays open"
            return value if token == "(" else FUNCTIONS[token](value)
        return float(token.replace("−", "-"))
