"""Any derivation with one line or one size changed is explained by that change; other numbers are not explained."""

import random
from fractions import Fraction

import pytest

from glassformer.answers.mistakes.counted import CountClaim
from glassformer.answers.mistakes.derivations import _changes, derivation_findings, sizes_of, terms_of
from glassformer.answers.quantities import Answer, ask
from glassformer.answers.verdicts import check
from glassformer.configs.reading import request

ASKED = (
    ("params(embeddings)", "bert-base"), ("params(layers)", "bert-tiny"), ("flops(attention, layer=0)", "bert-base t=384"),
    ("elements(scores, layer=0)", "bert-large t=200"), ("bytes(kv_cache, dtype=fp16)", "gpt2 t=1000"), ("params", "vit-s16"),
)  # fmt: skip


def answered(expression: str, spec: str) -> Answer:
    found = ask(expression, request(spec, decoders=True))
    assert isinstance(found, Answer)
    return found


@pytest.mark.parametrize(("expression", "spec"), ASKED)
def test_a_change_of_the_derivation_is_found_again_from_its_number(expression: str, spec: str) -> None:
    answer, asked = answered(expression, spec), request(spec, decoders=True)
    assert isinstance(answer.value, int)
    terms = terms_of(answer.found.lines, answer.value)
    changes = {sum(term.size for term in changed) for _, _, changed in _changes(terms, sizes_of(asked.spec, asked.t))}
    plain = sorted(changes - {answer.value, 0})
    named = 0
    for number in random.Random(5).sample(plain, min(12, len(plain))):
        claim = CountClaim(Fraction(number), Fraction(0), answer.value)
        for finding in derivation_findings(answer.found.lines, answer.value, claim, asked.spec, asked.t):
            assert finding.value == number
            named += 1
    assert named >= min(12, len(plain)) // 3  # small numbers and simple ratios have too many explanations


@pytest.mark.parametrize(("expression", "spec"), ASKED)
def test_random_numbers_are_not_explained(expression: str, spec: str) -> None:
    answer, asked, chance = answered(expression, spec), request(spec, decoders=True), random.Random(3)
    assert isinstance(answer.value, int)
    for _ in range(20):
        number = chance.randrange(answer.value // 3, 3 * answer.value)
        claim = CountClaim(Fraction(number), Fraction(0), answer.value)
        assert derivation_findings(answer.found.lines, answer.value, claim, asked.spec, asked.t) == []


@pytest.mark.parametrize(
    ("relation", "spec", "what"),
    [
        ("params = 66,955,008", "bert-base", "layers = 6 instead of 12"),
        ("params(head) = 16,797,267", "vit-b16", "classes = 21,843 instead of 1,000"),
        ("bytes(kv_cache, dtype=fp16) = 589,824", "gpt2 t=1024", "d_k left out"),
        ("params(patches) = 150,528", "vit-b16", "patches (196) taken for pixel or d_model, biases left out"),
        ("flops(scores, layer=0) = 2*t^2", "bert-base t=512", "head and d_k left out"),
    ],
)
def test_the_change_is_described(relation: str, spec: str, what: str) -> None:
    (finding,) = check(relation, request(spec, decoders=True)).findings
    assert finding.what == (what,)


def test_a_number_with_many_explanations_has_none() -> None:
    assert check("flops(ffn, layer=0) = 301,989,888", request("bert-base")).findings == ()
