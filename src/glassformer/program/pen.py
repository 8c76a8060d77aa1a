"""Pens: how a rule is put on paper, as plain text or as LaTeX, with tokens as rows or as columns."""

from __future__ import annotations

from typing import Literal, NamedTuple

Convention = Literal["rows", "columns"]

GREEK = ("alpha", "beta", "gamma", "epsilon", "theta", "lambda", "mu", "sigma")


class TextPen(NamedTuple):
    """Plain text with the mathematical signs that every terminal has."""

    convention: Convention = "rows"

    def symbol(self, text: str) -> str:
        return {"gamma": "γ", "beta": "β", "lambda": "λ", "mu": "μ"}.get(text, text)

    def transposed(self, text: str) -> str:
        return f"{text}ᵀ"

    def product(self, *factors: str) -> str:
        return " ".join(factors)

    def times(self, *factors: str) -> str:
        """The element-wise product."""
        return " ⊙ ".join(factors)

    def plus(self, *terms: str) -> str:
        return " + ".join(terms)

    def ratio(self, top: str, bottom: str) -> str:
        return f"{_bracketed(top)} / {_bracketed(bottom)}"

    def root(self, text: str) -> str:
        return f"√{text}" if text.replace("_", "").isalnum() else f"√({text})"

    def call(self, name: str, *arguments: str) -> str:
        return f"{name}({', '.join(arguments)})"

    def words(self, text: str) -> str:
        return text

    def indexed(self, table: str, index: str) -> str:
        return f"{table}[{index}]"


class LatexPen(NamedTuple):
    """LaTeX mathematics, for papers, notebooks and KaTeX."""

    convention: Convention = "rows"

    def symbol(self, text: str) -> str:
        head, _, tail = text.partition("_")
        head = "\\" + head if head in GREEK else _upright(head)
        return f"{head}_{{{_upright(tail)}}}" if tail else head

    def transposed(self, text: str) -> str:
        return f"{text}^{{\\top}}"

    def product(self, *factors: str) -> str:
        return r" \, ".join(factors)

    def times(self, *factors: str) -> str:
        return r" \odot ".join(factors)

    def plus(self, *terms: str) -> str:
        return " + ".join(terms)

    def ratio(self, top: str, bottom: str) -> str:
        return f"\\frac{{{top}}}{{{bottom}}}"

    def root(self, text: str) -> str:
        return f"\\sqrt{{{text}}}"

    def call(self, name: str, *arguments: str) -> str:
        return f"\\operatorname{{{name.replace('_', ' ')}}}\\left({', '.join(arguments)}\\right)"

    def words(self, text: str) -> str:
        return f"\\text{{{text.replace('_', ' ')}}}"

    def indexed(self, table: str, index: str) -> str:
        return f"{table}[{index}]"


Pen = TextPen | LatexPen


def _upright(word: str) -> str:
    """A single letter as it is, a word upright."""
    return word if len(word) == 1 else "\\mathrm{" + word.replace("_", "\\_") + "}"


def _bracketed(text: str) -> str:
    simple = " + " not in text and " / " not in text and " − " not in text
    return text if simple else f"({text})"
