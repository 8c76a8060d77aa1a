"""Diagnosis: right, right under a convention, or the mistakes that give exactly the number claimed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from glassformer.algebra import Result
from glassformer.answers.answer import Value
from glassformer.answers.chains import broken_link
from glassformer.answers.claims import Number, Shape
from glassformer.answers.conventions import totals_by_convention
from glassformer.answers.meanings import numbers_meant, shape_meant
from glassformer.answers.mistakes.catalogue import CATALOGUE, Mistake
from glassformer.answers.mistakes.counting import RULES, rewrites
from glassformer.answers.mistakes.pieces import Pieces, Setting, total
from glassformer.answers.mistakes.sizes import operation_mistakes, shape_mistakes
from glassformer.answers.quantities import Answer, Other, ask, asked_pieces
from glassformer.answers.questions import Question, parse_question
from glassformer.program import build
from glassformer.spec.reading import Request

Verdict = Literal["right", "convention", "wrong"]
VERDICTS = get_args(Verdict)

# Two mistakes at once are offered only where a number cannot fit by accident: expected chance hits below this.
CHANCE = 0.02
# Mistakes by a whole factor: only these show through a slip in the arithmetic. Others move a count by little, and fit by chance.
MULTIPLIES = (
    "heads_times_full_width one_head_vs_all_heads one_layer_only shared_layers_multiplied tied_weights_twice ffn_one_or_twice "
    "sequence_length_in_parameters"
).split()
LOOSE = 3  # in what a claim's rounding allows: a number that near may be the right one, badly rounded, and has no other cause
NEAR = 0.01  # relative: close enough to a mistake's value that the rest may be arithmetic


@dataclass(frozen=True)
class Finding:
    """One explanation of a wrong number: which mistakes, what exactly was done, and what was left out besides."""

    mistakes: tuple[Mistake, ...]
    what: tuple[str, ...]
    left_out: tuple[str, ...]
    value: Any
    near: bool = False

    @property
    def cost(self) -> tuple[int, int]:
        """Simplest first: fewest mistakes, then least left out."""
        return len(self.mistakes), len(self.left_out)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(mistake.code for mistake in self.mistakes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "codes": list(self.codes),
            "names": [mistake.name for mistake in self.mistakes],
            "sentences": [mistake.sentence for mistake in self.mistakes],
            "what": list(self.what),
            "left_out": list(self.left_out),
            "value": list(self.value) if isinstance(self.value, tuple) else self.value,
            "near": self.near,
        }


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What a claim is: right, right under a convention, or wrong and why."""

    answer: Answer
    claim: Number | Shape
    verdict: Verdict
    convention: str = ""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def right(self) -> bool:
        return self.verdict != "wrong"

    def beside(self, truth: str) -> str:
        """What stands beside a claim that is right under a convention: the answer to the question as it was put."""
        return f"{'Alone' if self.convention.startswith('with ') else 'In full'} it is {truth}."

    def to_dict(self) -> dict[str, Any]:
        document = self.answer.to_dict()
        return document | {
            "claim": self.claim.text,
            "verdict": self.verdict,
            "right": self.right,
            "convention": self.convention,
            "truth": document["value"],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }


def check(question: str | Question, asked: Request, claim: str) -> Diagnosis:
    """Judge a claim about an encoder: `check("params", request("layer", d_model=64, heads=4), "27648")`."""
    if isinstance(question, str):
        question = parse_question(question)
    answer = ask(question, asked)
    asked = answer.asked  # with the length and the batch that the question states
    program = build(asked.spec, batch=asked.batch, t=asked.t)
    if isinstance(answer.value, tuple):
        said = shape_meant(claim, program)
        if len(said.sizes) == 1 and len(answer.value) > 1 and not any(len(s) == 1 for s in _written(answer)):
            return _check_one_number(answer, said, claim)
        return _check_shape(answer, said)
    found = [_check_number(answer, number) for number in numbers_meant(claim, program, question.unit)]
    best = min(found, key=lambda diagnosis: (VERDICTS.index(diagnosis.verdict), not diagnosis.findings))
    broken = broken_link(claim, program, question.unit)
    if not broken:
        return best
    if best.right:
        return replace(best, verdict="wrong", convention="", findings=(), notes=(f"the last side may stand, but {broken}",))
    return replace(best, notes=(*best.notes, broken))


def _check_one_number(answer: Answer, said: Shape, claim: str) -> Diagnosis:
    """One number for a shape: its features, where a dimension was asked for, or else its elements."""
    if re.search(r"\bdim", answer.question.text, flags=re.I) and any(shape[-1] == said.sizes[0] for shape in _written(answer)):
        return Diagnosis(answer, said, "convention", "the features alone")
    return check(replace(answer.question, kind="elements"), answer.asked, claim)


def _written(answer: Answer) -> list[tuple[int, ...]]:
    return [value for value in (answer.value, *(other.value for other in answer.others)) if isinstance(value, tuple)]


def _check_number(answer: Answer, number: Number) -> Diagnosis:
    question, asked = answer.question, answer.asked
    assert not isinstance(answer.value, tuple)
    if number.allows(answer.value):
        return Diagnosis(answer, number, "right", answer.convention)
    excused = [other for other in answer.others if other.excuses and _fits(number, other.value) and _tells(number, other)]
    if excused:
        nearest = min(excused, key=lambda other: other.convention.count(","))
        return Diagnosis(answer, number, "convention", nearest.convention, _named(nearest))
    if not number.exact and abs(number.value - Fraction(answer.value)) < LOOSE * number.room:
        return Diagnosis(answer, number, "wrong", notes=("near the right value, but not what it rounds to",))
    mistaken = [_finding(wrong) for wrong in answer.wrongs if _fits(number, wrong.value)]
    if question.kind == "params":
        return _diagnosed(answer, number, mistaken or _count_findings(question, asked, number))
    setting = Setting(asked.spec, asked.batch, asked.t)
    found = [
        Finding((CATALOGUE[code],), (what,), (), value) for code, what, value in operation_mistakes(question, answer, setting)
    ]
    return _diagnosed(answer, number, [*mistaken, *(finding for finding in found if number.allows(finding.value))])


def _fits(number: Number, value: Value) -> bool:
    return not isinstance(value, tuple) and number.allows(value)


def _finding(wrong: Other) -> Finding:
    return Finding((CATALOGUE[wrong.code],), (wrong.convention,), (), wrong.value)


def _tells(number: Number, other: Other) -> bool:
    """Whether the number says that this convention was meant: a rounded one fits far-fetched conventions by accident."""
    return number.exact or (other.convention.count(",") < 2 and "output" not in other.convention)


def _named(other: Other) -> tuple[Finding, ...]:
    return (Finding((CATALOGUE[other.code],), (other.convention,), (), other.value),) if other.code else ()


def _check_shape(answer: Answer, claim: Shape) -> Diagnosis:
    if claim.sizes == answer.value:
        return Diagnosis(answer, claim, "right", answer.convention)
    for other in answer.others:
        if other.value == claim.sizes:
            return Diagnosis(answer, claim, "convention", other.convention)
    found = [Finding((CATALOGUE[code],), (what,), (), value) for code, what, value in shape_mistakes(answer)]
    found += [_finding(wrong) for wrong in answer.wrongs]
    return _diagnosed(answer, claim, [finding for finding in found if finding.value == claim.sizes])


def _diagnosed(answer: Answer, claim: Number | Shape, findings: Iterable[Finding]) -> Diagnosis:
    """The simplest explanations, all of equal simplicity; or none, said plainly."""
    ranked = sorted(findings, key=lambda finding: finding.cost)
    simplest: dict[tuple[str, ...], Finding] = {}
    for finding in ranked:
        if finding.cost == ranked[0].cost:
            simplest.setdefault(finding.codes, finding)
    notes = [] if simplest else ["no known mistake gives this number"]
    if len(simplest) > 1:
        notes.append("several mistakes give this number: which one it was cannot be told from the number alone")
    return Diagnosis(answer, claim, "wrong", "", tuple(simplest.values()), tuple(notes))


def _count_findings(question: Question, asked: Request, claim: Number) -> list[Finding]:
    """Single mistakes first; with something left out besides, or two at once, only where chance is ruled out."""
    pieces, setting = asked_pieces(question, asked), Setting(asked.spec, asked.batch, asked.t)
    singles = list(rewrites(pieces, setting))
    exact = [Finding((CATALOGUE[r.code],), (r.what,), (), total(r.pieces)) for r in singles]
    found = [finding for finding in exact if claim.allows(finding.value)]
    if found:
        return found
    if claim.exact:
        found = list(_with_left_outs(singles, claim)) or list(_slips(pieces, claim)) or list(_pairs(pieces, setting, claim))
    return found or _near(exact, claim, total(pieces))


def _with_left_outs(singles: list[Any], claim: Number) -> Iterator[Finding]:
    values: set[int] = set()
    matched: list[Finding] = []
    for rewrite in singles:
        for words, value in totals_by_convention(rewrite.pieces):
            values.add(value)
            if words and claim.allows(value):
                matched.append(Finding((CATALOGUE[rewrite.code],), (rewrite.what,), words, value))
    if _chance(values, claim) <= CHANCE:
        yield from matched


def _pairs(pieces: Pieces, setting: Setting, claim: Number) -> Iterator[Finding]:
    order = list(RULES)
    values: set[int] = set()
    matched: list[Finding] = []
    for first in rewrites(pieces, setting):
        for second in rewrites(first.pieces, setting):
            if order.index(second.code) <= order.index(first.code):
                continue
            for words, value in totals_by_convention(second.pieces):
                values.add(value)
                if claim.allows(value):
                    both = (CATALOGUE[first.code], CATALOGUE[second.code])
                    matched.append(Finding(both, (first.what, second.what), words, value))
    if _chance(values, claim) <= CHANCE:
        yield from matched


def _chance(values: set[int], claim: Number) -> float:
    """How many of the values would hit the claim by accident, were they spread evenly around it."""
    low, high = claim.value / 2, claim.value * 2
    if claim.value <= 0:
        return 1.0
    around = sum(1 for value in values if low <= value <= high)
    return float(around / (high - low))


def _slips(pieces: Pieces, claim: Number) -> Iterator[Finding]:
    """Digits exchanged, or a zero lost, in the right value or one under a usual convention."""
    digits = str(int(claim.value)) if claim.value.denominator == 1 else ""
    for words, value in totals_by_convention(pieces):
        text = str(value)
        swapped = {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)} - {text}
        if len(text) > 3 and digits in swapped:
            yield Finding((CATALOGUE["digits_exchanged"],), (f"{digits} for {text}",), words, int(digits))
        if len(text) > 2 and digits and (digits == text + "0" or digits + "0" == text):
            yield Finding((CATALOGUE["zero_lost"],), (f"{digits} for {text}",), words, int(digits))


def _near(exact: list[Finding], claim: Number, truth: int) -> list[Finding]:
    """A single mistake whose value lies within a hundredth of the claim, far from the truth, and no other does."""
    if claim.value <= 0 or not claim.exact or abs(claim.value - truth) <= truth * 5 * NEAR:
        return []
    large = [finding for finding in exact if finding.codes[0] in MULTIPLIES]
    close = [finding for finding in large if abs(finding.value - claim.value) <= claim.value * Fraction(str(NEAR))]
    if len({finding.codes for finding in close}) != 1:
        return []
    best = min(close, key=lambda finding: abs(finding.value - claim.value))
    return [Finding(best.mistakes, best.what, best.left_out, best.value, near=True)]
