"""A question with somebody's answer behind it is read as the two; everything else is left to the other readers."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.student_answers import answers_in


@pytest.mark.parametrize(
    ("text", "question", "claim"),
    [
        ("How many heads does BERT-base have? A student says 16. What is wrong?", "How many heads does BERT-base have?", "16"),
        ("How many heads does BERT-base have? Student answer: 16.", "How many heads does BERT-base have?", "16"),
        (
            "A student computes the parameters of an FFN with d=8 and d_ff=32 and gets 512. What did the student forget?",
            "What is the parameters of an FFN with d=8 and d_ff=32?",
            "512",
        ),
        (
            "A model has d_model = 64. A colleague reports 4,096 parameters for W_Q. Is that correct?",
            "A model has d_model = 64. How many parameters does W_Q have?",
            "4,096",
        ),
        ("A classmate claims that BERT-base has 24 layers. Is this right?", "How many layers does BERT-base have?", "24"),
        ('"BERT-base has 24 layers." Is this right?', "How many layers does BERT-base have?", "24"),
    ],
)
def test_the_question_and_the_answer_are_told_apart(text, question, claim):
    assert answers_in(text) == [(question, claim)]


@pytest.mark.parametrize(
    "text",
    [
        "How many layers does BERT-large have? Student A says 12, student B says 24.",
        "BERT-base has 12 layers.",
        "A student says that BERT-base does not have 12 layers.",
        "How many heads does BERT-base have?",
    ],
)
def test_what_has_no_one_answer_is_not_read(text):
    assert answers_in(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "A student was asked for the parameters of the multi-head attention with d_model = 130 and 10 heads, without biases, "
            "and answered 50,700. What is missing?",
            "no_output_projection",
        ),
        ("A ViT with d_model=192 has 3 heads. A student says that each head has dimension 192. Correct?",
            "heads_times_full_width"),
        ("A model has d_model = 120 and 5 heads. A student computes the number of parameters of W_Q for all heads and gets "
            "2,880.",
            "one_head_vs_all_heads"),
        ("She says that ViT-B/16 has 196 tokens. True or false?", "vit_tokens_or_patch"),
    ],
)  # fmt: skip
def test_the_mistake_of_a_student_is_named(text, code):
    (found,) = check_sentence(text)
    assert found.verdict == "wrong"
    assert [finding.codes for finding in found.findings] == [(code,)]


def test_a_right_answer_of_a_student_stays_right():
    (found,) = check_sentence("A student claims BERT-base has 110M parameters. Is that right?")
    assert found.verdict == "right"
