"""In a document, what can be judged by itself is judged; of the rest nothing is said."""

import pytest

from glassformer.answers.solutions.check import check_text

DOCUMENT = """# Interview questions

1. **How many parameters does BERT-base have?** About 110 million.
2. Q: What is the dimension of each head in BERT-base?
   A: 64
3. What is the complexity of self-attention?

   Answer: O(n^2 d)
4. How many parameters does a LayerNorm with 768 features have?
   Answer: 768
5. BERT-large has 24 layers. It was trained for days. Doubling the sequence length doubles the size of the attention matrix.
"""


def test_sentences_and_answers_are_graded_where_they_stand():
    found = check_text(DOCUMENT)
    assert [(one.line, one.grade) for one in found.graded] == [
        (3, "right"),
        (5, "right"),
        (8, "right"),
        (10, "wrong"),
        (11, "right"),
        (11, "wrong"),
    ]
    assert found.wrong == 2
    assert "line 10: How many parameters does a LayerNorm with 768 features have? = 768" in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "The hidden size is 512.",
        "The model has 6 layers and each head has dimension 32.",
        "Our BERT-base variant has 8 layers.",
        "An encoder layer with d_model=512 and 8 heads has 2.1M parameters.",  # its d_ff may stand elsewhere
        "T5-base has 220M parameters.",
        "ViT-L/16 has 307M parameters.",  # as published; counted, it has 304M
        "The FFN of BERT-base has 4.7M parameters, per layer.",
        "```\nBERT-base has 3 parameters.\n```",
        "How many parameters does BERT-base have? It depends on what you count.",
        "How many parameters does it have?\nAnswer: 12",
    ],
)
def test_what_hangs_on_something_else_is_not_judged(text):
    assert check_text(text).graded == ()


def test_a_question_without_its_answer_takes_no_other():
    text = "How many layers does BERT-base have?\nHow many heads does BERT-base have?\nAnswer: 12"
    assert [(one.line, one.grade) for one in check_text(text).graded] == [(3, "right")]


def test_a_document_of_claims_is_judged_in_bounded_time():
    found = check_text("BERT-base has 12 layers.\n" * 3000)
    assert 0 < len(found.graded) <= 200
