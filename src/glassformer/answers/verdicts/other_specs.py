"""Wrong values that are right for another question: another value of a field, or another part of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counted import CHANCE, CountClaim
from glassformer.answers.mistakes.other_sizes import sizes_of
from glassformer.answers.quantities.answer import Value, plain_value
from glassformer.answers.quantities.evaluation import Evaluation
from glassformer.answers.verdicts.verdict import Finding
from glassformer.configs.presets import decoder_names, preset, preset_names
from glassformer.errors import GlassformerError
from glassformer.expressions.plain import plain
from glassformer.expressions.tree import Name, Node, Quantity
from glassformer.spec import EncoderSpec
from glassformer.spec.fields import field_rules

SIZES = ("layers", "vocab", "positions", "segments", "classes", "kv_heads", "d_ff", "d_k", "d_v", "embedding_size", "batch", "t")
GEOMETRY = ("image", "patch", "channels", "heads", "d_model")  # a value does not grow evenly with these
CHOICES = ("norm", "norm_kind", "biases", "tie", "embedding_norm", "pooler", "position", "activation", "share_layers")
OTHER_TERMS = 8  # a difference that is a multiple of 8 may consist of other vectors: it needs a usual size
MOST_LAYERS = 128
AMBIGUOUS = (Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4))  # these have many explanations
PARTS = ("embeddings", "layers", "attention", "cross", "qkv", "output", "projections", "core", "ffn", "norms", "pooler", "head")


MATRICES_ALONE: tuple[set[str], ...] = ({"biases"}, {"norms"}, {"biases", "norms"})
MOST_PARTS = 3
PARTED = ("params", "flops", "macs", "complexity")


def other_fields(subject: Node, evaluation: Evaluation, value: int, claim: CountClaim) -> list[Finding]:
    """Return the value of a field with which a claimed number would be right, if it is a usual one and the only one."""
    request = evaluation.request
    if request is None or claim.value == value:
        return []
    vague = bool(value) and claim.value / value in AMBIGUOUS

    def at(field: str, size: object) -> int | None:
        fresh = Evaluation(request, (*evaluation.overrides, (field, str(size))), sizes=evaluation.sizes, files=evaluation.files)
        try:
            found = fresh.found(subject).value
        except GlassformerError:  # this model cannot have such a field
            return None
        return found if isinstance(found, int) else None

    tried, found = {value}, []
    for field, size, result in _results(request.spec, request.t, claim, value, at):
        tried.add(result)
        if claim.allows(result) and result != value and (not vague or size == request.t):
            found.append(_finding(request.spec, field, size, result))
    if not found or claim.expected_hits([*tried]) > CHANCE:
        return []
    choices = [finding for finding in found if finding.codes == ("other_field",)]
    if choices:
        return [replace(choices[0], what=(" or ".join(finding.what[0] for finding in choices[:MOST_PARTS]),))]
    return found if len(found) == 1 else []


def _finding(spec: EncoderSpec, field: str, size: object, value: int) -> Finding:
    own = {"d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width, "kv_heads": spec.key_heads}.get(field)
    own = getattr(spec, field, None) if own is None else own
    if isinstance(size, str):
        return Finding((mistake("other_field"),), (f"{field}={size} instead of {field}={_written(own)}",), value)
    instead = f" instead of {own:,}" if isinstance(own, int) else ""
    return Finding((mistake("size_replaced"),), (f"{field} = {size:,}{instead}",), value)


def _written(value: object) -> str:
    return "none" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _results(
    spec: EncoderSpec, t: int | None, claim: CountClaim, value: int, at: Callable[[str, object], int | None]
) -> Iterator[tuple[str, object, int]]:
    """Yield fields with another value, and the number that each gives."""
    sizes = {*sizes_of(spec, t).values()}
    for field in SIZES:
        if (size := _solved(field, spec, claim, value, sizes, at)) is not None and (result := at(field, size)) is not None:
            yield field, size, result
    for field in GEOMETRY:
        for size in sorted(usual_sizes(field) if getattr(spec, field, None) is not None else ()):
            if size != getattr(spec, field) and (result := at(field, size)) is not None:
                yield field, size, result
    rules = field_rules(type(spec))  # type: ignore[arg-type]
    for field in CHOICES:
        own = getattr(spec, field, None)
        for choice in rules[field].choices or ("yes", "no"):
            if choice != _written(own) and (result := at(field, choice)) is not None and result != value:
                yield field, choice, result


def _solved(
    field: str, spec: EncoderSpec, claim: CountClaim, value: int, sizes: set[int], at: Callable[[str, object], int | None]
) -> int | None:
    """Return the size with which the claim would be right, where the number grows evenly with it and the size is plausible."""
    own = getattr(spec, field, None)
    own = {"d_ff": spec.ffn_width, "kv_heads": spec.key_heads, "d_k": spec.head_k, "d_v": spec.head_v}.get(field, own)
    if own is None or not own or claim.room or (more := at(field, 2 * own)) is None or more == value:
        return None
    each = Fraction(more - value, own)
    size = own + (claim.value - value) / each
    if size.denominator != 1 or size < 1:
        return None
    common = size in sizes or size in usual_sizes(field) or (field == "layers" and size <= MOST_LAYERS)
    other_terms = each.numerator % OTHER_TERMS == 0 or abs(size - own) in sizes  # what was added may be something else
    return int(size) if common or not other_terms else None


@lru_cache(maxsize=32)
def usual_sizes(field: str) -> frozenset[int]:
    """Return the values of a field in all presets."""
    specs = [preset(name) for name in (*preset_names(), *decoder_names())]
    return frozenset(size for spec in specs if isinstance(size := getattr(spec, field, None), int) and size)


def other_parts(subject: Node, evaluation: Evaluation, fits: Callable[[Value], bool], *, certain: bool) -> list[Finding]:
    """Return the other part of the model that has the claimed value; `certain`: the caller rules chance out."""
    if (
        not isinstance(subject, Quantity | Name)
        or (name := subject.text if isinstance(subject, Name) else subject.name) not in PARTED
    ):
        return []
    quantity = subject if isinstance(subject, Quantity) else Quantity(name)
    if any(key == "head" for key, _ in quantity.options):
        return []
    found: dict[tuple[str, ...], list[tuple[str, Value]]] = {}
    for part in PARTS:
        other = replace(quantity, arguments=(Name(part),))
        try:
            of_part = evaluation.found(other)
        except GlassformerError:  # this model has no such part, or the part has no cost
            continue
        smaller = [(one.left_out, one.value) for one in of_part.others if certain and {*one.left_out} in MATRICES_ALONE]
        left_out = next((words for words, one in (((), of_part.value), *smaller) if fits(one)), None)
        if left_out is not None and other != quantity:
            found.setdefault(left_out, []).append((plain(other), dict([((), of_part.value), *smaller])[left_out]))
    return [
        Finding(
            (mistake("another_part"),), (" or ".join(name for name, _ in parts[:MOST_PARTS]),), plain_value(parts[0][1]), words
        )
        for words, parts in found.items()
    ]
