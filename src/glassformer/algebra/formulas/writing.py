"""Formulas as plain text or LaTeX, with parentheses only where they are needed."""

from __future__ import annotations

from glassformer.algebra.formulas.form import ONE_HEAD, sides
from glassformer.algebra.formulas.formula import Statement
from glassformer.expressions.tree import (
    Call,
    Grid,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Transposed,
)

LOOSE, SUM, TIMES, TIGHT = 0, 1, 2, 3  # precedence
SHOWN = {"relu": "ReLU", "gelu": "GELU", "layernorm": "LayerNorm", "rmsnorm": "RMSNorm", "batchnorm": "BatchNorm", "ln": "log"}


def written(node: Node, *, latex: bool = False) -> str:
    """Return an expression as text."""
    return (LatexWriter() if latex else Writer()).inside(node)


def statement_text(statement: Statement, *, latex: bool = False) -> str:
    """Return a statement as text: `Q = W_Q X`."""
    body = written(statement.body, latex=latex)
    if not statement.name:
        return body
    left, *parameters = (written(Name(name), latex=latex) for name in (statement.name, *(statement.parameters or ())))
    return f"{left}({', '.join(parameters)}) = {body}" if parameters else f"{left} = {body}"


def axis_text(axis: str) -> str:
    """Return an axis as text: `rows`, `axis=0`."""
    return f"axis={axis}" if axis.lstrip("-").isdecimal() else axis


class Writer:
    """Writes plain text."""

    brackets = ("(", ")")
    hadamard = "⊙"

    def inside(self, node: Node, around: int = LOOSE) -> str:
        text, strength = self.marked(node)
        return text if strength >= around else self.brackets[0] + text + self.brackets[1]

    def items(self, nodes: tuple[Node, ...]) -> str:
        return ", ".join(map(self.inside, nodes))

    def marked(self, node: Node) -> tuple[str, int]:
        """Return the text of an expression and its precedence."""
        match node:
            case Product():
                return self.product(node)
            case Sum(((_, left), (sign, right))):
                return f"{self.inside(left, SUM)} {sign} {self.inside(right, TIMES)}", SUM
            case Negative(inner):
                return f"-{self.inside(inner, TIGHT)}", SUM
            case Number(numeral):
                return str(numeral.text), TIGHT if "/" not in numeral.text else TIMES
            case List(items):
                return f"[{self.items(items)}]", TIGHT
            case Grid(rows):
                return f"[{'; '.join(map(self.items, rows))}]", TIGHT
            case Call():
                return self.call(node), TIGHT
            case _:
                return self.tight(node), TIGHT

    def product(self, node: Product) -> tuple[str, int]:
        left, right = sides(node)
        sign = node.factors[1][0]
        divided = isinstance(left, Product) and left.factors[1][0] == "/"
        if sign:
            return f"{self.inside(left, TIMES)} {sign} {self.inside(right, TIGHT)}".replace("⊙", self.hadamard), TIMES
        return f"{self.inside(left, TIGHT if divided else TIMES)} {self.inside(right, TIGHT)}", TIMES

    def call(self, node: Call) -> str:
        if node.function == ONE_HEAD:
            return f"{self.inside(node.arguments[0], TIGHT)}[{ONE_HEAD}]"
        axis = axis_text(node.axis)
        between = "; " if node.function == "concat" else ", "
        return f"{SHOWN.get(node.function, node.function)}({self.items(node.arguments)}{between + axis if axis else ''})"

    def tight(self, node: Node) -> str:
        match node:
            case Name(text):
                return text
            case Transposed(inner):
                return f"{self.inside(inner, TIGHT)}^T"
            case Root(inner):
                return f"sqrt({self.inside(inner)})"
            case Power(base, exponent):
                text = self.inside(exponent)
                return f"{self.inside(base, TIGHT)}^{text if len(text) == 1 else f'({text})'}"
            case _:
                return "…"


class LatexWriter(Writer):
    """Writes LaTeX."""

    brackets = (r"\left(", r"\right)")
    hadamard = r"\odot"

    def product(self, node: Product) -> tuple[str, int]:
        left, right = sides(node)
        if node.factors[1][0] == "/":
            return rf"\frac{{{self.inside(left)}}}{{{self.inside(right)}}}", TIGHT
        return super().product(node)

    def call(self, node: Call) -> str:
        axis = rf"_{{\text{{{axis_text(node.axis)}}}}}" if node.axis else ""
        return rf"\text{{{SHOWN.get(node.function, node.function)}}}{axis}\left({self.items(node.arguments)}\right)"

    def tight(self, node: Node) -> str:
        match node:
            case Name(text):
                base, *indexes = (word if len(word) == 1 or word.isdecimal() else rf"\text{{{word}}}" for word in text.split("_"))
                return r"\dots" if text == "…" else base + (f"_{{{','.join(indexes)}}}" if indexes else "")
            case Transposed(inner):
                return f"{self.inside(inner, TIGHT)}^{{T}}"
            case Root(inner):
                return rf"\sqrt{{{self.inside(inner)}}}"
            case Power(base, exponent):
                return f"{self.inside(base, TIGHT)}^{{{self.inside(exponent)}}}"
            case _:
                return super().tight(node)
