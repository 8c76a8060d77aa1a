"""Tensors: shapes, numbers of elements, and the same in other notations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from glassformer.answers.mistakes.other_sizes import sizes_of
from glassformer.answers.mistakes.tensors import Form, Sides, Written, shape_mistakes
from glassformer.answers.quantities.answer import Found, Line, Other, Shape, found, mistaken
from glassformer.answers.quantities.context import Context
from glassformer.answers.quantities.operations import causal_masks
from glassformer.answers.quantities.registry import means
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.expressions.tree import Name, Transposed
from glassformer.program import Axis, Program, Tensor
from glassformer.program.axes import HEADS
from glassformer.program.formatter import Convention
from glassformer.program.matrices import as_matrix
from glassformer.program.operations import Mask

EXAMPLES = "shape(weights), shape(q) or shape(W_O)"
LAYOUTS = ("rows", "columns")
ALSO_CALLED = {"Q": "q", "K": "k", "V": "v", "softmax": "weights", "attention_weights": "weights"}
MASKS = ("padding_mask", "causal_mask")


@means("shape", "the sizes of a tensor (q k v scores weights mix W_Q …), or of a formula: shape(Q K^T, Q=5 x 64, K=7 x 64)",
       "shape(weights, t=5)", ("layer", "head", "layout"))  # fmt: skip
def shape(context: Context) -> Found:
    """Return the shape of a tensor or of a mask."""
    if _is_mask(context):
        return _mask(context)
    tensor = tensor_of(context)
    one_head = context.head is not None and has_heads(tensor)
    which = ", one head" if one_head else ""
    others = other_shapes(tensor, one_head=one_head)
    if context.word("layout", "rows", LAYOUTS) == "columns":
        sizes = as_matrix(tensor, "columns", one_head=one_head).shape
        by_rows = as_matrix(tensor, "rows", one_head=one_head).shape
        turned = mistaken("row_column_convention", "tokens as rows instead of columns", by_rows)
        line = Line(tensor.name, "", _times(sizes), sizes)
        return found(sizes, "shape", f"tokens as columns{which}", [line], [], lambda: [turned])
    axes, convention = shown_axes(tensor, one_head=one_head), f"tokens as rows, the batch first{which}"
    sizes, formula = tuple(axis.size for axis in axes), " × ".join(axis.name for axis in axes)
    if has_heads(tensor) and not one_head and is_weight(tensor, context.program):
        others.insert(0, Other("every axis separately", sizes))
        formula = formula.replace("head × ", "head · ")
        sizes, convention = as_matrix(tensor, "rows").shape, "tokens as rows, the heads side by side"
    line = Line(tensor.name, formula, _times(sizes), sizes)
    return found(sizes, "shape", convention, [line], others, lambda: _mistakes(context, tensor, one_head=one_head))


@means(
    "elements",
    "the number of elements of a tensor; layer=all for all layers together",
    "elements(scores, t=512)",
    ("layer", "head"),
)
def elements(context: Context) -> Found:
    """Return the number of elements of a tensor, in one layer unless `layer=all`."""
    if _is_mask(context):
        mask = _mask(context)
        assert isinstance(mask.value, tuple)
        return found(_product(mask.value), "elements", mask.convention, mask.lines)
    tensor = tensor_of(context)
    one_head = context.head is not None and has_heads(tensor)
    axes = [axis for axis in shown_axes(tensor, one_head=one_head) if axis.name != "batch" or context.request.batch > 1]
    layers = context.program.spec_of(tensor.block).layers if tensor.block.part == "layers" else 1
    every = context.word("layer", "0") == "all"
    factors = [*([("layers", layers)] if every and layers > 1 else []), *((axis.name, axis.size) for axis in axes)]
    value = math.prod(size for _, size in factors)
    line = Line(tensor.name, " · ".join(name for name, _ in factors), " · ".join(str(size) for _, size in factors), value)
    others = (
        [Other(f"in all {layers} layers", value * layers)] if layers > 1 and not every and "layer" not in context.options else []
    )
    others += causal_pairs(context, tensor, value)
    where = f"{', one head' if one_head else ''}{f', all {layers} layers' if every else ', one layer' if layers > 1 else ''}"
    times = layers if every else 1

    def mistakes() -> Iterator[Other]:
        yield from mistaken_elements(context, tensor, value)
        if times > 1:
            yield mistaken("one_layer_only", "only one layer", value // times)

    return found(value, "elements", f"tokens as rows{where}", [line], others, mistakes)


def causal_pairs(context: Context, tensor: Tensor, value: int) -> list[Other]:
    """Return the number of scores that the causal mask leaves, out of `value` scores."""
    kept = _kept_pairs(context, tensor)
    return [Other("only the pairs that the causal mask leaves", value * kept[0] // kept[1])] if kept else []


def _kept_pairs(context: Context, tensor: Tensor) -> tuple[int, int] | None:
    """Return how many pairs of a query and a key the causal mask leaves, and all pairs; None without such a mask."""
    rule = causal_masks(context.program).get(tensor.block.name) if tensor.symbol in ("scores", "weights") else None
    if rule is None:
        return None
    assert isinstance(rule.operation, Mask)
    t, s = (axis.size for axis in rule.output.axes[-2:])
    return rule.operation.pairs(t, s), t * s


def mistaken_elements(context: Context, tensor: Tensor, value: int) -> Iterator[Other]:
    """Yield the numbers that known mistakes give for a tensor of `value` numbers; other sizes are left to its derivation."""
    spec, sizes, one_head = context.spec, context.program.sizes, context.head is not None and has_heads(tensor)
    heads = next((axis.size for axis in tensor.axes if axis.name in HEADS), 1)
    if heads > 1:
        said = "all heads together" if one_head else "one head"
        yield mistaken("one_head_vs_all_heads", said, value * heads if one_head else value // heads)
    if sizes.batch > 1 and any(axis.name == "batch" for axis in tensor.axes):
        yield mistaken("batch_forgotten", "one input of the batch", value // sizes.batch)
    if heads > 1 and not one_head and (width := tensor.axes[-1]).name in ("d_k", "d_v"):
        for name, size in sizes_of(spec, sizes.t).items():
            what = f"{name} ({size:,}) taken for heads · {width.name}"
            yield mistaken("size_replaced", what, value // (heads * width.size) * size)
    if tensor.symbol not in ("scores", "weights"):
        return
    rows, keys = tensor.axes[-2:]
    yield mistaken(
        "linear_instead_of_quadratic", f"one row of the {rows.size} × {keys.size} matrix for each head", value // rows.size
    )
    for name, features in (("d_model", spec.d_model), ("d_k", spec.head_k)):
        for said, shared in (("", 1), (", one matrix for all heads", heads)):
            wrong = value // (rows.size * keys.size * shared) * features * features
            yield mistaken("feature_by_feature", f"{name} × {name} in place of {rows.name} × {keys.name}{said}", wrong)
    if kept := _kept_pairs(context, tensor):
        yield mistaken("causal_half_ignored", "exactly half of the pairs", value // 2)
        yield mistaken(
            "causal_half_ignored", "the pairs before the diagonal, without it", value // kept[1] * (kept[0] - rows.size)
        )
    elif rows.size == keys.size:
        half = value // (rows.size * keys.size) * (rows.size * (rows.size + 1) // 2)
        yield mistaken("causal_half_ignored", "only half of the matrix counted, as if there were a causal mask", half)


def tensor_of(context: Context) -> Tensor:
    """Return the requested tensor, by its full name or its common name, in the requested layer."""
    match context.quantity.arguments:
        case ():
            raise GlassformerError(f"{context.text}: which tensor? Write {EXAMPLES}.")
        case (Transposed(Name(name)),):
            return _transposed(_named(context, name))
        case (Name("concat"),):
            return _side_by_side(_named(context, "mix"))
    names = context.names
    tensors = [_named(context, name) for name in names]
    if len({tensor.shape for tensor in tensors}) > 1:
        raise GlassformerError(f"{context.text}: these tensors have different shapes here. Ask for one of them.")
    return tensors[0]


def _named(context: Context, name: str) -> Tensor:
    tensor = find_tensor(name, context.program, context.layer or 0)
    if tensor is None:
        near = nearest(name, [*context.program.tensors, *short_names(context.program), *MASKS])
        raise GlassformerError(f"this model has no tensor '{shown(name)}'.{near} 'glassformer shapes' lists them all.")
    return tensor


def _transposed(tensor: Tensor) -> Tensor:
    """Return the transpose: features before tokens, for each head."""
    order = ("batch", *HEADS)
    first = [axis for axis in tensor.axes if axis.name in order]
    rest = [axis for axis in tensor.axes if axis.name not in order]
    axes = (*sorted(first, key=lambda axis: order.index(axis.name)), *reversed(rest))
    return tensor._replace(name=f"{tensor.name}ᵀ", symbol=f"{tensor.symbol}ᵀ", axes=axes)


def _side_by_side(tensor: Tensor) -> Tensor:
    """Return the concatenated outputs of the heads, which the program has no separate step for."""
    head, width = (axis for axis in tensor.axes if axis.name in (*HEADS, "d_v"))
    kept = tuple(axis for axis in tensor.axes if axis not in (head, width))
    axes = (*kept, Axis("head · d_v", head.size * width.size))
    return tensor._replace(name=tensor.block.tensor("concat"), symbol="concat", axes=axes)


def find_tensor(name: str, program: Program, layer: int = 0) -> Tensor | None:
    """Find a tensor by its full name, or by the end of its name in the given layer: `scores`, `ffn.W_1`."""
    tensors, wanted = program.tensors, ALSO_CALLED.get(name, name)
    if wanted in tensors:
        return tensors[wanted]
    if wanted == "out" and program.spec.layers:
        return program.hidden[-1]
    anywhere = [tensor for tensor in tensors.values() if tensor.is_called(wanted)]
    return next((tensor for tensor in anywhere if tensor.block.layer == layer), anywhere[0] if anywhere else None)


def short_names(program: Program) -> list[str]:
    """Return the last words of all names, which can be used for a tensor of the first layer that has it."""
    return list(dict.fromkeys(tensor.symbol for tensor in program.tensors.values()))


def is_weight(tensor: Tensor, program: Program) -> bool:
    """Whether a tensor is a matrix of parameters, or its transpose."""
    return any(one.kind == "weight" and tensor.name in (one.name, f"{one.name}ᵀ") for one in program.parameters)


def has_heads(tensor: Tensor) -> bool:
    return any(axis.name in HEADS for axis in tensor.axes)


def shown_axes(tensor: Tensor, *, one_head: bool) -> tuple[Axis, ...]:
    return tuple(axis for axis in tensor.axes if not (axis.name in HEADS and one_head))


def other_forms(tensor: Tensor, *, one_head: bool = False) -> Iterator[Form]:
    """Yield the other usual ways to write the shape of a tensor; of one head if one was requested."""
    unbatched = tuple(axis for axis in tensor.axes if axis.name != "batch")
    transposed, heads = tensor.symbol.endswith("ᵀ"), has_heads(tensor)
    if len(unbatched) < len(tensor.axes) and not one_head:
        yield Form("without the batch", _sides(unbatched))
    if heads:
        yield Form("one head, without the batch", _sides(axis for axis in unbatched if axis.name not in HEADS))
    elif one_head:
        yield Form("without the batch", _sides(unbatched))
    if one_head and heads:
        yield Form("one head, with the batch", _sides(axis for axis in tensor.axes if axis.name not in HEADS))
    alone = "one head, " if heads else ""
    if not transposed:  # the columns of a transpose are the rows of the tensor: the transpose would be forgotten
        yield Form(f"{alone}tokens as columns", _matrix(tensor, "columns", one_head=True))
    if one_head:
        return
    yield from _forms_of_all_heads(tensor)


def _forms_of_all_heads(tensor: Tensor) -> Iterator[Form]:
    heads, transposed = has_heads(tensor), tensor.symbol.endswith("ᵀ")
    batch = next((axis for axis in tensor.axes if axis.name == "batch"), None)
    merged = heads and not any(axis.name in HEADS for axis in as_matrix(tensor, "rows").sheets)
    if merged or not heads:  # scores have one matrix for each head, which cannot be put side by side
        together = "heads side by side" if merged else "without the batch"
        yield Form(together, _matrix(tensor, "rows"))
        if not transposed:
            yield Form(f"{together}, tokens as columns", _matrix(tensor, "columns"))
    if batch is not None and merged:
        yield Form("heads side by side, the batch first", (*_sides((batch,)), *_matrix(tensor, "rows")))
    if batch is not None and heads:
        first = sorted(tensor.axes, key=lambda axis: (axis.name != "batch", axis.name not in HEADS))
        yield Form("heads before tokens", _sides(first))
        yield Form("heads before tokens, without the batch", _sides(axis for axis in first if axis.name != "batch"))


def other_shapes(tensor: Tensor, *, one_head: bool = False) -> list[Other]:
    return [Other(form.said, form.shape) for form in other_forms(tensor, one_head=one_head)]


def _sides(axes: Iterable[Axis]) -> Sides:
    return tuple((axis.name, axis.size) for axis in axes)


def _matrix(tensor: Tensor, layout: Convention, *, one_head: bool = False) -> Sides:
    """Return rows and columns; a side of several axes is their product."""
    matrix = as_matrix(tensor, layout, one_head=one_head)
    sides = [side for side in (matrix.rows, matrix.columns) if side]
    return tuple((" · ".join(axis.name for axis in side), math.prod(axis.size for axis in side)) for side in sides)


def _is_mask(context: Context) -> bool:
    return len(context.quantity.arguments) == 1 and context.quantity.arguments[0] in [Name(mask) for mask in MASKS]


def _mask(context: Context) -> Found:
    """Return the shape of a mask, which is broadcast over the scores (batch × head × t × s)."""
    batch, t, heads = context.program.sizes.batch, context.program.sizes.t, context.spec.heads
    pairs: dict[str, Shape] = {
        "one flag per pair": (t, t), "broadcast over batch and heads": (1, 1, t, t), "for each input": (batch, t, t),
        "for each input, broadcast over heads": (batch, 1, t, t), "broadcast over the batch": (1, t, t),
        "for each head": (batch, heads, t, t),
    }  # fmt: skip
    tokens: dict[str, Shape] = {
        "one flag per token, the batch first": (batch, t), "broadcast over heads and queries": (batch, 1, 1, t),
        "broadcast over queries": (batch, 1, t), "without the batch": (t,),
    }  # fmt: skip
    shapes = pairs if context.names == ("causal_mask",) else tokens | pairs
    convention, value = next(iter(shapes.items()))
    line = Line(context.names[0], "", _times(value), value)
    return found(value, "shape", convention, [line], [Other(said, sizes) for said, sizes in shapes.items()])


def _mistakes(context: Context, tensor: Tensor, *, one_head: bool) -> Iterator[Other]:
    whole = Form("", _sides(shown_axes(tensor, one_head=one_head)))
    forms = (whole, *other_forms(tensor, one_head=one_head))
    if has_heads(tensor) and is_weight(tensor, context.program):
        forms = (Form("", _matrix(tensor, "rows", one_head=one_head)), *forms)
    written = Written(tensor.symbol, forms, context.spec, context.program.sizes, one_head)
    for code, what, wrong in shape_mistakes(written):
        yield mistaken(code, what, wrong)


def _product(sizes: Shape) -> int:
    return math.prod(size for size in sizes if isinstance(size, int))


def _times(sizes: Shape) -> str:
    return " × ".join(map(str, sizes))
