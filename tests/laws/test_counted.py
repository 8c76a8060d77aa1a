"""The algebra and the float64 run against the model: tensors, products, shapes, numbers; each with its figure."""

from __future__ import annotations

from laws import book
from laws.cases import Case, cases, counts, drawn
from laws.ways import DOUBLE, PROGRAM, furthest

from glassformer.algebra import count as ledger
from glassformer.model import Encoder
from glassformer.program import build


@counts(60, 5000)
def test_counts_are_those_of_the_tensors_and_products_that_there_are(count, figure):
    law = book.WITNESSES["multiply adds equal those counted by torch"]
    wrong = 0
    for spec in drawn(count):
        wrong += law.measure(DOUBLE, Case(spec, 0)) != 0
    assert wrong == 0
    figure("N14", f"{len(drawn(count)):,} random specs: multiply-adds equal those counted by torch, attention and tied tables "
           "included; 0 wrong", cases=count)  # fmt: skip


@counts(150, 5000)
def test_the_ledger_is_the_model_tensor_by_tensor(count, figure):
    for spec in drawn(count):
        rows = {row.name: tuple(axis.size for axis in row.axes) for row in ledger(spec).rows}
        encoder = Encoder(spec, device="meta", fresh=False)
        assert rows == {name: tuple(view.shape) for name, view in encoder.ledger()}
        assert sum(parameter.numel() for parameter in encoder.parameters()) == ledger(spec).total
    figure("P1", f"{len(drawn(count)):,} random specs, tensor by tensor: 0 wrong ({in_words(drawn(count))})", cases=count)


KINDS = {
    "for text": lambda spec: spec.reads == "tokens",
    "for images": lambda spec: spec.reads == "image",
    "for audio": lambda spec: spec.reads == "frames",
    "pre-norm": lambda spec: spec.norm == "pre",
    "post-norm": lambda spec: spec.norm == "post",
    "with tied tables": lambda spec: spec.tie and spec.head in ("mlm", "pretrain"),
    "with shared layers": lambda spec: spec.share_layers is not None,
    "without biases": lambda spec: not spec.biases,
}


def in_words(specs):
    """How many of the specs are of each kind."""
    return ", ".join(f"{sum(map(bool, map(kind, specs))):,} {name}" for name, kind in KINDS.items())


@counts(60, 2000)
def test_every_shape_is_the_one_that_was_said(count, figure):
    law, seen = book.WITNESSES["every value has the predicted shape"], 0
    for spec in drawn(count):
        case = Case(spec, 0)
        assert law.measure(PROGRAM, case) == 0
        seen += len(build(spec).steps)
    figure("P2", f"{len(drawn(count)):,} random specs, {seen:,} intermediates: 0 wrong", cases=count)


@counts(40, 1000)
def test_the_worked_run_is_the_model(count, figure):
    same = book.WITNESSES["the model agrees with the program"]
    opened = book.WITNESSES["an explanation evaluates to its cell"]
    found = cases(count)
    worst, cells = (max(law.measure(way, case) for case in found) for law, way in ((same, DOUBLE), (opened, PROGRAM)))
    assert worst <= 1e-12
    assert cells <= 1e-12
    said = f"run and model within {worst:.1g}; one cell per step and its explanation within {cells:.1g}"
    figure("P3", f"{count} random specs, padded and not: {said}", cases=count)


def test_a_difference_that_is_not_there_is_not_measured():
    """Control of the tests above: another eps is detected."""
    normed = (case for case in cases(30) if case.spec.eps == 1e-5 and case.spec.layers and case.spec.block == "layer")
    case = next(normed)
    bent = case.spec.replace(eps=1e-3)
    assert furthest(DOUBLE(bent, case.weights, case.given), PROGRAM(case.spec, case.weights, case.given)) > 1e-6
