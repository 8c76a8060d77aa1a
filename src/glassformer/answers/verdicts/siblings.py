"""Wrong numbers that are right for another model: those of BERT-base given for RoBERTa."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.quantities.evaluation import Evaluation
from glassformer.answers.verdicts.verdict import Finding
from glassformer.configs.presets import decoder_names, preset, preset_names, seq2seq_names
from glassformer.configs.reading import Request
from glassformer.errors import GlassformerError
from glassformer.expressions.exact import exactly
from glassformer.expressions.precision import Figure, agrees, last_significant
from glassformer.expressions.tree import Name, Node, Quantity, rebuilt
from glassformer.spec import DecoderSpec, Seq2SeqSpec

DISTINCT = 5  # digits of a number that hardly two models share by chance
MOST_NAMED = 3


def other_models(subject: Node, request: Request, claim: Figure, *, exact: bool) -> list[Finding]:
    """Return the presets with the claimed number of parameters: of the same family if the number is rounded, short, or a part's.

    Parts of unrelated models may well have the same size.
    """
    distinct = exact and isinstance(subject, Name) and len(str(claim.value).rstrip("0")) >= DISTINCT
    named = {
        name: value
        for name, value in siblings(subject, request)
        if (distinct or family(name) == family(request.label)) and agrees(exactly(value), claim, loosely=False)
    }
    if not named or not (distinct or last_significant(claim) * 100 < claim.value):
        return []
    words = f"the value of {', '.join([*named][:MOST_NAMED])}"
    return [Finding((mistake("another_model"),), (words,), next(iter(named.values())))]


def siblings(subject: Node, request: Request) -> Iterator[tuple[str, int]]:
    """Yield the value of a quantity for every other preset of this kind; nothing if the spec is not a preset."""
    names = seq2seq_names() if isinstance(request.spec, Seq2SeqSpec) else preset_names()
    names = decoder_names() if isinstance(request.spec, DecoderSpec) else names
    if request.label not in names:
        return
    plain = _of_any_model(subject, request.label)
    for name in names:
        if preset(name).reads == "vectors":  # a part of a model: a layer, a stack of layers
            continue
        try:
            value = Evaluation(request._replace(label=name, spec=preset(name))).found(plain).value
        except GlassformerError:  # this model has no such part, or takes no input of this length
            continue
        if name != request.label and isinstance(value, int):
            yield name, value


def family(name: str) -> str:
    """Return the first word of a preset's name: bert of bert-base."""
    return name.partition("-")[0]


def _of_any_model(node: Node, label: str) -> Node:
    node = rebuilt(node, lambda inner: _of_any_model(inner, label))
    return replace(node, model="") if isinstance(node, Quantity) and node.model == label else node
