"""How a formula is written back: plain text or LaTeX, with brackets where the reader needs them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from glassformer.answers.shapes.nodes import (
    Call,
    Elementwise,
    Joined,
    Name,
    Negative,
    Node,
    Number,
    OneHead,
    Power,
    Product,
    Quotient,
    Statement,
    Sum,
    Transposed,
)

LOOSE, SUM, TIMES, TIGHT = 0, 1, 2, 3  # how strongly an expression holds together


def written(node: Node, *, latex: bool = False) -> str:
    """The expression as one writes it."""
    return (LatexWriter() if latex else Writer()).inside(node)


def statement_text(statement: Statement, *, latex: bool = False) -> str:
    """`Q = W_Q X`."""
    body = written(statement.body, latex=latex)
    if statement.name is None:
        return body
    left = written(statement.name, latex=latex)
    if statement.parameters is not None:
        left += f"({', '.join(written(name, latex=latex) for name in statement.parameters)})"
    return f"{left} = {body}"


class Writer:
    """Plain text. One method a kind of expression; each says how strongly its text holds together."""

    brackets = ("(", ")")
    dots = "…"
    hadamard = "⊙"

    def inside(self, node: Node, around: int = LOOSE) -> str:
        text: str
        text, strength = getattr(self, type(node).__name__.lower())(node)
        return text if strength >= around else self.brackets[0] + text + self.brackets[1]

    def name(self, node: Name) -> tuple[str, int]:
        return "_".join([node.base, *node.indexes]), TIGHT

    def number(self, node: Number) -> tuple[str, int]:
        return number_text(node.value), TIGHT if "/" not in number_text(node.value) else TIMES

    def transposed(self, node: Transposed) -> tuple[str, int]:
        return f"{self.inside(node.of, TIGHT)}^T", TIGHT

    def product(self, node: Product) -> tuple[str, int]:
        left = TIGHT if isinstance(node.left, Quotient) else TIMES  # (A / b) C: the line does not go over C
        return f"{self.inside(node.left, left)} {self.inside(node.right, TIGHT)}", TIMES

    def elementwise(self, node: Elementwise) -> tuple[str, int]:
        return f"{self.inside(node.left, TIMES)} {self.hadamard} {self.inside(node.right, TIGHT)}", TIMES

    def sum(self, node: Sum) -> tuple[str, int]:
        return f"{self.inside(node.left, SUM)} {node.sign} {self.inside(node.right, TIMES)}", SUM

    def negative(self, node: Negative) -> tuple[str, int]:
        return f"-{self.inside(node.of, TIGHT)}", SUM

    def quotient(self, node: Quotient) -> tuple[str, int]:
        return f"{self.inside(node.above, TIMES)} / {self.inside(node.below, TIGHT)}", TIMES

    def power(self, node: Power) -> tuple[str, int]:
        text = str(node.exponent)
        return f"{self.inside(node.of, TIGHT)}^{text if len(text) == 1 else f'({text})'}", TIGHT

    def call(self, node: Call) -> tuple[str, int]:
        inside = [*map(self.inside, node.arguments), *([node.axis] if node.axis else [])]
        return f"{node.function}({', '.join(inside)})", TIGHT

    def joined(self, node: Joined) -> tuple[str, int]:
        parts = [*map(self.inside, node.parts), *([self.dots, self.inside(node.until)] if node.until else [])]
        if node.direction is not None:
            return f"[{(', ' if node.direction == 'beside' else '; ').join(parts)}]", TIGHT
        axis = f"; {node.axis}" if node.axis else ""
        return f"{self.word('concat')}{self.brackets[0]}{', '.join(parts)}{axis}{self.brackets[1]}", TIGHT

    def onehead(self, node: OneHead) -> tuple[str, int]:
        return f"{self.inside(node.of, TIGHT)}[one head]", TIGHT

    word: Callable[[str], str] = staticmethod(lambda word: word)


class LatexWriter(Writer):
    """LaTeX."""

    brackets = (r"\left(", r"\right)")
    dots = r"\dots"
    hadamard = r"\odot"
    word = staticmethod(lambda word: rf"\text{{{word}}}")

    def name(self, node: Name) -> tuple[str, int]:
        indexes = [index if len(index) == 1 or index.isdecimal() else rf"\text{{{index}}}" for index in node.indexes]
        base = node.base if len(node.base) == 1 else rf"\text{{{node.base}}}"
        return base + (f"_{{{','.join(indexes)}}}" if indexes else ""), TIGHT

    def transposed(self, node: Transposed) -> tuple[str, int]:
        return f"{self.inside(node.of, TIGHT)}^{{T}}", TIGHT

    def quotient(self, node: Quotient) -> tuple[str, int]:
        return rf"\frac{{{self.inside(node.above)}}}{{{self.inside(node.below)}}}", TIGHT

    def power(self, node: Power) -> tuple[str, int]:
        return f"{self.inside(node.of, TIGHT)}^{{{node.exponent}}}", TIGHT

    def call(self, node: Call) -> tuple[str, int]:
        if node.function == "sqrt":
            return rf"\sqrt{{{self.inside(node.arguments[0])}}}", TIGHT
        axis = rf"_{{\text{{{node.axis}}}}}" if node.axis else ""
        arguments = ", ".join(map(self.inside, node.arguments))
        return rf"{self.word(node.function)}{axis}\left({arguments}\right)", TIGHT

    def onehead(self, node: OneHead) -> tuple[str, int]:
        return rf"{self.inside(node.of, TIGHT)}_{{\text{{one head}}}}", TIGHT


def number_text(value: Fraction) -> str:
    """`64`, `0.125`, `1/3`."""
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value and "e" not in short else str(value)
