"""Formulas at every size: claims in the fields of the spec, tested on encoders of other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from glassformer.answers.quantities.context import with_fields
from glassformer.answers.quantities.evaluation import Evaluation
from glassformer.answers.quantities.sizes import SHORT
from glassformer.answers.verdicts.diagnosis import Diagnosis
from glassformer.configs.reading import Request, request
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.language import write
from glassformer.expressions.tree import Name, Node, Number, Quantity, Relation, walk

TRIED = 6
ANY_LABEL = "any encoder with d_ff = 4 · d_model"


def any_model(node: Relation, judged: Callable[[Request], Diagnosis]) -> Diagnosis:
    """Judge a relation without a model on encoders of different sizes: right only if it is right for all of them."""
    found = [judged(model._replace(label=ANY_LABEL)) for model in _encoders(node)]
    verdicts = {one.verdict for one in found}
    wrong = next((one for one in found if not one.right), None)
    if len(verdicts) > 1 and wrong is not None:
        return replace(wrong, judged=replace(wrong.judged, notes=("this holds for some sizes, but not for all",)))
    if wrong is not None:
        shared = set.intersection(*({finding.codes for finding in one.findings} for one in found))
        kept = tuple(finding for finding in wrong.findings if finding.codes in shared)
        return replace(wrong, judged=replace(wrong.judged, findings=kept))
    return found[0]


def _encoders(node: Relation) -> Iterator[Request]:
    names = {SHORT.get(leaf.text, leaf.text) for leaf in walk(node) if isinstance(leaf, Name)}
    for width, heads, layers in ((96, 4, 3), (160, 5, 4), (224, 7, 5)):
        fields: dict[str, Any] = {"vocab": 100 * layers} if "vocab" in names else {}
        depth = layers if "layers" in names or _names_a_layer(node) else 1
        yield request("encoder", d_model=width, heads=heads, layers=depth, t=40 + layers, **fields)


def _names_a_layer(node: Relation) -> bool:
    """Return whether an option such as `layer=0` or `layer=all` distinguishes one layer from all layers."""
    return any(isinstance(leaf, Quantity) and any(key == "layer" for key, _ in leaf.options) for leaf in walk(node))


def holds_elsewhere(subject: Node, claim: Node, here: Evaluation) -> tuple[str, ...]:
    """Return a note on whether two expressions that are equal for this spec are also equal at other sizes."""
    assert here.request is not None
    tried = 0
    fixed = {key for leaf in walk(subject) if isinstance(leaf, Quantity) for key, _ in leaf.options}
    for sizes in islice(_other_sizes(here.request, claim), 4 * TRIED):
        fields = {name: value for name, value in sizes.items() if name not in fixed}
        if not fields:
            return ()
        try:
            other = Evaluation(with_fields(here.request, fields), sizes=here.sizes, files=here.files)
            values = [other.found(side).value for side in (subject, claim)]
        except GlassformerError:
            continue
        if values[0] != values[1]:
            where = " ".join(f"{name}={value}" for name, value in fields.items())
            return (f"right for these sizes, but not for all: with {where} it is {values[0]:,}, not {values[1]:,}",)
        tried += 1
        if tried == TRIED:
            return ("right for every size (tested on random sizes)",)
    return ()


def _other_sizes(requested: Request, claim: Node) -> Iterator[dict[str, str]]:
    """Yield random sizes for the fields that the claim names; heads always divide d_model."""
    random = Random(shown(write(claim)))
    names = {SHORT.get(leaf.text, leaf.text) for leaf in walk(claim) if isinstance(leaf, Name)}
    spec = requested.spec
    has_ffn = spec.block == "layer"  # a formula in d_model alone may assume d_ff = 4 · d_model
    while True:
        heads = random.choice([2, 3, 4, 5]) if "heads" in names else spec.heads
        sizes = {
            "d_model": heads * spec.key_heads * random.randint(2, 40),
            "heads": heads,
            "d_ff": random.randint(8, 500),
            "layers": random.randint(1, 5),
            "vocab": random.randint(50, 500) if spec.vocab else 0,
            "t": random.randint(2, 40),
            "batch": random.randint(1, 4),
            "d_k": random.randint(2, 40),
            "d_v": random.randint(2, 40),
            "classes": random.randint(2, 30),
        }
        yield {name: str(value) for name, value in sizes.items() if value and (name in names or (name == "d_ff" and has_ffn))}


DISTINCT = ((7, 5, 22, 1013, 37, 3), (11, 3, 26, 769, 53, 5))  # heads, layers, width of a head, d_ff, t, batch: all different
WRITTEN_OUT = 32  # a formula with such a number in it names a size of this model by its value


def other_requests(requested: Request, subject: Node, claim: Node) -> Iterator[Request]:
    """Yield the same kind of model at sizes that differ from each other, for a claim in the fields of the spec alone."""
    if any(isinstance(leaf, Number) and leaf.numeral.value >= WRITTEN_OUT for leaf in walk(claim)):
        return
    names = {SHORT.get(leaf.text, leaf.text) for leaf in walk(claim) if isinstance(leaf, Name)}
    spec, fixed = requested.spec, {key for leaf in walk(subject) if isinstance(leaf, Quantity) for key, _ in leaf.options}
    for heads, layers, width, d_ff, t, batch in DISTINCT:
        every = heads * spec.group if spec.group > 1 else heads
        used = every if "heads" in names else spec.heads
        sizes = {
            "heads": every, "layers": layers, "d_model": used * width, "t": t, "batch": batch, "vocab": 97 * t, "classes": layers,
            "d_ff": d_ff, "d_k": width, "d_v": width + 1, "positions": 64 * layers, "kv_heads": every // spec.group,
        }  # fmt: skip
        moved = names | ({"d_model"} if "heads" in names else set())
        if "d_ff" not in names and "d_model" in moved and spec.ffn_width == 4 * spec.d_model:
            sizes["d_ff"], moved = 4 * sizes["d_model"], moved | {"d_ff"}  # a formula in d_model alone may assume this
        moved |= {"kv_heads"} if "heads" in names and spec.kv_heads is not None else set()
        chosen = {name: str(size) for name, size in sizes.items() if name in moved and name not in fixed}
        try:
            yield with_fields(requested, chosen)
        except GlassformerError:  # a model that cannot have these sizes
            continue
