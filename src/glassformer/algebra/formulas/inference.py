"""Shape inference: evaluates a formula statement by statement, up to the first expression that does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from glassformer.algebra.formulas.evidence import Evidence
from glassformer.algebra.formulas.form import ONE_HEAD, Places, joined_parts, multiplies, renamed, sides, times
from glassformer.algebra.formulas.formula import Statement, in_order
from glassformer.algebra.formulas.given import Given, sizes_of
from glassformer.algebra.formulas.names import FUNCTIONS, REDUCTIONS, Names, key_of
from glassformer.algebra.formulas.rules import Rules, before_dots
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.algebra.formulas.trace import Claim, MismatchError, Row, RowKind, Trace, shape_text
from glassformer.algebra.formulas.values import (
    Roles,
    Scale,
    Value,
    Weights,
    is_bias,
    is_parameter,
    number,
    numbers,
    raised,
    role_of,
)
from glassformer.algebra.formulas.writing import statement_text, written
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.expressions.limits import FORMULA_STEPS
from glassformer.expressions.plain import plain
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

MASKS = frozenset({"M", "mask", "Mask"})
COUNTS = frozenset("d D t T n N m h s L heads tokens seq alpha lambda tau epsilon eps c scale".split())
HEAD_COUNTS = ("heads", "h", "H", "S", "n_heads")


class Inference(Rules):
    """Infers the shape of every expression; each kind of expression has one method."""

    def __init__(self, given: Given) -> None:
        super().__init__(Trace())
        self.given = given
        self.known.update(given.numbers)
        self.values: dict[str, Value] = {}
        self.defined, self.shaped = Names(), Names(given.shapes)
        self.functions: dict[str, Statement] = {}
        self.seen: set[str] = set()
        self.steps = 0
        self.ready: Places[Value] = Places()  # values of generated expressions
        self.called: list[str] = []
        self.evidence = Evidence(given, self.known)
        self.symbols = {symbol for shape in given.shapes.values() if len(shape) == 2 for size in shape for symbol in size.symbols}

    def run(self, statements: Sequence[Statement]) -> Trace:
        """Evaluate all statements, up to the first mismatch."""
        statements = in_order(statements, self.given.shapes)
        for at, statement in enumerate(statements):
            try:
                self.statement(statement)
            except MismatchError as failed:
                self.trace.failed = failed
                self.trace.left_out = list(statements[at + (failed.node is statement.body) :])
                self.trace.products += multiplies(failed.node)
                self.row(Statement(failed.node), "failed", None, tuple(value.sizes for value in failed.values))
                break
        if self.trace.result is None and self.trace.failed is None:
            for parameter in (parameter for statement in statements for parameter in statement.parameters or ()):
                self.name(Name(parameter))  # a function that is never called: report the missing shape
        return self.trace

    def statement(self, statement: Statement) -> None:
        key, own = key_of(statement.name), statement.parameters is not None
        if own:
            self.functions[statement.name] = statement
            if not all(map(self.has, statement.parameters or ())):
                return  # a definition, to be called later
            self.called.append(statement.name)
        value = self.value(statement.body, last=statement)
        if own:
            self.called.pop()
        elif statement.name:
            role = role_of(statement.name)
            if key in self.values:
                self.seen.clear()
            named = replace(value, role=role, pair=None, weights=None) if role else value
            self.define(key, named)
        self.trace.result = value
        self.claim(statement, value)

    def claim(self, statement: Statement, value: Value) -> None:
        """Check a shape that was given for a computed name, or stated after a statement."""
        said = sizes_of(statement.claim, "∈ R") if statement.claim is not None else None
        if said is None and statement.name and key_of(statement.name) not in self.trace.given:
            said = self.given.shapes.get(key_of(statement.name))
        if said is not None and len(said) == len(value.axes) and not self.claimed(statement, said, value):
            self.trace.events.append(Claim(statement, said, value))

    def claimed(self, statement: Statement, said: tuple[Size, ...], value: Value) -> bool:
        """Return whether a value has the stated shape. A symbol used for another axis is not bound to a number here."""
        others = [shape for key, shape in self.given.shapes.items() if key != key_of(statement.name)]
        stated = {symbol for shape in (*others, value.sizes) for size in shape for symbol in size.symbols}
        fixed = stated & {symbol for size in said for symbol in size.symbols}
        for mine, theirs in zip(value.sizes, said, strict=True):
            a, b = mine.put_in(self.known), theirs.put_in(self.known)
            if agreement(a, b) == "bound" and (a.symbol or b.symbol) in fixed:
                return False
        agreed = all(self.same(mine, theirs) for mine, theirs in zip(value.sizes, said, strict=True))
        if agreed and said == value.sizes[::-1] != value.sizes:
            sizes = dict.fromkeys(str(size) for size in (*said, said[0].put_in(self.known)))
            name, equal = statement.name or "The result", " = ".join(sorted(sizes, key=str.isdecimal))
            self.trace.remarks.append(f"{name} is {shape_text(value.sizes)}; this equals {shape_text(said)} only because {equal}")
        return agreed

    def value(self, node: Node, *, last: Statement | None = None) -> Value:
        """Return the value of an expression and add its row; `last` is the statement whose body it is."""
        self.steps += 1
        if self.steps > FORMULA_STEPS:
            raise GlassformerError(f"the formula expands to more than {FORMULA_STEPS:,} steps: check it in parts.")
        value = self.ready.get(node) or self.computed(node)
        if last is not None or not isinstance(node, Name):
            kind: RowKind = "result" if last is not None else "product" if multiplies(node) else "step"
            self.row(last or Statement(node), kind, value, self.trace.operands.pop(node, ()))
        return value

    def row(self, of: Statement, kind: RowKind, value: Value | None, operands: tuple[tuple[Size, ...], ...] = ()) -> None:
        """Add a row for a new expression with axes, or for a failed one."""
        text, axes = statement_text(of), value.axes if value else ()
        if (not axes or text in self.seen) and kind != "failed":
            return
        self.seen.add(text)
        self.trace.products += kind != "failed" and len(operands) > 0
        pair = value and (value.weights.pair if value.weights else value.pair)
        roles: Roles = pair.roles if pair else (None, None)
        self.trace.rows.append(Row(text, statement_text(of, latex=True), kind, axes, operands, roles))

    def computed(self, node: Node) -> Value:
        match node:
            case Name():
                return self.name(node)
            case Number(numeral):
                return number(Size.of(numeral.value))
            case Transposed(inner):
                return self.value(inner).transposed()
            case Negative(inner):
                value = self.value(inner)
                return value if value.axes else number()
            case Product():
                return self.product(node)
            case Sum():
                return self.sum(node)
            case Call():
                return self.call(node)
            case List() | Grid():
                return self.joined(node)
            case Root() | Power():
                return self.as_number(node)
            case _:
                raise GlassformerError(f"'{shown(plain(node))}' is not allowed in a formula: use matrices and numbers.")

    # Names

    def define(self, key: str, value: Value) -> None:
        self.values[key] = value
        self.defined.add(key)

    def has(self, name: str) -> bool:
        return bool(self.defined.find(name) or self.shaped.find(name))

    def name(self, node: Name, *, as_number: bool = False) -> Value:
        own = key_of(node.text)
        key = self.defined.find(node.text)
        if key and (own in self.values or own not in self.given.shapes):
            return self.values[key]
        key = self.shaped.find(node.text)
        if key is not None:
            shape = self.given.shapes[key]
            counts = as_number or key in self.symbols or node.text.partition("_")[0] in COUNTS
            if len(shape) == 1 and counts and not is_bias(node.text):
                return number(shape[0].put_in(self.known))
            return self.load(key)
        if as_number or own in self.symbols:
            return number(Size.of(own).put_in(self.known))
        raise self.unknown(node.text)

    def unknown(self, text: str) -> GlassformerError:
        known = list(dict.fromkeys([*self.given.shapes, *self.values]))
        close = nearest(key_of(text), [*known, *FUNCTIONS])
        if close or len(text.partition("_")[0]) > 2:
            listed = f" Known: {', '.join(known[:12])}." if known and not close else ""
            return GlassformerError(f"'{shown(text)}' is neither given nor defined before it is used.{close}{listed}")
        return GlassformerError(f"'{shown(text)}' has no shape: add it, as in {shown(text)}=768x6.")

    def load(self, key: str) -> Value:
        """Load a given matrix: add its row, and infer its kind from its name and sizes."""
        sizes, text = self.given.shapes[key], self.given.texts[key]
        parameter = is_parameter(text)
        kinds = ("features", "features") if parameter else self.evidence.kinds(key)
        axes = [
            self.book.new(size, None if size.number == 1 and is_bias(text) else kind)
            for size, kind in zip(sizes, kinds, strict=False)
        ]
        vector = len(sizes) == 1
        value = Value(
            (*axes, self.book.new(Size.of(1))) if vector else tuple(axes),
            "weight" if parameter else "data",
            loose=vector,
            role=role_of(text),
            origins=frozenset() if parameter else frozenset({key}),
        )
        self.define(key, value)
        self.trace.given[key] = (text, value)
        self.row(Statement(Name(text)), "given", value)
        return value

    # Expressions

    def sum(self, node: Sum) -> Value:
        left, right = sides(node)
        for mask, other in ((left, right), (right, left)):
            if isinstance(mask, Name) and mask.text.partition("_")[0] in MASKS and not self.has(mask.text):
                return self.value(other)  # a mask has the shape of the scores
        return self.broadcast(node, self.value(left), self.value(right))

    def product(self, node: Product) -> Value:
        place, other = sides(node)
        sign = node.factors[1][0]
        left = self.value(place)
        if sign == "/":
            return self.quotient(node, left, self.as_number(other))
        right = self.value(other)
        if sign == "⊙":
            return self.broadcast(node, left, right)
        if left.axes and right.axes:
            return self.multiplied(node, left, right)
        if not left.axes and not right.axes:
            return numbers(left, right, divide=False)
        matrix, factor, place = (right, left, place) if right.axes else (left, right, other)
        assert factor.scalar is not None
        by = replace(factor.scalar, exponent=-factor.scalar.exponent)
        return replace(matrix, scales=(*matrix.scales, Scale(by, place)))

    def quotient(self, node: Product, above: Value, below: Value) -> Value:
        if below.axes:
            return self.broadcast(node, above, below)
        if not above.axes:
            return numbers(above, below, divide=True)
        assert below.scalar is not None
        if below.scalar.base is not None and not below.scalar.base.terms:
            raise GlassformerError(f"'{shown(written(node))}' divides by zero.")
        return replace(above, scales=(*above.scales, Scale(below.scalar, sides(node)[1])))

    def as_number(self, node: Node) -> Value:
        """Evaluate an expression as a number, in a denominator or under a root; unknown names are allowed."""
        match node:
            case Name():
                return self.name(node, as_number=True)
            case Root(inner, degree):
                return raised(self.as_number(inner), Fraction(1, degree))
            case Power(base, Number(exponent)):
                return raised(self.as_number(base), exponent.value)
            case Product(((_, left), (sign, right))) if sign != "⊙":
                one, two = self.as_number(left), self.as_number(right)
                if not one.axes and not two.axes:
                    return numbers(one, two, divide=sign == "/")
        return self.value(node)

    # Functions

    def call(self, node: Call) -> Value:
        function, arguments = node.function, node.arguments
        if function in self.functions:
            return self.own(node)
        if function == "concat":
            return self.joined(node)
        if function == "Attention":
            return self.attention(node, *arguments)
        if function == "MultiHead":
            return self.multihead(node)
        value = self.value(arguments[0])
        if not value.axes:
            return number()
        if function == "softmax":
            return self.softmax(node, value)
        if function == ONE_HEAD:
            return self.one_head(arguments[0], value)
        if function in REDUCTIONS:
            return self.reduced(node, value)
        return value if function == "dropout" else replace(value, pair=None, weights=None, scales=())

    def own(self, node: Call) -> Value:
        """Evaluate a function that the formula defines."""
        defined = self.functions[node.function]
        parameters = defined.parameters or ()
        if node.function in self.called:
            raise GlassformerError(f"the definition of {shown(node.function)} refers to itself.")
        if len(parameters) != len(node.arguments):
            raise GlassformerError(f"{shown(node.function)} takes {len(parameters)} arguments, found {len(node.arguments)}.")
        self.called.append(node.function)
        value = self.value(renamed(defined.body, dict(zip(map(key_of, parameters), node.arguments, strict=True))))
        self.called.pop()
        return value

    def joined(self, node: Call | List | Grid) -> Value:
        first, last = before_dots(joined_parts(node))
        return self.join(node, [self.value(part) for part in first], self.copies(node, last) if last is not None else None)

    def softmax(self, node: Call, value: Value) -> Value:
        over = self.axis_of(node.axis, value, rowwise=True)
        plain = replace(value, pair=None, scales=())
        if value.pair is None or value.weights is not None:
            return plain
        weights = Weights(node, value.pair, over, value.axes, value.scales)
        self.trace.softmaxes.append(weights)
        return replace(plain, weights=weights)

    def reduced(self, node: Call, value: Value) -> Value:
        """Evaluate a mean, sum or maximum over one axis."""
        axis = self.axis_of(node.axis, value)
        if axis is None:
            axis = next((1 - i for i in (0, 1) if self.unit(value.axes[i])), None)
        if axis is None:
            raise GlassformerError(f"{shown(written(node))}: which axis? Write {node.function}(…, tokens), axis=0 or axis=1.")
        axes = list(value.axes)
        axes[axis] = self.book.new(Size.of(1))
        return replace(value, axes=tuple(axes), pair=None, weights=None, attended=None, scales=())

    def attention(self, node: Call, q: Node, k: Node, v: Node) -> Value:
        """Expand Attention(Q, K, V) for tokens as rows, as in the paper, or for columns if the tokens are known to be columns."""
        values = [self.value(part) for part in (q, k, v)]
        columns = all(value.axes and value.tokens_axis(self.book) == 1 for value in values)
        scores = times(Transposed(k), q) if columns else times(q, Transposed(k))
        weights = Call("softmax", (times(scores, Root(Name("d_k")), "/"),))
        self.trace.trusted[scores] = True
        if columns:
            self.trace.remarks.append(f"{written(node)} is read with tokens as columns: V softmax(K^T Q / sqrt(d_k))")
        return self.value(times(v, weights) if columns else times(weights, v))

    def multihead(self, node: Call) -> Value:
        """Expand MultiHead(Q, K, V): split, attend, concatenate, and apply W_O if it is given."""
        first, last = Name("head_1"), Name(f"head_{self.heads()}")
        self.ready[first] = self.attention(node, *(Call(ONE_HEAD, (part,)) for part in node.arguments))
        joined = Call("concat", (first, Name("…"), last))
        self.ready[joined] = value = self.value(joined)
        output = self.output_weight()
        if output is None:
            return value
        columns = value.tokens_axis(self.book) == 1
        return self.value(times(output, joined) if columns else times(joined, output))

    def heads(self) -> Size:
        return next((self.known[word] for word in HEAD_COUNTS if word in self.known), Size.of("heads"))

    def output_weight(self) -> Name | None:
        return next((Name(given) for given in ("W_O", "W_o") if self.has(given)), None)

    def one_head(self, of: Node, value: Value) -> Value:
        """Return one head's part of a matrix: the features are divided by the number of heads."""
        heads = self.heads()
        axis = self.features_axis(value, heads)
        size = value.axes[axis].size / heads
        whole, part = value.axes[axis].size.put_in(self.known), size.put_in(self.known)
        if not part.symbols and part.number is None:
            raise GlassformerError(f"heads={heads} does not divide the {whole} features of {shown(written(of))}.")
        axes = list(value.axes)
        axes[axis] = self.book.new(size, "features")
        self.book.mark(value.axes[axis], "features")
        self.book.mark(value.axes[1 - axis], "tokens")
        return replace(value, axes=tuple(axes))

    def features_axis(self, value: Value, heads: Size) -> int:
        """Return the feature axis: the known one, the only one that fits the heads and W_O, or else the columns."""
        tokens = value.tokens_axis(self.book)
        if tokens is not None:
            return 1 - tokens
        output = self.output_weight()
        takes = {size.put_in(self.known) for size in self.value(output).sizes} if output else None
        fits = []
        for axis, size in enumerate(self.trace.sizes(value.axes)):
            part = (size / heads).put_in(self.known)
            if (part.symbols or part.number) and (takes is None or size in takes):
                fits.append(axis)
        return fits[0] if len(fits) == 1 else 1
