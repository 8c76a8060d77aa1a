"""Formatters: write a rule as plain text or as LaTeX, with tokens as rows or as columns."""

from __future__ import annotations

from typing import Literal, NamedTuple

Convention = Literal["rows", "columns"]

GREEK = {"gamma": "γ", "beta": "β", "lambda": "λ", "mu": "μ", "pi": "π", "variance": "σ²"}


class TextFormatter(NamedTuple):
    """Plain text with the mathematical signs that every terminal has."""

    convention: Convention = "rows"

    def symbol(self, text: str) -> str:
        head, line, tail = text.partition("_")
        return f"{GREEK.get(head, head)}{line}{tail}"

    def number(self, value: float) -> str:
        return f"{value:g}"

    def transposed(self, text: str) -> str:
        return f"{text}ᵀ"

    def product(self, *factors: str) -> str:
        return " ".join(factors)

    def times(self, *factors: str) -> str:
        """The element-wise product."""
        return " ⊙ ".join(factors)

    def plus(self, *terms: str) -> str:
        return " + ".join(terms)

    def minus(self, left: str, right: str) -> str:
        return f"{left} − {right}"

    def ratio(self, top: str, bottom: str) -> str:
        return f"{_bracketed(top)} / {_bracketed(bottom)}"

    def square(self, text: str) -> str:
        return f"{_bracketed(text)}²"

    def root(self, text: str) -> str:
        return f"√({text})" if " " in text else f"√{text}"

    def call(self, name: str, *arguments: str) -> str:
        return f"{name}({', '.join(arguments)})"

    def words(self, text: str) -> str:
        return text

    def over(self, axis: str) -> str:
        return f" over {axis}"

    def indexed(self, table: str, index: str) -> str:
        return f"{table}[{index}]"


class LatexFormatter(NamedTuple):
    """LaTeX mathematics, for papers, notebooks and KaTeX."""

    convention: Convention = "rows"

    def symbol(self, text: str) -> str:
        head, _, tail = text.partition("_")
        head = r"\sigma^2" if head == "variance" else "\\" + head if head in GREEK else _upright(head)
        return f"{head}_{{{_upright(tail)}}}" if tail else head

    def number(self, value: float) -> str:
        mantissa, _, exponent = f"{value:g}".partition("e")
        if not exponent:
            return mantissa
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else f"{mantissa} \\cdot {power}"

    def transposed(self, text: str) -> str:
        return f"{text}^{{\\top}}"

    def product(self, *factors: str) -> str:
        return r" \, ".join(factors)

    def times(self, *factors: str) -> str:
        return r" \odot ".join(factors)

    def plus(self, *terms: str) -> str:
        return " + ".join(terms)

    def minus(self, left: str, right: str) -> str:
        return f"{left} - {right}"

    def ratio(self, top: str, bottom: str) -> str:
        return f"\\frac{{{top}}}{{{bottom}}}"

    def square(self, text: str) -> str:
        return f"\\left({text}\\right)^2"

    def root(self, text: str) -> str:
        return f"\\sqrt{{{text}}}"

    def call(self, name: str, *arguments: str) -> str:
        return f"\\operatorname{{{_escaped(name)}}}\\left({', '.join(arguments)}\\right)"

    def words(self, text: str) -> str:
        return f"\\text{{{_escaped(text)}}}"

    def over(self, axis: str) -> str:
        return f"\\text{{ over }}{self.symbol(axis)}"

    def indexed(self, table: str, index: str) -> str:
        return f"{table}\\left[{index if index.startswith(chr(92)) else self.words(index)}\\right]"


Formatter = TextFormatter | LatexFormatter


def _upright(word: str) -> str:
    """Return a single letter or a number unchanged, a word in upright type."""
    return word if len(word) == 1 or word.isdecimal() else "\\mathrm{" + _escaped(word) + "}"


def _escaped(text: str) -> str:
    """Escape text for use inside \\text{…}: LaTeX commands, and mathematical signs that it cannot typeset."""
    swaps = {"\\": r"\textbackslash ", "−": "-", "×": "x", "…": "...", "∞": r"$\infty$", "√": "root "}
    swaps |= {sign: "\\" + sign for sign in "_%#&{}$"}
    return "".join(swaps.get(sign, sign) for sign in text)


def _bracketed(text: str) -> str:
    depth = 0
    for position, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign in "+−/" and position > 0:
            return f"({text})"
    return text
