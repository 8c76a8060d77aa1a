"""A set for one student: parameters drawn from the seed, every question with its numbers put in and its key worked out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from glassformer.answers.asked import ask
from glassformer.answers.quiz import expressions
from glassformer.answers.quiz.choosing import Chosen, Option, chosen
from glassformer.answers.quiz.counted import Counted
from glassformer.answers.quiz.draws import Draw, parameters, whole_numbers
from glassformer.answers.quiz.keys import MISSING, Judgement, Key
from glassformer.answers.quiz.largest import Largest
from glassformer.answers.quiz.said import Said
from glassformer.answers.quiz.shaped import Shaped
from glassformer.answers.quiz.template import QuizSet, Template, filled, filled_in
from glassformer.answers.quiz.worked import Worked
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import known_preset
from glassformer.spec.reading import Request, request_from_words
from glassformer.spec.viewed import Viewed

MOST_ATTEMPTS = 60  # draws until the numbers of a question can tell its mistakes apart
EXACT = 1e-6  # what floating point may differ by where whole numbers are asked for
EVERYBODY = ""  # the student of a quiz that is the same for all


@dataclass(frozen=True, eq=False)
class Item:
    """One question as one student gets it."""

    number: int
    template: Template
    drawn: Mapping[str, Any]
    text: str
    hints: tuple[str, ...]
    key: Key

    @property
    def id(self) -> str:
        return self.template.id

    @property
    def marks(self) -> Fraction:
        return self.template.marks

    @property
    def options(self) -> tuple[Option, ...]:
        return self.key.options if isinstance(self.key, Chosen) else ()

    @property
    def inner(self) -> Key:
        """The key without its options."""
        return self.key.inner if isinstance(self.key, Chosen) else self.key

    @property
    def work(self) -> Worked | None:
        """The by-hand problem behind the question, where there is one."""
        inner = self.inner.work if isinstance(self.inner, Largest) else self.inner
        return inner if isinstance(inner, Worked) else None

    @property
    def command(self) -> str:
        """What to type to see the answer derived; empty where no command does."""
        if self.template.spec:
            words = [self.template.ask, *filled(self.template.spec, self.drawn).split()]
            return f"glassformer ask {shlex.join(words)}"
        return f"glassformer experiment {self.template.proof}" if self.template.proof else ""


@dataclass(frozen=True, eq=False)
class Variant(Viewed):
    """A whole set as one student gets it."""

    quiz: QuizSet
    seed: int
    student: str
    items: tuple[Item, ...]

    def judge(self, answers: Mapping[str, str]) -> dict[str, Judgement]:
        """A judgement for each question; errors are carried forward, in the order of the set."""
        found: dict[str, Judgement] = {}
        for item in self.items:
            claim = answers.get(item.id, "").strip()
            found[item.id] = self._judged(item, claim, answers) if claim else MISSING
        return found

    def _judged(self, item: Item, claim: str, answers: Mapping[str, str]) -> Judgement:
        alone = item.key.judge(claim)
        if alone.right or not item.template.depends_on:
            return alone
        own = {}
        for earlier in self.items:
            if earlier.id in item.template.depends_on:
                value = earlier.key.own(answers.get(earlier.id, ""))
                if value is None:
                    return alone
                own[earlier.id] = value
        key = item.key.carried(own)
        if key is None or not key.judge(claim).right:
            return alone
        listed = ", ".join(item.template.depends_on)
        return Judgement("carried", Fraction(1), f"follows from your own answer to {listed}; the right one is {item.key.text}")


def variant(quiz: QuizSet, seed: int, student: str = EVERYBODY) -> Variant:
    """The set for one student: the same for the same seed and the same name, whoever else is in the class."""
    made: dict[str, Item] = {}
    for template in quiz.questions:
        if not template.same_as:
            for item in _drawn_together(quiz, template, seed, student):
                made[item.id] = item
    items = tuple(replace(made[template.id], number=place) for place, template in enumerate(quiz.questions, start=1))
    return Variant(quiz, seed, student, items)


def _drawn_together(quiz: QuizSet, first: Template, seed: int, student: str) -> list[Item]:
    """A question and those that speak of the same numbers, drawn until all of them can be asked."""
    group = [first, *(template for template in quiz.questions if template.same_as == first.id)]
    failed: GlassformerError | None = None
    for attempt in range(MOST_ATTEMPTS):
        draw = Draw(quiz.name, seed, student, first.id, attempt)
        try:
            drawn = parameters(first.parameters, first.where, draw)
            items = [_item(template, drawn, Draw(quiz.name, seed, student, template.id, "options")) for template in group]
            _check_carried(items)
        except GlassformerError as error:
            failed = error
            continue
        return items
    raise GlassformerError(f"{quiz.name}, question {first.id}: {failed}")


def _item(template: Template, drawn: Mapping[str, Any], draw: Draw) -> Item:
    key = key_of(template, drawn)
    missing = [code for code in template.mistakes if code not in {wrong.code for wrong in key.wrongs()}]
    if missing:
        raise GlassformerError(f"the numbers of {template.id} cannot show the mistake '{shown(missing[0])}'.")
    if template.kind == "choice" or any(option.right for option in template.options):
        key = chosen(key, template.choices, template.mistakes, draw)
    hints = tuple(filled(hint, drawn) for hint in template.hints)
    return Item(0, template, drawn, filled(template.text, drawn), hints, key)


def key_of(template: Template, drawn: Mapping[str, Any]) -> Key:
    """The key of a question, its parameters put in."""
    if template.spec:
        return _asked_key(template, drawn)
    if template.problem is not None:
        return _worked_key(template, drawn)
    options = tuple(replace(o, says=filled(o.says, drawn), why=filled(o.why, drawn)) for o in template.options)
    right = [option.says for option in options if option.right]
    answers = (*right, *(filled(answer, drawn) for answer in template.answers))
    return Said(answers, options, filled(template.because, drawn), template.proof)


def _asked_key(template: Template, drawn: Mapping[str, Any]) -> Key:
    answer = ask(template.ask, _request(filled(template.spec, drawn)))
    credit = template.convention_credit
    if answer.question.kind == "shape":
        return Shaped(answer, template.writing, credit)
    if not isinstance(answer.value, int):
        raise GlassformerError(
            f"ask = '{shown(template.ask)}': the answer is {answer.value:g}, and a quiz asks for whole numbers here."
        )
    rule = template.carried if isinstance(template.carried, str) else ""
    return Counted(answer, template.without, template.tolerance or Fraction(0), credit, rule, whole_numbers(drawn))


def _request(text: str) -> Request:
    words = text.split()
    name = known_preset(words[0]) if words else None
    if name is None:
        raise GlassformerError(f"spec = '{shown(text)}': a question's spec starts with the name of a preset.")
    return request_from_words((name, *words[1:]))


def _worked_key(template: Template, drawn: Mapping[str, Any]) -> Key:
    problem = parse_problem(filled_in(template.problem, drawn), template.id)
    solution = solve(problem.replace(ask=(template.ask,)))
    tolerance = 10.0**-template.digits if template.digits else EXACT
    tolerance = float(template.tolerance) if template.tolerance is not None else tolerance
    rule = template.carried if isinstance(template.carried, Mapping) else None
    work = Worked(solution, template.ask, template.cell, template.digits, tolerance, template.convention_credit, rule)
    return Largest(work) if template.pick == "largest" else work


def _check_carried(items: list[Item]) -> None:
    """A rule that says how an answer follows from earlier ones must give the right answer from the right ones."""
    keys = {item.id: item.inner for item in items}
    for item in items:
        rule = item.template.carried
        if isinstance(rule, str) and rule and isinstance(item.inner, Counted):
            right = {name: keys[name].own(keys[name].text) for name in item.template.depends_on if name in keys}
            values = {name: value for name, value in right.items() if isinstance(value, Fraction)}
            found = expressions.value_of(rule, {**whole_numbers(item.drawn), **values})
            if found != item.inner.value:
                raise GlassformerError(f"{item.id}: carried = '{shown(rule)}' gives {found}, the answer is {item.inner.text}.")


def variants(quiz: QuizSet, seed: int, students: tuple[str, ...]) -> Iterator[Variant]:
    """One variant for each student; one for everybody where none are named."""
    for student in students or (EVERYBODY,):
        yield variant(quiz, seed, student)
