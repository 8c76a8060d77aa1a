"""A cause that gives exactly the claimed value does so when it is carried out word for word, wherever it says."""

import math
import random
import re
from fractions import Fraction

import pytest

from glassformer.answers.mistakes.derivations import _changes, terms_of
from glassformer.answers.mistakes.finding import Finding
from glassformer.answers.mistakes.other_sizes import sizes_of
from glassformer.answers.quantities import Answer, ask
from glassformer.answers.verdicts import check
from glassformer.configs.reading import Request, request
from glassformer.errors import GlassformerError

ASKED = (
    ("params(embeddings)", "gpt2", {}), ("params(layer=0)", "bert-base", {}), ("params(ffn, layer=0)", "llama-3-8b", {}),
    ("flops(attention, layer=0)", "bert-base", {"t": 384}), ("elements(scores, layer=all)", "gpt2", {"t": 100, "batch": 8}),
    ("elements(q, layer=0)", "bert-base", {"t": 100, "batch": 8}), ("bytes(kv_cache, dtype=fp16)", "gpt2", {"t": 1000}),
    ("params(head)", "vit-b16", {}), ("macs(qkv, layer=0)", "bert-base", {"t": 100}),
    ("elements(weights, layer=0)", "bert-base", {"t": 512}),
)  # fmt: skip
UNTRUE_ONCE = (
    ("elements(scores) = 6,144", "bert-base", {"t": 512}),
    ("elements(weights, layer=all) = 1,440,000", "gpt2", {"t": 100, "batch": 8}),
    ("elements(q) = 76,800", "bert-base", {"t": 100, "batch": 8}), ("elements(weights, layer=0) = n^2*d", "bert-base", {}),
    ("params(ffn) = 28,334,592", "bert-base", {}), ("params(ffn, layer=0) = 4,724,736", "bert-base", {}),
    ("params = 63,084,544", "transformer", {}), ("params(layer=0) = 8*d^2", "bert-base", {}),
)  # fmt: skip
NUMBER = r"([\d,]+)"
LEFT_OUT = {"biases": ("b_",), "biases and norms": ("b_", "gamma", "beta")}


def number(text: str) -> int:
    return int(text.replace(",", ""))


def answered(expression: str, asked: Request) -> Answer:
    found = ask(expression, asked)
    assert isinstance(found, Answer)
    return found


def with_field(expression: str, asked: Request, field: str, value: str) -> object:
    words = asked._asdict() | {field: value} if field in ("t", "batch") else asked._asdict()
    sizes = {name: words[name] for name in ("t", "batch") if words[name]}
    fields = {} if field in sizes else {field: value}
    return answered(expression, request(asked.spec, decoders=True, **sizes, **fields)).value


def by_lines(what: str, answer: Answer, asked: Request) -> object:
    """Carry out a change of the lines of a derivation; None if the words are of another form."""
    kept = re.fullmatch(r"(.*), (biases|biases and norms) left out", what)
    words = kept[1] if kept else what
    terms = [(term.name, list(term.factors)) for term in terms_of(answer.lines, answer.value)]
    if kept:
        terms = [term for term in terms if not term[0].rpartition(".")[2].startswith(LEFT_OUT[kept[2]])]
    names = {name for name, _ in terms}
    *_, place = re.search(r"(?: in (\S+))?$", words).groups()
    place = place if place in names else None
    words = words.removesuffix(f" in {place}") if place else words
    if taken := re.fullmatch(rf"(.+) \({NUMBER}\) taken for (.+)", words):
        assert sizes_of(asked.spec, asked.t)[taken[1]] == number(taken[2])
        return changed(terms, place, lambda label, size: number(taken[2]) if label in taken[3].split(" or ")[:1] else size)
    if left := re.fullmatch(r"(.+) left out", words):
        dropped = [words.split(" or ")[0] for words in left[1].split(" and ")]
        if {*dropped} <= names:
            return sum(math.prod(size for _, size in factors) for name, factors in terms if name not in dropped)
        if all(any(label in dict(factors) for _, factors in terms) for label in dropped):
            return changed(terms, place, lambda label, size: 1 if label in dropped else size)
    if (twice := re.fullmatch(r"(\S+) counted twice", words)) and twice[1] in names:
        return answer.value + sum(math.prod(size for _, size in factors) for name, factors in terms if name == twice[1])
    if (only := re.fullmatch(r"only (\S+)(?: or .*)? counted", words)) and only[1] in names:
        return sum(math.prod(size for _, size in factors) for name, factors in terms if name == only[1])
    return None


def changed(terms, place, size_of) -> int:
    return sum(
        math.prod(size_of(label, size) if place in (None, name) else size for label, size in factors) for name, factors in terms
    )


def carried_out(expression: str, asked: Request, finding: Finding) -> object:
    """Return what the words of a finding give; None if they are not of a form that can be carried out here."""
    (what,) = finding.what if len(finding.what) == 1 else ("",)
    first = what.split(" or ")[0]
    if field := re.fullmatch(rf"(\w+) = {NUMBER}(?: instead of {NUMBER})?", what):
        return with_field(expression, asked, field[1], str(number(field[2])))
    if choice := re.fullmatch(r"(\w+)=(\S+) instead of (\w+)=(\S+)", first):
        return with_field(expression, asked, choice[1], choice[2])
    if finding.codes == ("another_part",) and first.endswith(")"):
        without = f", without={'+'.join(finding.left_out)})" if finding.left_out else ")"
        return answered(first.removesuffix(")") + without, asked).value
    answer = answered(expression, asked)
    return by_lines(what, answer, asked) if isinstance(answer.value, int) else None


def exact_findings(relation: str, asked: Request) -> list[Finding]:
    return [one for one in check(relation, asked).findings if not one.near and not one.rounded]


@pytest.mark.parametrize(("expression", "spec", "sizes"), ASKED)
def test_a_cause_called_exact_gives_the_claim_when_it_is_carried_out(expression: str, spec: str, sizes: dict[str, int]) -> None:
    asked = request(spec, decoders=True, **sizes)
    answer = answered(expression, asked)
    terms = terms_of(answer.lines, answer.value)
    numbers = {sum(term.size for term in made) for _, _, made in _changes(terms, sizes_of(asked.spec, asked.t))}
    numbers |= {wrong.value for wrong in answer.found.mistakes() if isinstance(wrong.value, int)}
    numbers = sorted(one for one in numbers if one != answer.value and one >= 1000)
    carried = 0
    for claim in random.Random(11).sample(numbers, min(10, len(numbers))):
        for finding in exact_findings(f"{expression} = {claim}", asked):
            assert finding.value == claim, finding
            result = carried_out(expression, asked, finding)
            assert result in (None, claim), (finding, result)
            carried += result is not None
    assert carried or not terms


@pytest.mark.parametrize(("relation", "spec", "sizes"), UNTRUE_ONCE)
def test_causes_that_were_once_untrue_are_true_or_gone(relation: str, spec: str, sizes: dict[str, int]) -> None:
    asked = request(spec, decoders=True, **sizes)
    found = check(relation, asked)
    claimed = found.claim.replace(",", "")
    value = int(claimed) if claimed.isdecimal() else Fraction(answered(found.claim, asked).value)
    for finding in found.findings:
        assert not finding.near
        assert finding.value == value
        assert carried_out(found.answer.text, asked, finding) in (None, value)


def test_words_that_are_untrue_are_noticed() -> None:
    asked = request("bert-base", t=512)
    untrue = Finding((), ("heads (12) taken for t",), 6144)
    assert carried_out("elements(scores)", asked, untrue) == 12 * 12 * 512 != untrue.value
    with pytest.raises(GlassformerError):
        carried_out("params", asked, Finding((), ("heads = 7 instead of 12",), 1))
