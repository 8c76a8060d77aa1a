"""Claims of a complexity, `O(n² d)` or `quadratic in n`: read into a class, and held against the one that the steps have."""

from __future__ import annotations

import re

from glassformer.answers.asked import Answer
from glassformer.answers.asked.growth import Growth, Monomial, monomial
from glassformer.answers.claimed import Class
from glassformer.answers.judging.meanings import cleaned
from glassformer.answers.judging.verdict import Diagnosis, Finding
from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.spec import GlassformerError, shown

MOST_CHARACTERS = 120
# What people write for the length, the widths and sizes that are constants here; an L that is squared is a length.
LETTERS = {
    **dict.fromkeys("n t s seq length seqlen seq_len sequence_length tokens".split(), "n"),
    **dict.fromkeys("d d_model dmodel d_k dk d_v d_ff dff f hidden d_h dim d_head".split(), "d"),
    **dict.fromkeys("h b heads batch n_heads".split(), ""),
    **dict.fromkeys("w window window_size".split(), "w"),
    "v": "V",
    "logn": "log n",
}
LOST = {
    "linear_instead_of_quadratic": "the length taken once, not squared",
    "no_quadratic_term": "projections and feed-forward alone",
}
WORDS = {"constant": 0, "linear": 1, "quadratic": 2, "cubic": 3}
_CLASS = re.compile(r"\s*(?:it is |that is )?\\?(?:mathcal|mathrm)?\s*\{?\s*[OoΘθ]\s*\}?\s*\((.*)\)\s*", flags=re.S)


def class_claimed(text: str) -> Class | None:
    """The class that a claim names; None where it names none and may be a number."""
    said = cleaned(text)
    if len(said) > MOST_CHARACTERS:
        raise GlassformerError(f"'{shown(text)}' is too long for a complexity: write O(n^2 d).")
    words = re.fullmatch(
        r"(?:it is |it grows )?(constant|linear|quadratic|cubic)(?:ly)?"
        r"(?: (?:in|with) (?:the )?(?:sequence |input )?(?:n|length))?",
        said.lower(),
    )
    if words:
        return Class(Growth.of([monomial([("n", WORDS[words[1]])])]), text)
    inside = _CLASS.fullmatch(said)
    if inside is None:
        return None
    terms = [_term(term) for term in inside[1].split("+")]
    if any(term is None for term in terms):
        raise GlassformerError(f"'{shown(text)}' is not a complexity that can be judged: write O(n^2 d) or O(n^2 d + n d^2).")
    return Class(Growth.of(term for term in terms if term is not None), text)


def _term(text: str) -> Monomial | None:
    """`n^2 · d`, `2n²d`, `h n^2 d_k`: letters and their powers, factors that are constants left out."""
    plain = re.sub(r"\\cdot|\\times|[·*×]", " ", text.lower()).replace("\\", "")
    plain = re.sub(r"_\{?(\w+)\}?", r"_\1", plain)
    plain = re.sub(r"log(?:_2)?\s*\(?\s*(?:n|t|l)\b\s*\)?", " logn ", plain)
    powers: list[tuple[str, int]] = []
    found = re.findall(r"([a-z]+(?:_[a-z]+)*|\d+|\S)\s*(?:\^\s*\{?\s*(\d)\s*\}?)?", plain)
    for word, power in found:
        letters = _letters(word)
        if letters is None:
            return None
        last = int(power or 1)
        powers += [(letter, 1) for letter in letters[:-1]] + [(letters[-1], last)] if letters else []
    return monomial(powers) if found else None


def _letters(word: str) -> list[str] | None:
    """What a word stands for: one size, or several written without a sign between them."""
    if word.isdigit():
        return []
    if word in LETTERS:
        return [LETTERS[word]]
    several = [LETTERS.get(letter) for letter in re.sub(r"d_(?:k|v|model|ff)", "d", word)]
    return None if None in several else [letter for letter in several if letter is not None]


def judge_class(answer: Answer, claim: Class) -> Diagnosis:
    """Right, right as others write it, or wrong: and whether the square of the length was lost."""
    truth, said = answer.growth, claim.growth
    assert truth is not None
    if said == truth:
        return Diagnosis(answer, claim, "right", answer.convention)
    for convention, growth in answer.other_growths:
        if said == growth:
            return Diagnosis(answer, claim, "convention", f"{convention}: {growth.text}")
    lost = {"linear_instead_of_quadratic": truth.capped("n", 1)}
    if len(truth.terms) > 1:
        lost = {"no_quadratic_term": truth.leading("d"), **lost}
    elif wider := [growth for _, growth in answer.other_growths if len(growth.terms) > 1]:
        lost["no_quadratic_term"] = wider[0].leading("d")
    quadratic = any(dict(term).get("n", 0) > 1 for term in truth.terms)
    for code, growth in lost.items():
        if quadratic and said in (growth, growth.without("d")):
            return Diagnosis(answer, claim, "wrong", findings=(Finding((CATALOGUE[code],), (LOST[code],), (), said.text),))
    return Diagnosis(answer, claim, "wrong", notes=("no known mistake gives this class",))
