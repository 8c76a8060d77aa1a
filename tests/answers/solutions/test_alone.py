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
        "ALBERT-xxlarge has 235M parameters.",  # as published; counted, it has 223M
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


PUBLISHED = """
BERT-base has 12 layers, 12 attention heads and a hidden size of 768, for about 110M parameters.
BERT-large has 24 layers, 16 heads and 1024 hidden units, about 340M parameters.
The original Transformer encoder has 6 layers with d_model = 512 and d_ff = 2048. It uses 8 heads, so each head has 64 dimensions.
RoBERTa-base has 125M parameters. DistilBERT has 66M parameters, 40% fewer than BERT-base, and runs 60% faster.
ALBERT-xxlarge has 235M parameters. ELECTRA-small has 14M parameters. DeBERTa-v3-base has 184M parameters.
GPT-2 has 1.5 billion parameters and GPT-3 has 175 billion parameters.
T5-base has 220M parameters. BART-large has 400M parameters.
ViT-B/16 has 86M parameters and splits a 224x224 image into 196 patches.
A Transformer has 65M parameters in the base configuration (Vaswani et al.).
The model has 3 layers. Our encoder has 4 heads and 2 layers, with 1.2M parameters.
BERT was trained on 3.3 billion words. It uses a batch size of 256 and a sequence length of 512.
Training BERT-base takes 4 days on 16 TPU chips. The learning rate is 1e-4.
MiniLM-L6 has 22M parameters. all-MiniLM-L6-v2 has an embedding dimension of 384.
BERT's WordPiece vocabulary has 30,000 tokens. The cased model uses a vocabulary of 28,996 tokens.
The attention has complexity O(n^2). With 512 tokens the attention matrix has 262,144 entries.
XLM-R has 270M parameters. mBERT has 110M parameters and supports 104 languages.
ModernBERT-base has 149M parameters and 22 layers. ModernBERT-large has 395M parameters and 28 layers.
The last hidden state has shape (1, 12, 768) for a sentence with 12 tokens.
"""


def test_what_people_write_about_published_models_is_not_called_wrong():
    found = check_text(PUBLISHED)
    assert found.wrong == 0
    assert sum(one.grade == "right" for one in found.graded) >= 10
    assert check_text(PUBLISHED.replace("24 layers, 16 heads", "12 layers, 16 heads")).wrong == 1
