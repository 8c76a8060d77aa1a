"""Which number a ledger is about: logits, differences of logits and similarities are the numbers that they claim to be."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers import Rules
from glassformer.numbers.contributions.quantities import Quantity, attributed, similarity
from glassformer.numbers.seeded import seeded_run
from glassformer.spec import EncoderSpec

LABELS = ("ham", "spam", "World News")
SMALL = EncoderSpec(d_model=8, heads=2, d_ff=12, layers=2, vocab=20)
RULES = [Rules(), Rules(norms="opened"), Rules(depth="input", norms="opened", patterns="opened")]


def classified(**fields):
    return seeded_run(SMALL.replace(head="classify", classes=3, **fields), words="time flies like an arrow")


def ledger_of(run, text, rules=None):
    return attributed(run, Quantity.of(text), rules or Rules(), labels=LABELS, token_id={"seven": 7, "nine": 9}.get)


@pytest.mark.parametrize("rules", RULES)
def test_a_class_logit_and_a_difference_of_two_add_up(rules):
    run = classified()
    logits = run["head.logits"][0]
    for text, value in {
        "class=spam": logits[1],
        "class=2": logits[2],
        "class=World News against=ham": logits[2] - logits[0],
    }.items():
        found = ledger_of(run, text, rules)
        assert found.value == pytest.approx(value, rel=1e-12)
        assert found.total == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_a_token_logit_is_that_of_the_mask():
    run = seeded_run(SMALL.replace(head="mlm"), words="time [MASK] like an arrow")
    found = ledger_of(run, "token=seven against=nine")
    assert found.value == pytest.approx(run["head.logits"][0, 1, 7] - run["head.logits"][0, 1, 9], rel=1e-12)
    assert found.total == pytest.approx(found.value, rel=1e-9)
    assert ledger_of(run, "token=seven t=3").value == pytest.approx(run["head.logits"][0, 3, 7])


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("pool", ["mean", "first", "last", "max", "pooled"])
def test_a_similarity_is_the_cosine_and_each_text_gets_half(pool, rules):
    run = seeded_run(SMALL.replace(pooler="dense"), batch=2, t=3)
    states = run.hidden[-1]
    kinds = {
        "mean": states.mean(1),
        "first": states[:, 0],
        "last": states[:, -1],
        "max": states.max(1),
        "pooled": run["pooler.out"],
    }
    one, other = kinds[pool]
    found = similarity(run, pool, rules)
    assert found.value == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other), rel=1e-12)
    assert found.total == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class=spm", "there is no class 'spm'. Did you mean 'spam'? The classes are ham, spam, World News."),
        ("class=3", "there is no class '3'. The classes are ham, spam, World News."),
        ("token=seven", "token=seven does not fit head=classify: give class=LABEL."),
        ("layers.1.attention.weight head=0 t=0 s=0", "Did you mean 'layers.1.attention.weights'?"),
        ("layers.1.attention.weights head=0 t=0 s=9", "s=9 is out of range in layers.1.attention.weights: s runs from 0 to 4."),
        ("layers.1.attention.weights head=zero", "head=zero is not allowed: an index is a whole number, counted from 0."),
        ("colour=red", "the quantity 'colour=red' is not known: give class=LABEL, token=WORD, similarity"),
        ("", "is not known: give class=LABEL"),
    ],
)
def test_a_quantity_that_is_not_there_is_refused(text, message):
    with pytest.raises(GlassformerError) as refused:
        ledger_of(classified(), text)
    assert message in str(refused.value)


def test_a_word_that_is_not_a_token_and_a_text_without_a_mask_are_refused():
    run = seeded_run(SMALL.replace(head="mlm"), words="time flies")
    with pytest.raises(GlassformerError, match="the text has 0 masks"):
        ledger_of(run, "token=seven")
    with pytest.raises(GlassformerError, match="'eleventh' is not a single token"):
        ledger_of(run, "token=eleventh t=0")
    with pytest.raises(GlassformerError, match="similarity compares two texts, found 1"):
        similarity(run, "mean", Rules())


def test_a_text_of_one_token_has_a_ledger():
    run = seeded_run(SMALL.replace(head="classify", classes=3), words="time")
    found = ledger_of(run, "class=spam", RULES[2])
    assert found.total == pytest.approx(run["head.logits"][0, 1], rel=1e-9)
