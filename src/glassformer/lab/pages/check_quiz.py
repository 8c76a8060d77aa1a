"""A sitting of a quiz without memory: the address holds the answers, and each is judged again from set and seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from glassformer.answers.quiz import Item, Variant, load_set, shipped, variant
from glassformer.answers.quiz.marking import Marked
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.lab.documents import check as documents
from glassformer.lab.documents import picked
from glassformer.show.quiz.page import Choices, Given, Text, marks_text, question_blocks
from glassformer.show.quiz.report import points

LARGEST_SEED = 10**12
LONGEST_ANSWER = 2_000


def sets() -> list[documents.QuizSet]:
    """The sets that ship, with what they are about."""
    return [
        picked(documents.QuizSet, found, name=name, questions=len(found.questions))
        for name in shipped()
        for found in [load_set(name)]
    ]


@lru_cache(maxsize=32)
def drawn(name: str, seed: int, most: int | None) -> Variant:
    """The set for this seed, or some of its questions: those that speak of the same numbers stay together."""
    if name not in shipped():  # a page names no files
        raise GlassformerError(f"there is no set '{shown(name)}'.{nearest(name, shipped())} {', '.join(shipped())}.")
    if not 0 <= seed <= LARGEST_SEED:
        raise GlassformerError(f"seed={seed} is not allowed: from 0 to {LARGEST_SEED:,}.")
    whole = variant(load_set(name), seed)
    if most is None or most >= len(whole.items):
        return whole
    if most < 1:
        raise GlassformerError(f"n={most} is not allowed: from 1 to {len(whole.items)} questions.")
    groups: dict[str, list[Item]] = {}
    for item in whole.items:
        groups.setdefault(item.template.same_as or item.id, []).append(item)
    order = random.Random(seed).sample(sorted(groups), len(groups))
    chosen = {item.id for item in [item for group in order for item in groups[group]][:most]}
    items = [item for item in whole.items if item.id in chosen]
    quiz = replace(whole.quiz, questions=tuple(item.template for item in items))
    return replace(whole, quiz=quiz, items=tuple(replace(item, number=place) for place, item in enumerate(items, start=1)))


def paper(own: Variant) -> documents.Paper:
    """Every question as it is asked; no key."""
    return {
        "set": own.quiz.name,
        "title": own.quiz.title,
        "seed": own.seed,
        "headline": f"{own.quiz.title}: {len(own.items)} questions, {marks_text(own.quiz.marks)}.",
        "questions": [
            picked(
                documents.Question,
                item,
                marks=marks_text(item.marks),
                blocks=[_block(block) for block in question_blocks(item, heading=False, blank=False)],
                wanted=item.key.wanted,
                hints=len(item.hints),
            )
            for item in own.items
        ],
    }


def _block(block: object) -> documents.Block:
    if isinstance(block, Given):
        return {
            "name": block.name,
            "rows": block.grid.rows,
            "row_names": block.grid.row_names,
            "columns": block.grid.column_names,
        }
    if isinstance(block, Choices):
        return {"options": [picked(documents.Option, option) for option in block.options]}
    assert isinstance(block, Text)
    return {"text": block.text}


def hint(own: Variant, name: str, used: int) -> documents.Hint:
    """The next hint, in the command line's words."""
    item = _item(own, name)
    return {
        "hint": f"Hint: {item.hints[used]}" if used < len(item.hints) else "There are no more hints.",
        "left": max(0, len(item.hints) - used - 1),
    }


def judged(own: Variant, answers: Mapping[str, str], name: str, used: int) -> documents.Judged:
    """One answer judged with those before it: right, another try with a hint, or the mistake and the derivation."""
    item = _item(own, name)
    claim = answers.get(name, "")
    found = _judgement(own, answers, item)
    if found.verdict == "unclear":
        return {"verdict": "unclear", "again": True, "says": found.says, "used": used}
    if found.verdict == "wrong" and used < len(item.hints):
        return {"verdict": "wrong", "again": True, "says": f"Not yet. Hint: {item.hints[used]}", "used": used + 1}
    return {"again": False, "used": used, **finished(item, claim, found, used)}


def finished(item: Item, claim: str, found: Marked, used: int) -> documents.Finished:
    """What is said when a question is over."""
    skipped, won = not claim, points(_won(item, claim, found, used))
    return {
        "id": item.id,
        "answer": claim,
        "verdict": "skipped" if skipped else found.verdict,
        "right": found.right and not skipped,
        "says": "No answer." if skipped else f"{found.says[:1].upper()}{found.says[1:]}. +{won}",
        "won": won,
        "of": points(item.marks),
        "mistakes": [] if skipped else [picked(documents.Mistake, one) for one in found.mistakes],
        "answer_is": f"The answer is {item.key.text}",
        "solution": [{"title": title, "lines": list(lines)} for title, lines in item.key.solution()],
        "command": item.command,
    }


def _won(item: Item, claim: str, found: Marked, used: int) -> Fraction:
    """The marks of an answer: each hint has cost its share."""
    tries = len(item.hints) + 1
    return item.marks * found.credit * Fraction(tries - min(used, len(item.hints)), tries) if claim else Fraction(0)


def review(own: Variant, answers: Mapping[str, str], used: Mapping[str, int]) -> documents.Review:
    """All that was answered so far, judged once more, with the score and the mistakes, as at the end of a sitting."""
    found = [
        (item, answers[item.id], _judgement(own, answers, item), used.get(item.id, 0)) for item in own.items if item.id in answers
    ]
    rows = [finished(*one) for one in found]
    won, of = sum((_won(*one) for one in found), Fraction(0)), sum((item.marks for item, *_ in found), Fraction(0))
    counted = Counter((each["name"], each["code"]) for row in rows for each in row["mistakes"])
    return {
        "rows": rows,
        "score": f"Score: {points(won)} of {points(of)} ({len(rows)} of {len(own.items)} questions)",
        "mistakes": [f"{count} × {known} [{code}]" for (known, code), count in counted.most_common()],
    }


def _judgement(own: Variant, answers: Mapping[str, str], item: Item) -> Marked:
    """The answer judged; where no single mistake gives it, two are searched for."""
    found = own.judge(answers)[item.id]
    return (item.key.searched(answers.get(item.id, "")) or found) if found.unexplained else found


def _item(own: Variant, name: str) -> Item:
    found = next((item for item in own.items if item.id == name), None)
    if found is None:
        raise GlassformerError(f"there is no question '{shown(name)}' here: {', '.join(item.id for item in own.items)}.")
    return found
