"""Mistakes in attention scores: their scale, their factors, and the vectors that are weighted in the end."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.parts import distribution_step, dot_step, mix_step, scale_step, square, widths
from glassformer.answers.problems.work import Instead, Rewrite, Work, axis_names, redo, size_of, unchanged
from glassformer.numbers.by_hand.operations import Divide, RowSoftmax
from glassformer.program import Axis, Step, Tensor
from glassformer.program.operations import Contract

CONTRACT = Contract()


def scaling(work: Work) -> Iterator[Rewrite]:
    """Yield the division by √d_k left out, by another number, or at another place."""
    step = scale_step(work)
    if step is None or not isinstance(step.operation, Divide):
        yield from _scaled_unasked(work)
        return
    by, text, sizes = step.operation.by, step.operation.text, widths(work)
    yield work.wrong("no_scaling", f"the dot products were not divided by {text}", unchanged(step))
    wrong = {
        "d_model": ("sqrt_dmodel", math.sqrt, "√d_model = √{}"),
        "d_k": ("divided_by_dk", float, "d_k = {}"),
        "d_v": ("dv_dk_mixed", math.sqrt, "√d_v = √{}"),
        "the number of keys": ("sqrt_length", math.sqrt, "the square root of the number of keys, √{}"),
    }
    for name, (code, function, root) in wrong.items():
        if name in sizes and not math.isclose(function(sizes[name]), by) and sizes[name] > 1:
            what = f"the dot products were divided by {root.format(sizes[name])}"
            yield work.wrong(code, what, redo(step, Divide(function(sizes[name]), root)))
    if not math.isclose(by, 1):
        yield work.wrong("multiplied_by_root", f"the dot products were multiplied by {text}", redo(step, Divide(1 / by, text)))
    spread = distribution_step(work)
    if spread is not None and not math.isclose(by, 1):
        late = Instead(lambda scores: spread.operation.evaluate(spread.inputs, spread.output, [scores]) / by)
        what = f"the weights, not the scores, were divided by {text}"
        yield work.wrong("scaled_after_softmax", what, redo(spread, late), unchanged(step))


def _scaled_unasked(work: Work) -> Iterator[Rewrite]:
    """Yield a division by √d_k that the question does not ask for."""
    dot, d_k = dot_step(work), widths(work).get("d_k")
    if dot is None or not d_k or d_k == 1 or work.problem.option("alignment") not in (None, "dot", "scaled_dot"):
        return
    scaled = Instead(lambda q, k: CONTRACT.evaluate(dot.inputs, dot.output, [q, k]) / math.sqrt(d_k))
    yield work.wrong("scaled_unasked", f"the dot products were divided by √d_k = √{d_k}", redo(dot, scaled))


def products(work: Work) -> Iterator[Rewrite]:
    """Yield queries and keys swapped, and features compared with features."""
    dot = dot_step(work)
    if dot is None:
        return
    q, k = dot.inputs
    if square(dot.output) and "t" in axis_names(q) and axis_names(k)[-2:-1] == ["s"]:
        exchanged = redo(dot, dot.operation, k.seen(s="t"), q.seen(t="s"))
        yield work.wrong("queries_keys_exchanged", "K Qᵀ was computed instead of Q Kᵀ", exchanged)
    if type(dot.operation) is Contract and q.axes[:-1] == dot.output.axes[:-1] and k.axes[-2].size == k.axes[-1].size:
        yield work.wrong("keys_not_transposed", "Q K was computed instead of Q Kᵀ", redo(dot, Instead(np.matmul)))
    if size_of(q, "t") == size_of(k, "s") and len(q.axes) == len(k.axes) and type(dot.operation) is Contract:
        yield Rewrite("feature_by_feature", "Qᵀ K was computed instead of Q Kᵀ", dot.name, _by_feature(work, dot))


def _by_feature(work: Work, dot: Step) -> Work:
    """Return the work with Qᵀ K, which is features × features, followed by the later steps as far as the sizes allow."""
    q, k = dot.inputs
    inside, other = q.axes[-1], Axis("other_feature", k.axes[-1].size)
    heads = tuple(axis for axis in q.axes if axis.name == "head")
    renamed = k.seen(**{"s": "t", k.axes[-1].name: other.name})
    steps = list(work.program.steps)
    place = steps.index(dot)
    made = [*steps[:place], Step(dot.output._replace(axes=(*heads, inside, other)), CONTRACT, (q, renamed))]
    mix = mix_step(work)
    for step in steps[place + 1 :]:
        last = made[-1].output
        if step is mix and last.name == "weights" and size_of(mix.inputs[1], "d_v") == other.size:
            values = mix.inputs[1].seen(s="t", d_v=other.name)
            mixed = (*heads, q.axis("t"), inside) if "t" in axis_names(q) else (*heads, inside)
            made.append(Step(step.output._replace(axes=mixed), CONTRACT, (last, values)))
        elif isinstance(step.operation, Divide) and step.inputs[0].name == last.name:
            made.append(Step(step.output._replace(axes=last.axes), step.operation, (last,)))
        elif isinstance(step.operation, RowSoftmax) and step.inputs[0].name == last.name:
            made.append(Step(step.output._replace(axes=last.axes), RowSoftmax(other.name), (last,)))
        elif not any(tensor.name in work.after([dot.name]) | {dot.name} for tensor in step.inputs):
            made.insert(place, step)  # the values, which do not depend on the scores
            place += 1
    return work.rewritten(made)


def mixing(work: Work) -> Iterator[Rewrite]:
    """Yield the wrong vectors weighted, no vectors weighted, or the wrong weights used."""
    mix = mix_step(work)
    if mix is None:
        return
    weights, v = mix.inputs
    dot = dot_step(work)
    for word, tensor in (("keys", dot.inputs[1] if dot else None), ("embeddings", _source(work))):
        if tensor is None or tensor.name == v.name or axis_names(tensor)[-2:-1] != ["s"] or len(tensor.axes) > len(v.axes):
            continue
        vectors = tensor.seen(**{tensor.axes[-1].name: "d_v"})
        mixed = redo(mix, CONTRACT, weights, vectors, axes=(*weights.axes[:-1], vectors.axes[-1]))
        yield work.wrong("values_forgotten", f"the weights were multiplied with the {word}, not with the values", mixed)
    for name in ("weights", "scores", "dot"):
        tensor = work.program.tensors.get(name)
        if tensor is not None and name in work.values:
            what = f"the {'dot products' if name == 'dot' else name} were given as the result, without the values"
            yield work.wrong("values_forgotten", what, unchanged(mix, tensor))
    if square(weights):
        turned = redo(mix, mix.operation, weights.seen(t="s", s="t"), v)
        yield work.wrong("queries_keys_exchanged", "the weights were transposed: weightsᵀ V", turned)


def _source(work: Work) -> Tensor | None:
    """Return the vectors that the values were projected from."""
    projected = work.step("v")
    return projected.inputs[0] if projected is not None and projected.inputs else None
