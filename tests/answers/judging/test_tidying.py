"""A sentence is judged without the words that say nothing, and never without those that do."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.tidying import tidied


@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("For example, RoBERTa-base has 12 layers.", "RoBERTa-base has 12 layers."),
        ("RoBERTa-base: 12 layers", "RoBERTa-base has 12 layers"),
        ("A 64×64 image → 64 patches", "A 64×64 image yields 64 patches"),
        ("Each patch has 192 numbers (8×8×3).", "Each patch has 192 numbers."),
        ("The FFN holds ⅔ of them (as usual).", "The FFN holds 2/3 of them."),
        ("It has 192 numbers (8×8×4).", "It has 192 numbers (8×8×4)."),  # the bracket says something else
        ("It has 5M parameters (without embeddings).", "It has 5M parameters (without embeddings)."),
        ("It has 5M parameters, which excludes the embeddings.", "It has 5M parameters, which excludes the embeddings."),
        ("The sequence has 196 tokens (plus the class token).", "The sequence has 196 tokens (plus the class token)."),
    ],
)
def test_what_says_nothing_is_left_out_and_what_says_something_is_kept(sentence, plain):
    assert tidied(sentence) == plain


RIGHT = """
For example, ELECTRA-base has 12 layers, 768 hidden units and 12 heads.
RoBERTa-large: 24 layers, 16 attention heads and 1024 hidden dimensions
BERT-base has 12 layers, BERT-large has 24.
BERT-tiny has 2 layers (L=2) and BERT-mini has 4 layers (L=4).
It comes as BERT-mini (4 layers, 11.2M parameters) and BERT-medium (8 layers, 41.4M parameters).
If d_model = 320 and h = 5, each head operates in a 64-dimensional subspace.
With d_model = 320 and h = 5 heads, each head works with 64 dimensions.
If d_model = 320 and h = 5, then d_k = d_v = 64.
For d_model = 144 and n_heads = 12, head_dim = d_model / n_heads = 12
A 64×64 image with 8×8 patches → 64 patch tokens.
A 96x96 image is sliced into 6×6 = 36 non-overlapping 16×16 patches.
When the sequence length triples, the attention scores become 9 times larger.
If you double the sequence length, the computation required for attention quadruples.
The FFN holds about ⅔ of the block's parameters.
BERT uses 12 attention heads.
BERT has 340 million parameters.
DistilRoBERTa has twelve attention heads.
BERT-base has a vocabulary of 30,000 tokens.
For 1024 tokens, the attention matrix has 1M elements per head.
""".strip().splitlines()
WRONG = """
BERT-base has 12 layers, BERT-large has 36.
If d_model = 320 and h = 5, each head operates in a 320-dimensional subspace.
For d_model = 144 and n_heads = 12, head_dim = d_model / n_heads = 24
A 64×64 image with 8×8 patches → 512 patch tokens.
If the sequence length doubles, the attention scores double.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", RIGHT)
def test_a_right_sentence_is_right(sentence):
    assert all(found.right for found in check_sentence(sentence))


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_sentence_is_wrong(sentence):
    assert any(not found.right for found in check_sentence(sentence))
