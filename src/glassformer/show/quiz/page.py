"""The content of quiz papers and keys, independent of the format: headings, texts, matrices, options, lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from glassformer.answers.quiz.marking import Wrong
from glassformer.answers.quiz.template import Option
from glassformer.answers.quiz.variant import Item, Variant
from glassformer.answers.quiz.worked import Worked
from glassformer.numbers.by_hand.worked import symbol
from glassformer.numbers.explain import number
from glassformer.program import Tensor
from glassformer.program.formatter import TextFormatter
from glassformer.show.matrix import Grid, grids

MOST_TRAPS = 6


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Given:
    """A matrix or vector with its name."""

    name: str
    grid: Grid


@dataclass(frozen=True)
class Choices:
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Blank:
    """Space for an answer, and the expected notation."""

    wanted: str


@dataclass(frozen=True)
class Lines:
    """A small heading with lines below it; with `code`, the lines are commands to type."""

    title: str
    lines: tuple[str, ...]
    code: bool = False


Block: TypeAlias = Heading | Text | Given | Choices | Blank | Lines


@dataclass(frozen=True)
class Page:
    """A paper: its title, its subtitle, and the blocks of each question."""

    title: str
    subtitle: str
    questions: tuple[tuple[Block, ...], ...]


def quiz_page(variant: Variant) -> Page:
    """Return the paper for the student."""
    return Page(variant.quiz.title, _subtitle(variant), tuple(tuple(question_blocks(item)) for item in variant.items))


def key_page(variant: Variant) -> Page:
    """Return the paper with answers, worked solutions, and the mistakes that give the most likely wrong answers."""
    questions = tuple((*question_blocks(item, blank=False), *solution_blocks(item)) for item in variant.items)
    return Page(f"Key: {variant.quiz.title}", _subtitle(variant), questions)


def question_blocks(item: Item, *, heading: bool = True, blank: bool = True) -> Iterator[Block]:
    """Yield the blocks of a question: number and marks, text, given matrices, options, space for the answer."""
    if heading:
        yield Heading(f"{item.number}. {item.id} ({marks_text(item.marks)})")
    for paragraph in item.text.split("\n\n"):
        yield Text(" ".join(paragraph.split()))
    if item.work is not None:
        yield from given(item.work)
    if item.options:
        yield Choices(item.options)
    if blank:
        yield Blank(item.key.wanted)


def solution_blocks(item: Item) -> Iterator[Block]:
    """Yield the answer, its derivation, and the mistakes that give other answers."""
    yield Lines("Answer", (item.key.text,))
    for title, lines in item.key.solution():
        yield Lines(title, lines)
    if not item.options and item.key.wrongs():
        yield Lines("mistakes that give other answers", traps(item))
    if item.command:
        yield Lines("command for the derivation", (item.command,), code=True)


def traps(item: Item) -> tuple[str, ...]:
    """Return the most likely wrong answers with their mistakes, one line per mistake."""
    return tuple(f"{wrong.text}: {wrong.mistake.name} [{wrong.code}]" for wrong in likely(item))


def likely(item: Item, most: int = MOST_TRAPS) -> list[Wrong]:
    """Return the first wrong answer of each mistake; the mistakes that the question names come first."""
    order = {code: place for place, code in enumerate(item.template.codes)}
    first: dict[str, Wrong] = {}
    for wrong in sorted(item.key.wrongs(), key=lambda wrong: order.get(wrong.code, len(order))):
        if wrong.text not in {one.text for one in first.values()}:
            first.setdefault(wrong.code, wrong)
    return list(first.values())[:most]


def given(work: Worked) -> Iterator[Block]:
    """Yield the given matrices that the answer needs; matrices that were given in words stay in words."""
    solution, program = work.solution_, work.solution_.program
    formatter = TextFormatter(solution.problem.convention)
    own: list[Tensor] = [*program.inputs, *(parameter.tensor for parameter in program.parameters)]
    for tensor in own:
        if tensor.name not in solution.needed:
            continue
        name, words = symbol(tensor, formatter), solution.descriptions.get(tensor.name)
        if words is not None:
            yield Text(f"{name}: {words}.")
            continue
        pages = grids(tensor, solution.run.values[tensor.name], _cell, solution.labels, solution.problem.convention)
        yield from (Given(f"{name} ({page.sheet})" if page.sheet else name, page) for page in pages)


def marks_text(marks: Fraction) -> str:
    return f"{_plain(marks)} mark{'' if marks == 1 else 's'}"


def _plain(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def _cell(value: float) -> str:
    return number(float(value), 4).replace("−", "-")


def _subtitle(variant: Variant) -> str:
    who = f"{variant.student[:1].upper()}{variant.student[1:]}, " if variant.student else ""
    return f"{who}{len(variant.items)} questions, {marks_text(variant.quiz.marks)}, seed {variant.seed}"
