"""Questions that have a whole number for an answer: parameters under a stated convention, elements, FLOPs, bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from glassformer.answers.asked import Answer
from glassformer.answers.asked.counting_conventions import GROUPS, left_out_ways
from glassformer.answers.asked.counts import asked_pieces
from glassformer.answers.claimed import Number
from glassformer.answers.judging import check
from glassformer.answers.mistakes.counting import rewrites
from glassformer.answers.mistakes.pieces import Pieces, Setting, total
from glassformer.answers.mistakes.sizes import operation_mistakes
from glassformer.answers.quiz import expressions, notation
from glassformer.answers.quiz.keys import RIGHT, Judgement, Key, Own, Section, Wrong, explained, unread
from glassformer.answers.quiz.misconceptions import mistake
from glassformer.spec import GlassformerError

# Mistakes that are none where the question itself leaves these parts out.
EXCUSED = {"biases": "attention_bias ffn_bias head_count_wrong", "pooler": "pooler_in_or_out", "norms": "layernorm_undercounted"}


@dataclass(frozen=True)
class Counted(Key):
    """A count. `without`: the parts that the question leaves out."""

    answer: Answer
    without: tuple[str, ...] = ()
    tolerance: Fraction = Fraction(0)
    convention_credit: Fraction = Fraction(1, 2)
    rule: str = ""  # how the number follows from earlier answers
    parameters: Mapping[str, Fraction | int] = field(default_factory=dict)
    wanted: str = "a whole number"

    @property
    def text(self) -> str:
        return f"{self.value:,}"

    @cached_property
    def value(self) -> int:
        if self.answer.question.kind == "params":
            return total(self.pieces)
        assert isinstance(self.answer.value, int)
        return self.answer.value

    @cached_property
    def all_pieces(self) -> Pieces:
        return asked_pieces(self.answer.question, self.answer.asked)

    @cached_property
    def pieces(self) -> Pieces:
        return tuple(piece for piece in self.all_pieces if not any(GROUPS[word](piece) for word in self.without))

    def judge(self, claim: str) -> Judgement:
        numbers = notation.numbers(claim)
        if not numbers:
            return unread(self.wanted)
        if any(abs(number.value - self.value) <= self.tolerance for number in numbers):
            return RIGHT
        if any(not number.exact and number.allows(self.value) for number in numbers):
            return Judgement(
                "rounded", self.convention_credit, f"right as far as it goes, but rounded: the number itself is {self.text}"
            )
        known = [wrong for wrong in self.wrongs() if _means(numbers[0], wrong.value)]
        return (None if known else self._other_convention(numbers)) or explained(known)

    def _other_convention(self, numbers: list[Number]) -> Judgement | None:
        for convention, value in self._conventions():
            if any(number.value == value for number in numbers):
                says = f"right {convention}, but that is not what the question counts: there it is {self.text}"
                return Judgement("convention", self.convention_credit, says)
        return None

    def searched(self, claim: str) -> Judgement | None:
        """The whole diagnosis: two mistakes at once, digits exchanged, a mistake nearly made."""
        number = next(iter(notation.numbers(claim)), None)
        if number is None or not number.exact or number.value.denominator != 1 or not 0 < number.value < 10**15:
            return None
        found = check(self.answer.question, self.answer.asked, str(number.value))
        if found.verdict != "wrong":
            says = f"right {found.convention}, but the question asks for another count: {self.text}"
            return Judgement("convention", self.convention_credit, says)
        if len(found.findings) == 1 and len(found.findings[0].codes) > 1:
            (both,) = found.findings
            names = " and ".join(mistake(code).name for code in both.codes)
            return Judgement("wrong", Fraction(0), f"wrong: {names} ({'; '.join(both.what)})", both.codes, together=True)
        singles = [finding for finding in found.findings if len(finding.codes) == 1]
        return explained([Wrong("", None, f.codes[0], "; ".join(f.what) + (", nearly" if f.near else "")) for f in singles])

    def _conventions(self) -> list[tuple[str, int]]:
        if self.answer.question.kind == "params":
            ways = [(f"without {', '.join(words)}", total(kept)) for words, kept in left_out_ways(self.all_pieces)]
            return [("when everything is counted", total(self.all_pieces)), *ways]
        return [
            (f"as {other.convention}", other.value)
            for other in self.answer.others
            if other.excuses and not other.code and isinstance(other.value, int)
        ]

    def wrongs(self) -> Sequence[Wrong]:
        return self._wrongs

    @cached_property
    def _wrongs(self) -> list[Wrong]:
        asked = self.answer.asked
        setting = Setting(asked.spec, asked.batch, asked.t)
        if self.answer.question.kind == "params":
            excused = " ".join(EXCUSED.get(word, "") for word in self.without).split()
            found = [(r.code, r.what, total(r.pieces)) for r in rewrites(self.pieces, setting) if r.code not in excused]
        else:
            found = list(operation_mistakes(self.answer.question, self.answer, setting))
        whole = [(code, what, value) for code, what, value in found if isinstance(value, int) and value > 0]
        return [Wrong(f"{value:,}", value, code, what) for code, what, value in whole if value != self.value]

    def solution(self) -> tuple[Section, ...]:
        if self.answer.question.kind == "params":
            lines = [f"{p.name} = {p.formula} = {p.numbers} = {p.size:,}" for p in self.pieces]
            lines += [f"sum = {self.text}"] if len(lines) > 1 else []
            left_out = f", without {', '.join(self.without)}" if self.without else ""
            return (("derivation", tuple(lines)), ("convention", (f"{_scope(self.answer)}{left_out}",)))
        lines = [" = ".join(filter(None, (n.what, n.symbols, n.numbers, _plain(n.value)))) for n in self.answer.lines]
        return (("derivation", tuple(lines)), ("convention", (self.answer.convention,)))

    def own(self, claim: str) -> Own | None:
        numbers = notation.numbers(claim)
        return numbers[0].value if numbers else None

    def carried(self, earlier: Mapping[str, Own]) -> Key | None:
        values = {name: value for name, value in earlier.items() if isinstance(value, Fraction)}
        if not self.rule or len(values) != len(earlier):
            return None
        try:
            found = expressions.value_of(self.rule, {**self.parameters, **values})
        except GlassformerError:  # a student's zero to divide by, or a number beyond all bounds
            return None
        return CarriedCount(found) if found != self.value else None


@dataclass(frozen=True)
class CarriedCount(Key):
    """The number that follows from a student's own earlier answers."""

    number: Fraction
    wanted: str = "a whole number"

    @property
    def value(self) -> Fraction:
        return self.number

    @property
    def text(self) -> str:
        return f"{int(self.value):,}" if self.value.denominator == 1 else str(float(self.value))

    def judge(self, claim: str) -> Judgement:
        fits = any(number.allows(self.value) for number in notation.numbers(claim))
        return RIGHT if fits else explained([])

    def wrongs(self) -> Sequence[Wrong]:
        return []

    def solution(self) -> tuple[Section, ...]:
        return ()


def _means(number: Number, value: int) -> bool:
    return number.value == value or (not number.exact and number.allows(value))


def _scope(answer: Answer) -> str:
    scope = [word for word, said in (("one layer", answer.question.one_layer), ("one head", answer.question.one_head)) if said]
    return ", ".join(["every parameter of what is asked", *scope])


def _plain(value: object) -> str:
    return " × ".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"
