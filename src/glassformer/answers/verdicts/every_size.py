"""Formulas at every size: a claim about fields of the spec, tried on other encoders than the one asked about."""

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
from glassformer.expressions.language import write
from glassformer.expressions.tree import Name, Node, Quantity, Relation, walk
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request, request

TRIED = 6
ANY_LABEL = "any encoder with d_ff = 4 · d_model"


def any_model(node: Relation, judged: Callable[[Request], Diagnosis]) -> Diagnosis:
    """A relation without a model, judged on encoders of different sizes: right only where it is right for all."""
    found = [judged(model._replace(label=ANY_LABEL)) for model in _encoders(node)]
    verdicts = {one.verdict for one in found}
    wrong = next((one for one in found if not one.right), None)
    if len(verdicts) > 1 and wrong is not None:
        return replace(wrong, judged=replace(wrong.judged, notes=("it holds for some sizes, not for all",)))
    if wrong is not None:
        shared = set.intersection(*({finding.codes for finding in one.findings} for one in found))
        kept = tuple(finding for finding in wrong.findings if finding.codes in shared)
        return replace(wrong, judged=replace(wrong.judged, findings=kept))
    return found[0]


def _encoders(node: Relation) -> Iterator[Request]:
    names = {SHORT.get(leaf.text, leaf.text) for leaf in walk(node) if isinstance(leaf, Name)}
    for width, heads, layers in ((96, 4, 3), (160, 5, 4), (224, 7, 5)):
        fields: dict[str, Any] = {"vocab": 100 * layers} if "vocab" in names else {}
        depth = layers if "layers" in names or _of_all_layers(node) else 1
        yield request("encoder", d_model=width, heads=heads, layers=depth, t=40 + layers, **fields)


def _of_all_layers(node: Relation) -> bool:
    return any(isinstance(leaf, Quantity) and any(key == "layer" for key, _ in leaf.options) for leaf in walk(node))


def holds_elsewhere(subject: Node, claim: Node, asked: Request) -> tuple[str, ...]:
    """Whether two expressions that are equal for this spec are equal at other sizes, too; said in one line."""
    tried = 0
    for fields in islice(_other_sizes(asked, claim), 4 * TRIED):
        try:
            other = with_fields(asked, fields)
            values = [Evaluation(other).found(side).value for side in (subject, claim)]
        except GlassformerError:
            continue
        if values[0] != values[1]:
            sizes = " ".join(f"{name}={value}" for name, value in fields.items())
            return (f"right for these sizes, not for every size: with {sizes} it is {values[0]:,} and not {values[1]:,}",)
        tried += 1
        if tried == TRIED:
            return ("right for every size: tried on other sizes at random",)
    return ()


def _other_sizes(asked: Request, claim: Node) -> Iterator[dict[str, str]]:
    """Random sizes for the fields that the claim names, whole numbers of features for every head among them."""
    random = Random(shown(write(claim)))
    names = {SHORT.get(leaf.text, leaf.text) for leaf in walk(claim) if isinstance(leaf, Name)}
    spec = asked.spec
    has_ffn = spec.block == "layer"  # a formula in d_model alone may rest on d_ff = 4 · d_model
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
