"""Checking a claim: right, right under a convention, or the mistakes that give exactly the number claimed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from glassformer.answers.asked import Answer, Numbers, Other, Value, ask
from glassformer.answers.asked.any_size import ANY_WIDTH, IN_SYMBOLS
from glassformer.answers.claimed import Number, Shape
from glassformer.answers.judging.bounds import judge_bound
from glassformer.answers.judging.causes import count_findings
from glassformer.answers.judging.equal_sides import broken_link
from glassformer.answers.judging.growth_claims import class_claimed, judge_class
from glassformer.answers.judging.meanings import numbers_meant, shape_meant
from glassformer.answers.judging.number_claims import judge_numbers, of_each, worked_findings
from glassformer.answers.judging.options import chosen, options_in, stem
from glassformer.answers.judging.padding_claims import padding_claims
from glassformer.answers.judging.said_counted import forgotten
from glassformer.answers.judging.sentences import claims_in
from glassformer.answers.judging.stated_numbers import stated_numbers
from glassformer.answers.judging.student_answers import answers_in
from glassformer.answers.judging.tabled_claims import lined_up
from glassformer.answers.judging.verdict import VERDICTS, Diagnosis, Finding
from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.mistakes.pieces import Setting
from glassformer.answers.mistakes.sizes import operation_mistakes, shape_mistakes
from glassformer.answers.questions import Question
from glassformer.program import build
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request, request_from_words

WHOLE_STORES = (None, "model", "training")
NO_ENCODER = ("worked", "reckoned")  # kinds of questions that bring their own numbers
OF_EACH_HEAD = ("W_Q", "W_K", "W_V")
ALL_HEADS = re.compile(r"\b(?:all|every|across|over|together)\b(?: of| the| \d+| attention)* heads?\b|\bheads together\b", re.I)
IN_EVERY_LAYER = ("attention", "qkv", "output", "ffn", "norms")
LETTERS = re.compile(r"(?<![a-z])(?:\d+\s*)?[·*×]?\s*(?:d|n|h|L|V|T)(?:_\{?(?:model|ff|k|v)\}?)?\s*(?:\^|²|\*\*|[·*×(]|$|\s*\+)")
ROUGHLY = re.compile(r"[~≈]|\b(?:about|approximately|approx|roughly|around|circa|nearly|almost)\b", re.I)
LOOSE_RATIO = 16  # a whole number of times may come of two rounded sizes: 18 where 18.95 is due
LOOSE = 3  # in what a claim's rounding allows: a number that near may be the right one, badly rounded, and has no other cause


def check(question: str | Question, asked: Request | None, claim: str) -> Diagnosis:
    """Judge a claim about an encoder: `check("params", request("layer", d_model=64, heads=4), "27648")`."""
    options = options_in(question) if isinstance(question, str) else {}
    if (letter := chosen(claim)) in options:
        return _check_option(str(question), asked, options, letter)
    if letter and (options or letter == claim.strip()):
        raise GlassformerError(
            f"'{shown(claim)}' is the letter of an option, and the question has none of that name: write the answer itself."
        )
    try:
        answer = ask(question, asked)
        found = _check(answer, claim)
        _may_accuse(answer, claim, found)
        if asked is None:
            _says_its_length(found)
    except GlassformerError:
        if asked is None and (lettered := _in_letters(question, claim)) is not None:
            return lettered
        raise
    return found if answer.also is None else _told_by_both(found, _check(ask(answer.question, answer.also), claim))


def _check_option(question: str, asked: Request | None, options: dict[str, str], letter: str) -> Diagnosis:
    """Judge the option that was chosen; it is called wrong only where exactly one of the others is right."""
    found: dict[str, Diagnosis] = {}
    for asking in filter(None, (question, stem(question))):  # numbers in the options are none that the question gives
        for name, text in options.items():
            with suppress(GlassformerError):
                found[name] = check(asking, asked, text)
        if found:
            break
    right = [name for name, diagnosis in found.items() if diagnosis.right]
    exact = [name for name in right if found[name].verdict == "right"]
    told = exact or right
    if letter not in found or len(told) != 1 or (found[letter].right and told != [letter]):
        raise GlassformerError(f"'{shown(question)}': which of the options is right cannot be told from them.")
    return found[letter]


def _may_accuse(answer: Answer, claim: str, found: Diagnosis) -> None:
    """Refuse a claim that is right only of something else than what was answered: another encoder, another of two questions."""
    text = shown(answer.question.text)
    if answer.reading == "partial" and not found.right:
        raise GlassformerError(f"'{text}' asks several things at once, or leaves something open: ask for one thing by itself.")
    formula_due = IN_SYMBOLS.search(answer.question.text) is not None and not LETTERS.search(claim)
    if answer.family and (formula_due or not found.right):
        raise GlassformerError(
            f"'{text}' leaves open which encoder: none of {', '.join(answer.family)} has {shown(claim)}. Say which one is meant."
        )


def _of_any_length(answer: Answer) -> bool:
    """Whether the length is one that nobody stated: a question with matrices of its own has none."""
    return answer.asked.t is None and not answer.asked.spec.one_length and answer.question.kind != "worked"


def _says_its_length(found: Diagnosis) -> None:
    """Refuse to call a number wrong that hangs on a length which nobody stated, and which no mistake explains."""
    answer = found.answer
    if found.right or found.findings or isinstance(answer.value, tuple):
        return
    if not _of_any_length(answer):
        return
    usual = build(answer.asked.spec, batch=answer.asked.batch, t=None).sizes.t
    other = _value_at(answer, usual // 2)
    if other is not None and not isinstance(other, tuple) and other != answer.value:
        raise GlassformerError(f"'{shown(answer.question.text)}' leaves open the length: say 'for 512 tokens'.")


def _value_at(answer: Answer, length: int) -> Value | None:
    """The answer to the same question at another length; none where it has none."""
    try:
        return ask(answer.question, answer.asked._replace(t=length)).value
    except GlassformerError:
        return None


def _in_letters(question: str | Question, claim: str) -> Diagnosis | None:
    """A formula for an encoder of no size, `12 d²`: judged on two of them, and right where it is right for both."""
    claim = re.sub(r"^\s*(?:≈|~|about|approximately|approx\.?|roughly|around)\s*", "", claim)
    if not LETTERS.search(claim):
        return None
    found = []
    for width, heads, layers in ((96, 4, 3), (160, 5, 4)):
        sizes = {"layers": layers if re.search(r"\bL\b|layers", claim) else 1}
        sizes |= {"vocab": 100 * layers} if re.search(r"\bV\b|vocab", claim) else {}
        asked = request_from_words(
            ["encoder", f"d_model={width}", f"heads={heads}", *(f"{name}={size}" for name, size in sizes.items())]
        )
        try:
            found.append(check(question, asked._replace(t=40 + layers), claim))
        except GlassformerError:
            return None
    one, other = found
    if one.verdict != other.verdict:
        return None
    answer = replace(
        one.answer, asked=one.answer.asked._replace(label="any encoder with d_ff = 4 · d_model, shown for d_model=96")
    )
    return replace(_told_by_both(one, other), answer=answer)


def _told_by_both(found: Diagnosis, other: Diagnosis) -> Diagnosis:
    """A question that says few sizes is asked of two encoders that have them: a cause that only one of them gives is made up."""
    if other.verdict == "convention" and not found.right:
        return replace(found, verdict="convention", convention=other.convention, findings=(), notes=())
    codes = {finding.codes for finding in other.findings}
    kept = tuple(finding for finding in found.findings if finding.codes in codes)
    notes = found.notes if len(kept) == len(found.findings) else () if kept else ("no known mistake gives this number",)
    return replace(found, findings=kept, notes=notes)


def _check(answer: Answer, claim: str) -> Diagnosis:
    answer = of_each(answer, claim)
    question, asked = answer.question, answer.asked  # with the length and the batch that the question states
    program = build(asked.spec, batch=asked.batch, t=asked.t)
    if isinstance(answer.value, Numbers):
        return judge_numbers(answer, claim)
    if isinstance(answer.value, tuple):
        said = shape_meant(claim, program)
        if question.kind == "worked" and len(said.sizes) != len(answer.value):
            raise GlassformerError(f"'{shown(question.text)}' asks for a shape: write it as 64 x 32.")
        if len(said.sizes) == 1 and len(answer.value) > 1 and not any(len(s) == 1 for s in _written(answer)):
            return _check_one_number(answer, said, claim)
        return _at_some_length(_check_shape(answer, said))
    if answer.growth is not None and (named := class_claimed(claim)) is not None:
        return judge_class(answer, named)
    if (bounded := judge_bound(answer, claim, program)) is not None:
        return bounded
    found = [_check_number(answer, number) for number in numbers_meant(claim, program, question.unit)]
    best = min(found, key=lambda diagnosis: (VERDICTS.index(diagnosis.verdict), not diagnosis.findings))
    broken = broken_link(claim, program, question.unit)
    if not broken:
        return best
    if best.right:
        return replace(best, verdict="wrong", convention="", findings=(), notes=(f"the last side may stand, but {broken}",))
    return replace(best, notes=(*best.notes, broken))


def check_sentence(sentence: str) -> tuple[Diagnosis, ...]:
    """Judge every claim that brings its question: `check_sentence("BERT-base has 12 layers and 110 million parameters.")`."""
    found = (
        padding_claims(sentence) or stated_numbers(sentence) or answers_in(sentence) or lined_up(sentence) or claims_in(sentence)
    )
    if not found:
        raise GlassformerError(
            f"'{shown(sentence)}' is no claim that can be read. Write it as 'BERT-base has 110 million parameters', or put the "
            "question and its --claim apart."
        )
    return tuple(_to_the_last_digit(check_alone(question, claim), sentence) for question, claim in found)


def _to_the_last_digit(found: Diagnosis, sentence: str) -> Diagnosis:
    """`exactly 110 million` has no room for rounding."""
    claim, due = found.claim, found.answer.value
    rounded = found.verdict == "right" or found.convention.startswith("rounded")
    if not isinstance(claim, Number) or isinstance(due, tuple) or not rounded or claim.value == Fraction(due):
        return found
    if not re.search(rf"\bexactly (?:{re.escape(claim.text.strip())}|[a-z]+ times\b)", " ".join(sentence.split()), flags=re.I):
        return found
    return replace(found, verdict="wrong", convention="", notes=("near the right value, and not exactly it",))


def check_alone(question: str, claim: str) -> Diagnosis:
    """Judge a claim whose question stands alone; `the FFN of BERT-base` may be that of one layer."""
    found = check(question, None, claim)
    if found.answer.reading == "partial":  # a claim about two is not judged by the first of them
        raise GlassformerError(f"'{shown(question)}' claims several things at once: say each by itself.")
    asked = found.answer.question
    if asked.kind == "bytes" and asked.target in WHOLE_STORES and not found.right and not found.findings and _above(found):
        raise GlassformerError(f"'{shown(question)}': {shown(claim)} may count what is not counted here, such as activations.")
    if found.right or asked.one_head or asked.every_layer or asked.kind in NO_ENCODER:
        return found
    narrower = {
        "in one layer": replace(asked, one_layer=True) if asked.target in IN_EVERY_LAYER and not asked.one_layer else None,
        "of one head": replace(asked, one_head=True) if asked.target in OF_EACH_HEAD and not ALL_HEADS.search(question) else None,
    }
    for convention, narrow in narrower.items():
        if narrow is not None and check(narrow, found.answer.asked, claim).right:
            return replace(found, verdict="convention", convention=convention, findings=(), notes=())
    return found


def _above(found: Diagnosis) -> bool:
    value = found.answer.value
    return isinstance(found.claim, Number) and not isinstance(value, tuple) and found.claim.value > value


def _check_one_number(answer: Answer, said: Shape, claim: str) -> Diagnosis:
    """One number for a shape: its features, where a dimension was asked for, or else its elements."""
    featured = re.search(r"\bdim|\bwidth|\b(?:hidden|intermediate|inner|embedding) size", answer.question.text, flags=re.I)
    if featured and any(shape[-1] == said.sizes[0] for shape in _written(answer)):
        return Diagnosis(answer, said, "convention", "the features alone")
    return check(replace(answer.question, kind="elements"), answer.asked, claim)


def _written(answer: Answer) -> list[tuple[int, ...]]:
    return [value for value in (answer.value, *(other.value for other in answer.others)) if isinstance(value, tuple)]


def _check_number(answer: Answer, number: Number) -> Diagnosis:
    question, asked = answer.question, answer.asked
    assert not isinstance(answer.value, tuple)
    if number.allows(answer.value):
        return Diagnosis(answer, number, "right", answer.convention)
    if rounded := _rounded_by_habit(answer, number):
        return Diagnosis(answer, number, "convention", rounded)
    usual = [other for other in answer.others if other.excuses and _fits(number, other.value) and _tells(number, other)]
    excused = [other for other in usual if question.kind != "params" or not forgotten(question.text, other.convention)]
    if excused:
        # The fewest words; and who rounds has rather left out the head than every bias.
        nearest = min(excused, key=lambda other: (other.convention.count(","), other.convention != "without head"))
        return Diagnosis(answer, number, "convention", nearest.convention, _named(nearest))
    right = Fraction(answer.value)
    gap = abs(number.value - right)
    if not number.exact and gap < min(LOOSE * number.room, abs(right)):  # 1e30 has room for every number
        near = gap <= abs(right) / 10  # `30 million` may be said of 23.8, and is no rounding of it
        told = "near the right value, but not what it rounds to" if near else "no known mistake gives this number"
        return Diagnosis(answer, number, "wrong", notes=(told,))
    mistaken = [_finding(wrong) for wrong in answer.wrongs if _fits(number, wrong.value)]
    if question.kind == "worked":
        return _diagnosed(answer, number, [*mistaken, *worked_findings(answer, number.text)])
    if question.kind == "params":
        found = mistaken or [*_left_out_though_counted(usual), *count_findings(question, asked, number)]
        if usual and all(finding.left_out for finding in found):
            return Diagnosis(answer, number, "wrong", notes=(f"the question counts what this leaves out: {usual[0].convention}",))
        return _diagnosed(answer, number, found)
    setting = Setting(asked.spec, asked.batch, asked.t)
    made = [
        Finding((CATALOGUE[code],), (what,), (), value) for code, what, value in operation_mistakes(question, answer, setting)
    ]
    return _diagnosed(answer, number, [*mistaken, *(finding for finding in made if number.allows(finding.value))])


def _left_out_though_counted(usual: list[Other]) -> list[Finding]:
    """The mistake that a convention is, where the question says that what it leaves out is counted."""
    codes = {"norms": "no_layernorm", "pooler": "pooler_in_or_out"}
    parts = ((re.match(r"without (\w+)(?:, one layer|, all .*)?$", other.convention), other.value) for other in usual)
    return [
        Finding((CATALOGUE[codes[part[1]]],), (f"{part[1]} left out, which the question counts",), (), value)
        for part, value in parts
        if part and part[1] in codes
    ]


def _rounded_by_habit(answer: Answer, number: Number) -> str:
    """How people round that is more than their last digit allows: to tens of percent, to thousands of a vocabulary, `about`."""
    assert not isinstance(answer.value, tuple)
    question, value = answer.question, Fraction(answer.value)
    gap = abs(number.value - value)
    whole = question.kind in ("ratio", "versus") and number.value.denominator == 1 and number.value > 1  # `the same` is no 1.14
    percent = question.kind == "versus" and "percent" in question.compared and not number.value * 10 % 1
    vocabulary = question.kind == "width" and question.target == "vocab" and number.exact and not number.value % 1000
    binary = question.kind != "bytes" and number.value % 1000 == 0
    habits = {
        "rounded to a whole number": whole and gap <= max(Fraction(1, 2), value / LOOSE_RATIO),
        "rounded to tens of percent": percent and gap <= Fraction(1, 20),
        "rounded": vocabulary and gap <= value / 20,
        "counted in powers of 1024": binary and any(number.value * Fraction(1024, 1000) ** n == value for n in (1, 2, 3)),
        # how much biases and norms weigh hangs on the width
        "biases and norms counted, at some width": answer.convention.startswith(ANY_WIDTH) and gap <= Fraction(1, 200),
        "roughly, as it says": bool(ROUGHLY.search(number.text)) and gap < LOOSE * number.room and gap <= abs(value) / 20,
    }
    return next((habit for habit, fits in habits.items() if fits), "")


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


def _at_some_length(found: Diagnosis) -> Diagnosis:
    """A length that nobody stated is taken from the claim, where that makes it right and no mistake explains it."""
    answer, claim = found.answer, found.claim
    if found.right or found.findings or not isinstance(claim, Shape) or not _of_any_length(answer):
        return found
    for length in dict.fromkeys(claim.sizes):
        with suppress(GlassformerError):
            other = _check_shape(ask(answer.question, answer.asked._replace(t=length)), claim)
            if other.right:
                return replace(
                    other, verdict="convention", convention=f"for {length} tokens, as it says no length; {other.convention}"
                )
    return found


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
