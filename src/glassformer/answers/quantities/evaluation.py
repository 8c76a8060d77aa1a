"""Evaluation of expression trees: quantities are computed for their spec, then combined with exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from glassformer.algebra.parts import PARTS
from glassformer.answers.quantities.answer import Found, Line, Other, Value, found, mistaken, simple
from glassformer.answers.quantities.context import FIELDS, LENGTHS, Overrides, resolve, scoped, whole
from glassformer.answers.quantities.extras import NEED_NO_MODEL
from glassformer.answers.quantities.formulas import formula_quantity
from glassformer.answers.quantities.growth import growth, solve
from glassformer.answers.quantities.registry import MEANINGS, Meaning
from glassformer.answers.quantities.sizes import SHORT, is_size, size
from glassformer.answers.quantities.units import unit
from glassformer.configs.presets import preset_names
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.expressions.activations import exact_gelu
from glassformer.expressions.arrays import Array
from glassformer.expressions.evaluate import CONSTANTS, Evaluator
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.language import write
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.norms import WITHOUT_EPS, by_row
from glassformer.expressions.numerals import read as numeral
from glassformer.expressions.plain import plain
from glassformer.expressions.readings import Reading
from glassformer.expressions.tree import (
    Call,
    Converted,
    Grouped,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Relation,
    Sum,
    children,
    walk,
)
from glassformer.spec.encoder_spec import EncoderSpec

MOST_CONVENTIONS = 24
PARTS_LEFT_OUT = frozenset(("embeddings", "pooler", "head"))
PARAMS = "params"
OF_EXPRESSIONS = {"growth": growth, "solve": solve}  # quantities whose arguments are expressions
ALSO_CALLED = {"parameters": "params", "PE": "positions", "multiply_adds": "macs", "memory": "bytes", "pe": "positions"}
SIZE = Meaning("size", "a field of the spec", "d_model", (), size)
NO_MODEL = Request("", EncoderSpec())


class Evaluation:
    """Evaluates trees for one spec; each quantity is computed once."""

    def __init__(self, request: Request | None, overrides: Overrides = (), *, sizes: Overrides = (), files: bool = False) -> None:
        self.request, self.overrides = request, overrides
        self.sizes = sizes  # values of plain `t` and `batch` if the spec does not set them
        self.files = files  # whether `@` may name a file
        self.everywhere = False  # whether this is one of several models for which a formula is compared
        self.known: dict[Node, Found] = {}

    def found(self, node: Node) -> Found:
        """Evaluate a tree, with its conventions and derivation."""
        if is_leaf(node):
            return self.leaf(node)
        leaves = list(dict.fromkeys(self._leaves(node)))
        number = self.number(node)
        lines = [Line(plain(leaf), "", "", self.leaf(leaf).value) for leaf in leaves]
        text = plain(node)
        value = _value(number)
        lines += [Line(text, "", "", value)] if leaves else []
        conventions = dict.fromkeys(self.leaf(leaf).convention for leaf in leaves)
        exact = isinstance(value, int | Fraction) or (isinstance(value, Array) and all(cell.exact for cell in value.cells))
        said = "; ".join(conventions) or (
            "exact arithmetic" if exact else "computed with proven error bounds, rounded for display"
        )
        return found(value, self.unit(node), said, lines, self._others(node, leaves), lambda: self._mistakes(node, leaves))

    def unit(self, node: Node) -> str:
        """Return the unit of a tree; adding terms of different kinds is an error."""
        return unit(node, lambda leaf: self.leaf(leaf).unit if is_leaf(leaf) else "")

    def number(self, node: Node, instead: Mapping[Node, Value] | None = None) -> Real | Array:
        """Return the numeric value of a tree; `instead` replaces the values of some quantities."""
        try:
            return _Arithmetic(self, instead or {}).value(node)
        except NotUnderstoodError as error:
            raise error.about(plain(node), "cannot be computed") from error

    def varied(self, name: str, value: int) -> Evaluation:
        """Return the same evaluation with one size changed."""
        return Evaluation(self.request, (*self.overrides, (name, str(value))), sizes=self.sizes, files=self.files)

    def leaf(self, node: Node) -> Found:
        if node not in self.known:
            self.known[node] = self._worked_out(node)
        return self.known[node]

    def _worked_out(self, node: Node) -> Found:
        quantity = node if isinstance(node, Quantity) else Quantity(node.text if isinstance(node, Name) else "")
        if quantity.name in OF_EXPRESSIONS:
            if self.overrides:
                raise GlassformerError(f"{shown(write(quantity))}: growth and solve cannot be nested.")
            return OF_EXPRESSIONS[quantity.name](quantity, self)
        if (by_formula := formula_quantity(quantity)) is not None:
            return by_formula
        meaning = meaning_of(quantity)
        request = self.request or (NO_MODEL if meaning.name in NEED_NO_MODEL else None)
        overrides = (*self.sizes, *self.overrides) if meaning is SIZE else self.overrides
        put = resolve(quantity, request, meaning.options, overrides, files=self.files)
        worked = meaning.work_out(put)
        note = f"; t={put.request.t} exceeds this model's positions={put.spec.longest}" if put.beyond else ""
        return replace(worked, convention=worked.convention + note)

    def _leaves(self, node: Node) -> Iterator[Node]:
        if is_leaf(node):
            yield node
        elif isinstance(node, Name) and several_letters(node.text):
            yield from map(Name, node.text)
        else:
            for inner in children(node):
                yield from self._leaves(inner)

    def _others(self, node: Node, leaves: list[Node]) -> Iterator[Other]:
        """Apply each usual convention to every quantity that has it."""
        usual = {leaf: [other for other in self.leaf(leaf).others if other.excuses] for leaf in leaves}
        said = {other.convention: other for others in usual.values() for other in others}
        nothing_left = {word for leaf in leaves for word in self.leaf(leaf).nothing_without}
        for example in [other for other in said.values() if not nothing_left & {*other.left_out}][:MOST_CONVENTIONS]:
            if len(leaves) > 1 and len(PARTS_LEFT_OUT & {*example.left_out}) > 1:
                continue  # a share of a model without several of its parts is the share of something else
            chosen = {leaf: other.value for leaf, others in usual.items() for other in _alike(others, example)}
            yield Other(example.convention, _value(self.number(node, chosen)))
        if loose := self._loosely(node):
            yield loose

    def _loosely(self, node: Node) -> Other | None:
        """Return the value with tanh GELU, eps in norms and sample variance, if the tree uses such a function."""
        calls = {call.function for call in walk(node) if isinstance(call, Call)}
        said = ["GELU by its tanh approximation"] if "gelu" in calls else []
        said += ["eps = 1e-5 inside the norm"] if calls & {*WITHOUT_EPS} else []
        said += ["the variance divided by n − 1"] if calls & {"var", "std"} else []
        return Other(" and ".join(said), _value(_Arithmetic(self, {}, strict=False).value(node))) if said else None

    def _mistakes(self, node: Node, leaves: list[Node]) -> Iterator[Other]:
        """Yield the values of a known mistake, made in every quantity that it fits, and of an inverted ratio."""
        made = {leaf: {(wrong.code, wrong.convention): wrong.value for wrong in self.leaf(leaf).mistakes()} for leaf in leaves}
        for code, said in dict.fromkeys(kind for kinds in made.values() for kind in kinds):
            everywhere = {leaf: kinds[code, said] for leaf, kinds in made.items() if (code, said) in kinds}
            try:
                yield mistaken(code, said, _value(self.number(node, everywhere)))
            except NotUnderstoodError:
                continue
        if isinstance(node, Product) and [sign for sign, _ in node.factors[1:]] == ["/"] and leaves:
            above, below = (factor for _, factor in node.factors)
            turned = Product((("", below), ("/", above)))
            yield mistaken("ratio_reversed", plain(turned), _value(self.number(turned)))
            yield from self._other_shares(above, below)

    def _other_shares(self, above: Node, below: Node) -> Iterator[Other]:
        """Yield a part divided by the rest, by the layers alone, and the part of one layer divided by the whole."""
        shares = [("share_of_the_rest", Product((("", above), ("/", Grouped(Sum((("+", below), ("-", above))))))))]
        if below in (Name(PARAMS), Quantity(PARAMS)):
            shares.append(("share_of_the_layers", Product((("", above), ("/", Quantity(PARAMS, (Name("layers"),)))))))
        if isinstance(above, Quantity) and "layer" not in (key for key, _ in above.options):
            shares.append(("one_layer_only", Product((("", scoped(above, layer=Number(numeral("0")))), ("/", below)))))
        for code, share in shares:
            try:
                yield mistaken(code, plain(share), _value(self.number(share)))
            except (GlassformerError, NotUnderstoodError):  # no rest, no such part, or no layers
                continue


def _alike(others: list[Other], example: Other) -> list[Other]:
    """Return the same convention for another quantity: `without biases, norms` leaves out those that it has."""
    if not example.left_out:
        return [other for other in others if other.convention == example.convention]
    groups = {word for other in others for word in other.left_out}
    return [other for other in others if other.left_out == tuple(word for word in example.left_out if word in groups)]


class _Arithmetic(Evaluator):
    """Exact arithmetic in which names can be quantities."""

    def __init__(self, evaluation: Evaluation, instead: Mapping[Node, Value], *, strict: bool = True) -> None:
        super().__init__(Reading() if strict else Reading(spread="sample"), {})
        self.evaluation, self.instead, self.strict = evaluation, instead, strict

    def value(self, node: Node) -> Real | Array:
        match node:
            case Converted(inner):
                return self.value(inner)
            case Relation():
                raise GlassformerError(f"'{shown(write(node))}' is a claim: use 'glassformer check'.")
            case Name(text) if several_letters(text):
                return self._product(tuple(("·", Name(letter)) for letter in text))
            case Power(Name(text), exponent) if several_letters(text):  # nd² is n · d²
                return self._product((*(("·", Name(letter)) for letter in text[:-1]), ("·", Power(Name(text[-1]), exponent))))
            case Quantity(name, (inner,)) if is_product(node):
                return self._product((("", Name(name)), ("·", inner)))
            case Call("item", (inner, *places)):
                return self._item(self.value(inner), [whole(place, "the index") for place in places])
            case Call("gelu", (inner,)) if self.strict:
                return self._each(inner, exact_gelu)
            case Call(function, (inner,)) if self.strict and function in WITHOUT_EPS:
                return self._normed(self.value(inner), function)
            case Name() | Quantity() if is_leaf(node):
                found_value = self.instead.get(node)
                return as_number(self.evaluation.leaf(node).value if found_value is None else found_value, node)
            case _:
                return super().value(node)

    def _item(self, value: Real | Array, places: list[int]) -> Real:
        """Return one number of a list, or of a matrix by row and column, counted from 0."""
        sizes = value.shape if isinstance(value, Array) else ()
        if (
            not isinstance(value, Array)
            or len(places) != len(sizes)
            or any(p >= size for p, size in zip(places, sizes, strict=True))
        ):
            raise GlassformerError(
                f"the index {places} does not fit {' × '.join(map(str, sizes)) or 'a number'}; indices start at 0."
            )
        return value.row(places[0])[places[1]] if len(places) > 1 else value.cells[places[0]]

    def _normed(self, value: Real | Array, function: str) -> Array:
        if isinstance(value, Real):
            raise NotUnderstoodError(f"{function} needs a list of numbers")
        return by_row(value, WITHOUT_EPS[function])


def is_leaf(node: Node) -> bool:
    """Return whether a node is a single quantity or field, not an expression over them."""
    if isinstance(node, Name):
        return node.text not in CONSTANTS and not several_letters(node.text)
    return isinstance(node, Quantity) and not is_product(node)


def several_letters(text: str) -> bool:
    """Return whether a name is a product of one-letter sizes: `nd`."""
    return len(text) > 1 and not is_known(text) and all(letter in SHORT for letter in text)


def is_product(node: Node) -> bool:
    """Return whether a node is a size times a parenthesis: `L(12 d² + 13 d)`."""
    return (
        isinstance(node, Quantity)
        and len(node.arguments) == 1
        and not node.options
        and node.name not in MEANINGS
        and is_size(node.name)
    )


def as_number(value: Value, node: Node) -> Real | Array:
    if isinstance(value, Real | Array):
        return value
    if isinstance(value, int | Fraction):
        return exactly(value)
    what = "a shape" if isinstance(value, tuple) else "a complexity class"
    raise GlassformerError(f"{shown(plain(node))} is {what}, not a number.")


def _value(value: Real | Array) -> Value:
    return simple(value.low) if isinstance(value, Real) and value.exact else value


def meaning_of(quantity: Quantity) -> Meaning:
    """Return the definition of a name; the error for an unknown name suggests the nearest one."""
    name = ALSO_CALLED.get(quantity.name, quantity.name)
    if name in MEANINGS and not (is_size(name) and not quantity.arguments):
        return MEANINGS[name]
    if is_size(name) and not quantity.arguments:
        return SIZE
    raise UnknownNameError(
        f"'{shown(quantity.name)}' is not a quantity or a field of the spec.{_hint(quantity.name)} Quantities: params, shape, "
        "elements, flops, macs, bytes, growth, complexity, solve, …; 'glassformer ask --quantities' lists them."
    )


def _hint(name: str) -> str:
    """Return a suggestion for an unknown name."""
    if name in PARTS:
        return f" It is a part: write params({name}) or flops({name})."
    if preset := next((preset for preset in preset_names() if name in (preset, preset.partition("-")[0])), None):
        return f" A model goes after '@', as in 'params @ {preset}', or after the expression as a separate argument."
    return nearest(name, [*MEANINGS, *OF_EXPRESSIONS, *FIELDS, *LENGTHS])


class UnknownNameError(GlassformerError):
    """A name that is neither a quantity nor a field."""


def unknown_names(node: Node) -> list[str]:
    """Return the unknown names in a tree: `how`, `many`. Names inside quantities are parts and are not checked."""
    match node:
        case Quantity(name):
            return [] if is_known(name) or name == "O" else [name]
        case Name(text):
            known = is_known(text) or text in CONSTANTS or several_letters(text)
            return [] if known else [text]
        case _:
            return [name for inner in children(node) for name in unknown_names(inner)]


def is_known(name: str) -> bool:
    return name in MEANINGS or name in ALSO_CALLED or name in OF_EXPRESSIONS or is_size(name)
