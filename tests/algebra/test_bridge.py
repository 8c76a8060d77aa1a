"""Bridges sum exactly."""

from hypothesis import given
from strategies import specs

import glassformer as gf
from glassformer.algebra import bridge, count


def test_from_bert_base_to_the_papers_110m():
    found = gf.bridge("bert-base", gf.count("bert-base", head="pretrain"))
    assert (found.left.total, found.right.total) == (109_482_240, 110_106_428)
    assert {span.name: span.difference for span in found.rows} == {
        "head.W_H": 589_824,
        "head.b_H": 768,
        "head.norm.gamma": 768,
        "head.norm.beta": 768,
        "head.b_vocab": 30_522,
        "head.W_N": 1_536,
        "head.b_N": 2,
    }


def test_from_bert_base_to_modernbert_base():
    found = gf.bridge("bert-base", "modernbert-base")
    assert found.total == 149_014_272 - 109_482_240 == sum(span.difference for span in found.rows)
    assert next(span for span in found.rows if span.name == "embeddings.E_position").counts == (393_216, 0)


def test_between_two_conventions_of_one_spec():
    found = gf.bridge(gf.count("bert-base", without="biases,norms"), "bert-base")
    assert found.total == sum(span.difference for span in found.rows) == 83_712 + 38_400


@given(specs(), specs())
def test_any_bridge_sums_to_the_difference(left, right):
    found = bridge(count(left), count(right))
    assert sum(span.difference for span in found.rows) == found.total
    assert found.unchanged + sum(span.counts[0] for span in found.rows) == found.left.total
