"""Functions that change a shape or a meaning: softmax, means, and attention as one word."""

from __future__ import annotations

from dataclasses import replace

from glassformer.answers.shapes.joins import Joins
from glassformer.answers.shapes.nodes import Call, Joined, Name, Node, OneHead, Product, Quotient, Transposed, name
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.values import Value, Weights
from glassformer.answers.shapes.writing import written
from glassformer.spec import GlassformerError, shown

HEAD_COUNTS = ("heads", "h", "H", "S", "n_heads")


class Functions(Joins):
    """What a formula may call by name."""

    ready: dict[Node, Value]  # values of expressions that this program wrote itself

    def value(self, node: Node) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def has(self, name: Name) -> bool:
        """Whether a name has a shape."""
        raise NotImplementedError

    def softmax(self, node: Call, value: Value) -> Value:
        over = self.axis_of(node.axis, value, rowwise=True)
        plain = replace(value, pair=None, scales=())
        if value.pair is None or value.weights is not None:
            return plain
        weights = Weights(node, value.pair, over, value.axes, value.scales)
        self.trace.softmaxes.append(weights)
        return replace(plain, weights=weights)

    def reduced(self, node: Call, value: Value) -> Value:
        """A mean, sum or maximum over one axis."""
        axis = self.axis_of(node.axis, value)
        if axis is None:
            axis = next((1 - i for i in (0, 1) if self.unit(value.axes[i])), None)
        if axis is None:
            raise GlassformerError(
                f"{shown(written(node))}: over which axis? Write {node.function}(…, tokens), axis=0 or axis=1."
            )
        axes = list(value.axes)
        axes[axis] = self.book.new(Size.of(1))
        return replace(value, axes=tuple(axes), pair=None, weights=None, attended=None, scales=())

    def attention(self, node: Call, q: Node, k: Node, v: Node) -> Value:
        """Attention(Q, K, V), written out for tokens as rows as in the paper, or for columns where they certainly are."""
        values = [self.value(part) for part in (q, k, v)]
        columns = all(value.axes and value.tokens_axis(self.book) == 1 for value in values)
        scores = Product(Transposed(k), q) if columns else Product(q, Transposed(k))
        softmax = Call("softmax", (Quotient(scores, Call("sqrt", (name("d", "k"),))),))
        self.trace.trusted.add(scores)
        if columns:
            self.trace.remarks.append(f"{written(node)} is read with tokens as columns: V softmax(K^T Q / sqrt(d_k))")
        return self.value(Product(v, softmax) if columns else Product(softmax, v))

    def multihead(self, node: Call) -> Value:
        """MultiHead(Q, K, V): split, attend, join, and W_O where there is one."""
        heads = self.heads()
        first, last = name("head", "1"), name("head", str(heads))
        self.ready[first] = self.attention(node, *(OneHead(part) for part in node.arguments))
        joined = Joined((first,), None, last)
        self.ready[joined] = value = self.value(joined)
        output = self.output_weight()
        if output is None:
            return value
        columns = value.tokens_axis(self.book) == 1
        return self.value(Product(output, joined) if columns else Product(joined, output))

    def heads(self) -> Size:
        return next((self.known[word] for word in HEAD_COUNTS if word in self.known), Size.of("heads"))

    def output_weight(self) -> Name | None:
        return next((given for given in (name("W", "O"), name("W", "o")) if self.has(given)), None)

    def one_head(self, node: OneHead, value: Value) -> Value:
        """The features divided among the heads."""
        heads = self.heads()
        axis = self.features_axis(value, heads)
        size = value.axes[axis].size / heads
        whole, part = value.axes[axis].size.put_in(self.known), size.put_in(self.known)
        if not part.symbols and part.number is None:
            raise GlassformerError(f"heads={heads} does not divide the {whole} features of {shown(written(node.of))}.")
        axes = list(value.axes)
        axes[axis] = self.book.new(size, "features")
        self.book.mark(value.axes[axis], "features")
        self.book.mark(value.axes[1 - axis], "tokens")
        return replace(value, axes=tuple(axes))

    def features_axis(self, value: Value, heads: Size) -> int:
        """Known, or the one axis that the heads divide and W_O takes; else the columns, as in the paper."""
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
