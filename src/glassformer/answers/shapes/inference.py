"""Follows a formula statement by statement: the shape of every sub-expression, down to the first that does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from glassformer.answers.shapes.evidence import Evidence
from glassformer.answers.shapes.given import Given, read_shape
from glassformer.answers.shapes.names import FUNCTIONS, POINTWISE, REDUCTIONS, Running
from glassformer.answers.shapes.nodes import (
    Call,
    Elementwise,
    Joined,
    Name,
    Node,
    OneHead,
    Product,
    Statement,
    Sum,
    Transposed,
    swapped,
)
from glassformer.answers.shapes.order import in_order, places
from glassformer.answers.shapes.scalars import Scalars
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.trace import Claim, MismatchError, Row, RowKind, Trace
from glassformer.answers.shapes.values import Scale, Value, is_bias, is_parameter, number, role_of
from glassformer.answers.shapes.writing import statement_text, written
from glassformer.spec import GlassformerError, nearest, shown

MOST_STEPS = 4_000
MASKS = frozenset({"M", "mask", "Mask"})
COUNTS = frozenset("d D t T n N m h s L heads tokens seq alpha lambda tau epsilon eps c scale".split())


class Inference(Scalars):
    """Values by name; each kind of expression has one method."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.trace = Trace()
        self.book = self.trace.book
        self.known = self.trace.known
        self.known.update(given.numbers)
        self.values: dict[str, Value] = {}
        self.defined, self.shaped = Running(), Running(given.shapes)
        self.functions: dict[str, Statement] = {}
        self.seen: set[str] = set()
        self.steps = 0
        self.operands = {}
        self.ready = {}
        self.called: list[str] = []
        self.evidence = Evidence(given, self.known)
        self.symbols = {symbol for shape in given.shapes.values() if len(shape) == 2 for size in shape for symbol in size.symbols}

    def run(self, statements: Sequence[Statement]) -> Trace:
        """Everything up to the first thing that does not fit."""
        statements = in_order(statements, frozenset(self.given.shapes))
        for at, statement in enumerate(statements):
            try:
                self.statement(statement)
            except MismatchError as failed:
                self.trace.failed = failed
                self.trace.left_out = list(statements[at:] if failed.node is not statement.body else statements[at + 1 :])
                self.fail_row(failed)
                break
        if self.trace.result is None and self.trace.failed is None:
            self.never_called(statements)
        return self.trace

    def statement(self, statement: Statement) -> None:
        name = statement.name
        if statement.parameters is not None and name is not None:
            self.functions[name.base] = statement
            if not all(self.has(parameter) for parameter in statement.parameters):
                return  # a definition, to be called later
            self.called.append(name.base)
        value = self.value(statement.body, last=statement)
        if statement.parameters is not None and name is not None:
            self.called.pop()
        elif name is not None:
            role = role_of(name)
            if name.key in self.values:
                self.seen.clear()
            clean = {"pair": None, "weights": None} if role else {}
            self.define(name.key, replace(value, role=role or value.role, **clean))  # type: ignore[arg-type]
        self.trace.result = value
        self.check_claim(statement, value)

    def check_claim(self, statement: Statement, value: Value) -> None:
        """A shape given for a name that the formula computes is a claim, and so is one written behind a statement."""
        said = read_shape(statement.claim, "∈ R") if statement.claim else None
        if said is None and statement.name is not None and statement.name.key not in self.trace.given:
            said = self.given.shapes.get(statement.name.key)
        if said is None or len(said) != len(value.axes):
            return
        agreed = [self.same(mine, theirs) for mine, theirs in zip(value.sizes, said, strict=True)]
        if not all(agreed):
            self.trace.events.append(Claim(statement, said, value))

    def never_called(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            for parameter in statement.parameters or ():
                self.name(parameter)  # says which shape is missing

    def value(self, node: Node, *, last: Statement | None = None) -> Value:
        """The value of an expression, with a row for it; `last` where it is the whole of a statement."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise GlassformerError(f"the formula unfolds to more than {MOST_STEPS:,} steps: check it in parts.")
        value: Value = self.ready.get(node) or getattr(self, type(node).__name__.lower())(node)
        if last is not None and last.name is not None:
            self.row(node, value, statement_text(last), statement_text(last, latex=True), result=True)
        elif not isinstance(node, Name) or last is not None:
            self.row(node, value, written(node), written(node, latex=True), result=last is not None)
        return value

    def row(self, node: Node, value: Value, text: str, latex: str, *, result: bool) -> None:
        if not value.axes or text in self.seen:
            return
        self.seen.add(text)
        kind: RowKind = "result" if result else "product" if isinstance(node, Product) else "step"
        operands = self.operands.pop(node, ())
        self.trace.products += len(operands) > 0
        pair = value.weights.pair if value.weights else value.pair
        self.trace.rows.append(Row(node, text, latex, kind, value.axes, operands, pair.roles if pair else (None, None)))

    def fail_row(self, failed: MismatchError) -> None:
        operands = tuple(value.sizes for value in failed.values)
        self.trace.products += isinstance(failed.node, Product)
        self.trace.rows.append(Row(failed.node, written(failed.node), written(failed.node, latex=True), "failed", (), operands))

    # Names and numbers

    def define(self, key: str, value: Value) -> None:
        self.values[key] = value
        self.defined.add(key)

    def has(self, name: Name) -> bool:
        return bool(self.defined.find(name.key) or self.shaped.find(name.key))

    def name(self, node: Name, *, as_number: bool = False) -> Value:
        key = self.defined.find(node.key)
        if key and (node.key in self.values or node.key not in self.given.shapes):
            return self.values[key]
        key = self.shaped.find(node.key)
        if key is not None:
            shape = self.given.shapes[key]
            counts = as_number or key in self.symbols or node.base in COUNTS
            if len(shape) == 1 and counts and not is_bias(node):
                return number(shape[0].put_in(self.known))
            return self.load(self.given.names[key])
        if as_number or node.key in self.symbols:
            return number(Size.of(node.key).put_in(self.known))
        raise self.unknown(node)

    def unknown(self, node: Name) -> GlassformerError:
        text = written(node)
        known = list(dict.fromkeys([*self.given.shapes, *self.values]))
        close = nearest(node.key, [*known, *FUNCTIONS])
        if close or len(node.base) > 2:
            listed = f" Known: {', '.join(known[:12])}." if known and not close else ""
            return GlassformerError(f"'{shown(text)}' is neither given nor defined before it is used.{close}{listed}")
        return GlassformerError(f"'{shown(text)}' has no shape: give it, as in {shown(text)}=768x6.")

    def load(self, name: Name) -> Value:
        """A given matrix, seen for the first time: its row, and what its name and its sizes say of it."""
        sizes = self.given.shapes[name.key]
        vector = len(sizes) == 1
        parameter = is_parameter(name)
        kinds = ("features", "features") if parameter else self.evidence.kinds(name)
        axes = [
            self.book.new(size, None if size.number == 1 and is_bias(name) else kind)
            for size, kind in zip(sizes, kinds, strict=False)
        ]
        if vector:
            axes.append(self.book.new(Size.of(1)))
        value = Value(
            tuple(axes),
            "weight" if parameter else "data",
            loose=vector,
            role=role_of(name),
            origins=frozenset() if parameter else frozenset({name.key}),
        )
        self.define(name.key, value)
        self.trace.given[name.key] = (name, value)
        text = written(name)
        if text not in self.seen:
            self.seen.add(text)
            self.trace.rows.append(Row(name, text, written(name, latex=True), "given", value.axes))
        return value

    # Expressions, one method each

    def transposed(self, node: Transposed) -> Value:
        return self.value(node.of).transposed()

    def sum(self, node: Sum) -> Value:
        mask = next((side for side in (node.left, node.right) if isinstance(side, Name) and side.base in MASKS), None)
        if mask is not None and not self.has(mask):  # a mask has the shape of the scores that it is added to
            return self.value(node.right if mask is node.left else node.left)
        return self.broadcast(node, self.value(node.left), self.value(node.right))

    def elementwise(self, node: Elementwise) -> Value:
        return self.broadcast(node, self.value(node.left), self.value(node.right))

    def product(self, node: Product) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if left.axes and right.axes:
            return self.multiplied(node, left, right)
        if not left.axes and not right.axes:
            return self.numbers(left, right, divide=False)
        matrix, factor, place = (right, left, node.left) if right.axes else (left, right, node.right)
        assert factor.scalar is not None
        by = replace(factor.scalar, exponent=-factor.scalar.exponent)
        return replace(matrix, scales=(*matrix.scales, Scale(by, place)))

    def call(self, node: Call) -> Value:
        function = node.function.lower()
        if node.function in self.functions:
            return self.own(node)
        if function == "sqrt":
            return self.root(self.as_number(node.arguments[0]))
        if function == "attention":
            return self.attention(node, *node.arguments)
        if function == "multihead":
            return self.multihead(node)
        value = self.value(node.arguments[0])
        if not value.axes:
            return number()
        if function == "softmax":
            return self.softmax(node, value)
        if function in REDUCTIONS:
            return self.reduced(node, value)
        assert function in POINTWISE, function
        return value if function == "dropout" else replace(value, pair=None, weights=None, scales=())

    def own(self, node: Call) -> Value:
        """A function that the formula defines itself, with the arguments put in."""
        defined = self.functions[node.function]
        parameters = defined.parameters or ()
        if node.function in self.called:
            raise GlassformerError(f"{shown(node.function)} is defined by itself.")
        if len(parameters) != len(node.arguments):
            raise GlassformerError(f"{shown(node.function)} takes {len(parameters)} arguments, found {len(node.arguments)}.")
        put_in = {parameter.key: argument for parameter, argument in zip(parameters, node.arguments, strict=True)}
        self.called.append(node.function)
        value = self.value(swapped(defined.body, places(defined.body, put_in)))
        self.called.pop()
        return value

    def joined(self, node: Joined) -> Value:
        return self.join(node, [self.value(part) for part in node.parts])

    def onehead(self, node: OneHead) -> Value:
        return self.one_head(node, self.value(node.of))
