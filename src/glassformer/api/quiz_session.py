"""A practice quiz, question by question: hints after a wrong answer, then the mistake, the derivation and the score."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TextIO

from glassformer.answers.quiz import Item, Variant
from glassformer.answers.quiz.marking import Marked
from glassformer.errors import shown
from glassformer.show.quiz.page import Choices, Given, Text, marks_text, question_blocks
from glassformer.show.quiz.report import points

WIDTH = 100
SKIP, HINT, QUIT = ("skip", "?"), ("hint", "h"), ("quit", "exit", "q")


class Stopped(Exception):  # noqa: N818 (not an error)
    """The student stopped, or the input ended."""


class QuizPrompt:
    """Shows questions and reads answers."""

    def __init__(
        self, variant: Variant, *, out: TextIO = sys.stdout, ask: Callable[[], str] = lambda: sys.stdin.readline()
    ) -> None:
        self.variant, self.out, self.ask = variant, out, ask
        self.answers: dict[str, str] = {}

    def present(self, item: Item) -> None:
        self.say(f"\n{item.number}/{len(self.variant.items)}  {item.id} ({marks_text(item.marks)})")
        for block in question_blocks(item, heading=False, blank=False):
            self._show(block)

    def _show(self, block: object) -> None:
        if isinstance(block, Text):
            self.say(textwrap.fill(block.text, WIDTH))
        elif isinstance(block, Given):
            lines = [block.grid.single] if block.grid.single is not None else block.grid.lines()
            for place, line in enumerate(lines):
                self.say(f"  {block.name} = {line}" if place == 0 else f"  {'':{len(block.name) + 3}}{line}")
        elif isinstance(block, Choices):
            for option in block.options:
                self.say(f"  {option.letter}) {option.text}")

    def read(self, wanted: str) -> str:
        self.out.write(f"answer ({wanted})> ")
        self.out.flush()
        line = self.ask()
        if not line or line.strip().lower() in QUIT:
            raise Stopped
        return shown(line.strip(), limit=2_000)

    def say(self, text: str) -> None:
        self.out.write(text + "\n")

    def told(self, found: Marked, won: Fraction) -> None:
        """Print the marks of an answer and its mistakes."""
        self.say(f"{found.says[:1].upper()}{found.says[1:]}. +{points(won)}")
        for mistake in found.mistakes:
            self.say(f"  [{mistake.code}] {mistake.sentence}")

    def total(self, won: dict[str, Fraction], mistakes: Counter[tuple[str, str]]) -> None:
        of = sum((item.marks for item in self.variant.items if item.id in won), Fraction(0))
        score = points(sum(won.values(), Fraction(0)))
        self.say(f"Score: {score} of {points(of)} ({len(won)} of {len(self.variant.items)} questions)")
        for (name, code), count in mistakes.most_common():
            self.say(f"  {count} × {name} [{code}]")

    def document(self, won: dict[str, Fraction]) -> dict[str, Any]:
        rows = [
            {"question": i.id, "answer": self.answers.get(i.id, ""), "marks": float(won[i.id]), "of": float(i.marks)}
            for i in self.variant.items
            if i.id in won
        ]
        quiz, score = self.variant.quiz, float(sum(won.values(), Fraction(0)))
        return {"set": quiz.name, "seed": self.variant.seed, "score": score, "of": float(quiz.marks), "answers": rows}


class Session(QuizPrompt):
    """Practice mode. Each hint costs an equal share of the marks: with two hints, a third each."""

    def run(self) -> None:
        self.won: dict[str, Fraction] = {}
        self.mistakes: Counter[tuple[str, str]] = Counter()
        quiz = self.variant.quiz
        self.say(f"{quiz.title}: {len(quiz.questions)} questions, {marks_text(quiz.marks)}. Type hint, skip or quit at any time.")
        try:
            for item in self.variant.items:
                self.question(item)
        except Stopped:
            self.say("")
        self.total(self.won, self.mistakes)

    def question(self, item: Item) -> None:
        self.present(item)
        hints = list(item.hints)
        while True:
            claim = self.read(item.key.wanted)
            if claim.lower() in HINT:
                self.say(f"Hint: {hints.pop(0)}" if hints else "There are no more hints.")
                continue
            if claim.lower() in SKIP or not claim:
                self.won[item.id] = Fraction(0)
                self.derive(item)
                return
            found = self.judged(item, claim)
            if found.right or not self.again(found, hints):
                self.finish(item, claim, found, len(item.hints) - len(hints))
                return

    def judged(self, item: Item, claim: str) -> Marked:
        """Judge an answer together with earlier ones; if no single mistake explains it, search for two."""
        found = self.variant.judge({**self.answers, item.id: claim})[item.id]
        return (item.key.searched(claim) or found) if found.unexplained else found

    def again(self, found: Marked, hints: list[str]) -> bool:
        """Return whether another try is allowed: while there are hints; an unreadable answer uses none."""
        if found.verdict == "unclear":
            self.say(f"  {found.says}")
            return True
        if found.verdict != "wrong" or not hints:
            return False
        self.say(f"Not yet. Hint: {hints.pop(0)}")
        return True

    def finish(self, item: Item, claim: str, found: Marked, used: int) -> None:
        self.answers[item.id] = claim
        share = Fraction(len(item.hints) + 1 - used, len(item.hints) + 1)
        self.won[item.id] = item.marks * found.credit * share
        self.told(found, self.won[item.id])
        self.mistakes.update((mistake.name, mistake.code) for mistake in found.mistakes)
        if not found.right:
            self.derive(item)

    def derive(self, item: Item) -> None:
        self.say(f"The answer is {item.key.text}")
        for title, lines in item.key.solution():
            self.say(f"  {title}")
            for line in lines:
                self.say(f"    {line}")

    def to_dict(self) -> dict[str, Any]:
        return self.document(self.won)
