"""A quiz in the terminal: asks, gives hints on a miss, names the mistake, derives the answer, keeps score."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TextIO

from glassformer.answers.quiz import Item, Variant
from glassformer.answers.quiz.keys import Judgement
from glassformer.answers.quiz.misconceptions import mistake
from glassformer.show.quiz.page import Choices, Given, Text, marks_text, question_blocks
from glassformer.show.quiz.report import points
from glassformer.spec import shown

WIDTH = 100
SKIP, HINT, QUIT = ("skip", "?"), ("hint", "h"), ("quit", "exit", "q")


class Stopped(Exception):  # noqa: N818 (nobody's error: the student had enough)
    """The student stopped, or the input ended."""


class Session:
    """One sitting. Each hint costs its share of the marks: with two hints there are three thirds to win."""

    def __init__(
        self, variant: Variant, *, out: TextIO = sys.stdout, ask: Callable[[], str] = lambda: sys.stdin.readline()
    ) -> None:
        self.variant, self.out, self.ask = variant, out, ask
        self.answers: dict[str, str] = {}
        self.won: dict[str, Fraction] = {}
        self.mistakes: dict[str, int] = {}

    def run(self) -> None:
        quiz = self.variant.quiz
        self.say(f"{quiz.title}: {len(quiz.questions)} questions, {marks_text(quiz.marks)}. Type hint, skip or quit at any time.")
        try:
            for item in self.variant.items:
                self.question(item)
        except Stopped:
            self.say("")
        of = sum((item.marks for item in self.variant.items if item.id in self.won), Fraction(0))
        self.say(f"Score: {points(self.score)} of {points(of)} ({len(self.won)} of {len(quiz.questions)} questions)")
        for code, count in sorted(self.mistakes.items(), key=lambda pair: -pair[1]):
            self.say(f"  {count} × {mistake(code).name} [{code}]")

    @property
    def score(self) -> Fraction:
        return sum(self.won.values(), Fraction(0))

    def question(self, item: Item) -> None:
        self.say(f"\n{item.number}/{len(self.variant.items)}  {item.id} ({marks_text(item.marks)})")
        for block in question_blocks(item, heading=False, blank=False):
            self.show(block)
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

    def judged(self, item: Item, claim: str) -> Judgement:
        """The answer judged with those before it; where no single mistake gives it, two are searched for."""
        found = self.variant.judge({**self.answers, item.id: claim})[item.id]
        return (item.key.searched(claim) or found) if found.verdict == "wrong" and not found.codes else found

    def again(self, found: Judgement, hints: list[str]) -> bool:
        """After a miss: another try, as long as there are hints; an answer that cannot be read costs none."""
        if found.verdict == "unread":
            self.say(f"  {found.says}")
            return True
        if found.verdict != "wrong" or not hints:
            return False
        self.say(f"Not yet. Hint: {hints.pop(0)}")
        return True

    def finish(self, item: Item, claim: str, found: Judgement, used: int) -> None:
        self.answers[item.id] = claim
        share = Fraction(len(item.hints) + 1 - used, len(item.hints) + 1)
        self.won[item.id] = item.marks * found.credit * share
        self.say(f"{found.says[:1].upper()}{found.says[1:]}. +{points(self.won[item.id])}")
        for code in found.codes:
            self.mistakes[code] = self.mistakes.get(code, 0) + 1
            self.say(f"  [{code}] {mistake(code).sentence}")
        if not found.right:
            self.derive(item)

    def derive(self, item: Item) -> None:
        self.say(f"The answer is {item.key.text}")
        for title, lines in item.key.solution():
            self.say(f"  {title}")
            for line in lines:
                self.say(f"    {line}")

    def show(self, block: object) -> None:
        if isinstance(block, Text):
            self.say(textwrap.fill(block.text, WIDTH))
        elif isinstance(block, Given):
            lines = [block.grid.single] if block.grid.single is not None else block.grid.lines()
            self.say(
                "\n".join(
                    f"  {block.name} = {line}" if place == 0 else f"  {'':{len(block.name) + 3}}{line}"
                    for place, line in enumerate(lines)
                )
            )
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

    def to_dict(self) -> dict[str, Any]:
        rows = [
            {
                "question": item.id,
                "answer": self.answers.get(item.id, ""),
                "marks": float(self.won[item.id]),
                "of": float(item.marks),
            }
            for item in self.variant.items
            if item.id in self.won
        ]
        total = float(self.variant.quiz.marks)
        return {
            "set": self.variant.quiz.name,
            "seed": self.variant.seed,
            "score": float(self.score),
            "of": total,
            "answers": rows,
        }
