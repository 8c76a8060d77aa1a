"""A set for one student: parameters drawn from the seed, and every question with its numbers and its key."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from glassformer.answers.quiz.choosing import Chosen, chosen
from glassformer.answers.quiz.draws import Draw, parameters
from glassformer.answers.quiz.keys import key_of
from glassformer.answers.quiz.marking import MISSING, Key, Marked, marked
from glassformer.answers.quiz.phrases import Phrase
from glassformer.answers.quiz.quantity import Counted, QuantityKey
from glassformer.answers.quiz.template import Option, QuizSet, Template, filled
from glassformer.answers.quiz.worked import Worked
from glassformer.errors import GlassformerError, shown
from glassformer.spec.viewed import Viewed

MOST_ATTEMPTS = 60  # draws until the mistakes of a question give distinct answers
EVERYBODY = ""  # the student of a quiz that is the same for everyone


@dataclass(frozen=True, eq=False)
class Item:
    """One question as given to one student."""

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
        """The by-hand problem of the question, if there is one."""
        inner = self.inner.work if isinstance(self.inner, Phrase) else self.inner
        return inner if isinstance(inner, Worked) else None

    @property
    def command(self) -> str:
        """The command that derives the answer; empty if there is none."""
        if isinstance(self.inner, QuantityKey):
            words = [self.inner.answer.text, *filled(self.template.spec, self.drawn).split()]
            return f"glassformer ask {shlex.join(words)}"
        return f"glassformer experiment {self.template.proof}" if self.template.proof else ""

    def marked(self, claim: str, found: Marked) -> Marked:
        """Return a mark with the question, the answer and the key."""
        return found.about(self.id, claim, self.key.text, self.marks)


@dataclass(frozen=True, eq=False)
class Variant(Viewed):
    """A whole set as given to one student."""

    quiz: QuizSet
    seed: int
    student: str
    items: tuple[Item, ...]

    def judge(self, answers: Mapping[str, str]) -> dict[str, Marked]:
        """Mark each question, in the order of the set; errors are carried forward."""
        found: dict[str, Marked] = {}
        for item in self.items:
            claim = answers.get(item.id, "").strip()
            found[item.id] = item.marked(claim, self._judged(item, claim, answers) if claim else MISSING)
        return found

    def _judged(self, item: Item, claim: str, answers: Mapping[str, str]) -> Marked:
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
        found = item.key.carried(own, claim)
        if found is None or found.credit <= alone.credit:
            return alone
        says = f"from your own answer to {', '.join(item.template.depends_on)}; the right answer is {item.key.text}"
        if found.right:
            return marked("carried", 1, f"follows {says}")
        return replace(alone, credit=found.credit, says=f"{found.says} {says}")


def variant(quiz: QuizSet, seed: int, student: str = EVERYBODY) -> Variant:
    """Return the set for one student, which depends only on the seed and the name, not on the class."""
    made: dict[str, Item] = {}
    for template in quiz.questions:
        if not template.same_as:
            for item in _drawn_together(quiz, template, seed, student):
                made[item.id] = item
    items = tuple(replace(made[template.id], number=place) for place, template in enumerate(quiz.questions, start=1))
    return Variant(quiz, seed, student, items)


def _drawn_together(quiz: QuizSet, first: Template, seed: int, student: str) -> list[Item]:
    """Draw a question together with those that share its numbers, until all of them are valid."""
    group = [first, *(template for template in quiz.questions if template.same_as == first.id)]
    failed: GlassformerError | None = None
    for attempt in range(MOST_ATTEMPTS):
        draw = Draw(quiz.name, seed, student, first.id, attempt)
        items: list[Item] = []
        try:
            drawn = parameters(first.parameters, first.where, draw)
            for template in group:
                items.append(_item(template, drawn, Draw(quiz.name, seed, student, template.id, "options")))
            _check_carried(items)
        except GlassformerError as error:
            place = group[min(len(items), len(group) - 1)].id
            failed = GlassformerError(f"{quiz.name}, question {place}: {error}")
            continue
        return items
    assert failed is not None
    raise failed


def _item(template: Template, drawn: Mapping[str, Any], draw: Draw) -> Item:
    key = key_of(template, drawn)
    needed = [named.code for named in template.mistakes if not named.gives]
    missing = [code for code in needed if code not in {wrong.code for wrong in key.wrongs()}]
    if missing:
        raise GlassformerError(
            f"mistakes: no drawn numbers make '{shown(missing[0])}' give a distinct wrong answer: "
            "remove it, or change the parameters."
        )
    if template.kind == "choice" or any(option.right for option in template.options):
        key = chosen(key, template.choices, template.codes, draw)
    hints = tuple(filled(hint, drawn) for hint in template.hints)
    return Item(0, template, drawn, filled(template.text, drawn), hints, key)


def _check_carried(items: list[Item]) -> None:
    """Check that the rules for carried answers give the right answer from the right earlier ones."""
    keys = {item.id: item.inner for item in items}
    for item in items:
        if isinstance(item.inner, Counted) and item.inner.rule:
            right = {name: keys[name].own(keys[name].text) for name in item.template.depends_on if name in keys}
            found = item.inner.follows({name: value for name, value in right.items() if isinstance(value, Fraction)})
            if found != item.inner.value:
                gives = f"carried = '{shown(item.inner.rule)}' gives {item.inner.shown(found)}"
                raise GlassformerError(f"{gives} from the right answers, not {item.inner.text}.")
