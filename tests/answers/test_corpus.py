"""Every expression of the corpus has its recorded value, and nearly every claim its recorded verdict."""

from collections import Counter

import corpus
import pytest
from corpus import rows, same

from glassformer.answers.quantities import ask
from glassformer.answers.quantities.answer import plain_value
from glassformer.answers.verdicts import check
from glassformer.errors import GlassformerError
from glassformer.expressions.language import read, write

QUESTIONS = [row for row in rows("ask") if row.expression and not row.refused]
CLAIMS = [row for row in rows("check") if row.relation]
# Stored tables that are not trained: the recorded answer is zero; now it is an error.
NO_VALUE = {"trainable parameters of positions"}


def test_the_corpus_has_every_kind_of_quantity():
    assert {row.kind for row in QUESTIONS} >= {
        "params", "shape", "elements", "flops", "macs", "bytes", "complexity", "space", "width", "tokens", "patches", "scale",
        "share", "ratio", "difference", "versus", "change", "crossing", "tying", "entry", "updates", "masking",
        "reckoned", "worked",
    }  # fmt: skip


def test_written_expressions_are_read_back():
    for text in [row.expression for row in QUESTIONS] + [row.relation for row in CLAIMS]:
        assert write(read(text)) == text


def test_every_expression_has_its_recorded_value_or_names_the_convention_that_gives_it():
    found = Counter()
    for row in QUESTIONS:
        if row.words in NO_VALUE:
            continue
        answer = ask(row.expression, row.asked)
        others = [plain_value(other.value) for other in answer.others]
        found[same(plain_value(answer.value), row.value)] += 1
        assert same(plain_value(answer.value), row.value) or any(same(other, row.value) for other in others), row
    assert found[False] <= 0.02 * found[True]


def test_nearly_every_claim_has_its_recorded_verdict():
    found = Counter()
    for row in CLAIMS:
        try:
            right = check(row.relation, row.asked).right
        except GlassformerError:
            found["unread"] += 1
            continue
        found[right == (row.verdict in ("right", "convention")) or ("accused" if not right else "missed")] += 1
    assert found[True] >= 0.94 * len(CLAIMS), found
    assert found["missed"] <= 6, found


def test_a_value_that_differs_is_noticed():
    assert not same(1, 2)
    assert not same([1, 2], [1, 2, 3])
    assert not same("O(n²)", "O(n² · d)")
    with pytest.raises(GlassformerError):
        ask("params(bananas)", corpus.request_from_words(["bert-base"]))
