"""Answers come with their convention, their derivation, and the other conventions."""

import math

import pytest
from hypothesis import given
from strategies import specs

from glassformer.algebra import count
from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request

LAYER = {"d_model": 64, "heads": 4, "d_k": 16, "d_ff": 120}

ANSWERS = [
    ("params", "layer", LAYER, 32_440),
    ("params of W_O in one layer", "bert-base", {}, 589_824),
    ("params in one layer", "bert-base", {}, 7_087_872),
    ("params of head", "bert-base", {"head": "classify", "classes": 5}, 3_845),
    ("params of W_Q per head in one layer", "bert-base", {}, 49_152),
    ("shape of weights", "bert-base", {"t": 5}, (1, 12, 5, 5)),
    ("shape of q in one head", "bert-base", {"t": 5}, (1, 5, 64)),
    ("shape of W_O", "layer", {"d_model": 64, "heads": 2, "d_v": 16}, (32, 64)),
    ("elements of head output", "layer", {"d_model": 64, "heads": 2, "d_k": 32, "d_v": 16, "t": 32}, 512),
    ("macs", "bert-base", {"t": 512}, 48_318_971_904),
    ("flops", "bert-base", {"t": 128}, 22_348_431_360),
    ("bytes", "bert-base", {}, 437_928_960),
    ("tokens", "vit-b16", {}, 197),
    ("patches", "vit-b16", {}, 196),
    ("d_k", "bert-base", {}, 64),
]


@pytest.mark.parametrize(("question", "what", "fields", "value"), ANSWERS)
def test_answers(question, what, fields, value):
    found = ask(question, request(what, **fields))
    assert found.value == value
    assert found.convention
    assert found.lines


def test_the_other_conventions_stand_beside_the_answer():
    found = ask("params", request("layer", **LAYER))
    assert {"without biases, norms, output": 27_648, "without biases": 32_000}.items() <= {
        o.convention: o.value for o in found.others
    }.items()


@pytest.mark.parametrize(
    ("question", "with_bias"),
    [("params of W_O in one layer", 590_592), ("params of W_Q per head in one layer", 49_216), ("params of W_1", 28_348_416)],
)
def test_a_matrix_may_be_counted_with_its_bias(question, with_bias):
    assert with_bias in [other.value for other in ask(question, request("bert-base")).others]
    assert check(question, request("bert-base"), str(with_bias)).verdict == "convention"
    assert not any(o.convention.startswith("with ") for o in ask("params of attention", request("bert-base")).others)


def test_a_derivation_sums_to_its_answer():
    found = ask("params", request("bert-base"))
    assert sum(line.value for line in found.lines) == found.value == 109_482_240
    assert found.lines[0].symbols == "vocab · d_model"
    assert found.lines[0].numbers == "30522 · 768"


@given(specs())
def test_params_is_the_ledgers_total(spec):
    if not count(spec).rows:
        return
    found = ask("params", request(spec))
    assert found.value == count(spec).total == sum(math.prod(size for _, size in p) for p in _products(found))


def _products(found):
    for line in found.lines:
        yield [("", int(number)) for number in line.numbers.split(" · ")]


def test_a_tensor_that_is_not_there_names_the_nearest():
    with pytest.raises(GlassformerError, match="this encoder has no tensor 'scroes'"):
        ask("shape of scroes", request("bert-base"))


def test_one_sentence_of_a_batch_is_not_the_batch():
    fed = "When 8 sentences padded to 128 tokens are fed to BERT-base, what is the shape of the output"
    assert ask(f"{fed}?").value == (8, 128, 768)
    with pytest.raises(GlassformerError, match="speaks of one, and of a batch of 8"):
        ask(f"{fed} for one sentence?")


def test_the_biases_of_norms_are_their_betas():
    assert ask("How many biases does LayerNorm have in BERT-base?").value == 25 * 768
    assert ask("How many LayerNorm parameters does BERT-base have without bias?").value == 25 * 768
    assert ask("How many parameters does BERT-base have without biases?").value == 109_398_528  # theirs stay, as ever


def test_what_training_learns_is_not_what_a_new_head_adds():
    assert (
        ask("How many new parameters must be learned when training BERT-base with a linear layer on a 3-class task?").value
        == 2307
    )
    with pytest.raises(GlassformerError):
        ask("How many parameters must be learned when training BERT-base with a linear layer on a 3-class task?")


def test_with_and_without_are_two_questions():
    question = "How many parameters does multi-head attention with d_model = 512 and 8 heads have"
    assert ask(f"{question} without biases?").value == 4 * 512 * 512
    with pytest.raises(GlassformerError, match="two things"):
        ask(f"{question}, both with and without biases?")


def test_the_memory_of_attention_that_grows_with_the_length_is_not_that_of_its_weights():
    grows = "grow if the length goes from 512 to 2048?"
    assert ask(f"By what factor does the memory of the attention matrix {grows}").value == 16
    with pytest.raises(GlassformerError, match="leaves open which memory"):
        ask(f"By what factor does attention memory {grows}")
