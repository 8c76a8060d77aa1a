"""A sentence that reasons is judged clause by clause, each with what was said before it."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.chains import only_sizes, with_names
from glassformer.spec import GlassformerError

RIGHT = """
With a 64x64 image and a patch size of 8x8, each image gives 64 patches, so with the class token the encoder sees 65 tokens.
The FFN has two matrices 96×200 and 200×96, so 2·96·200 = 38,400 parameters.
Attention has four projections with d = 96, so 4·96² ≈ 36.9K parameters.
n_embd is 96 and n_head is 4, so each head has dimension 24.
The encoder uses d_model = 96 and 4 heads, so each head has a dimension of 24.
Each block uses MultiheadAttention(96, 4), so each head has dimension 24.
Each head outputs a vector of size 64, so concatenating the 12 heads of BERT-base gives 768 dimensions.
The intermediate size of BERT-base is 3072, i.e. four times the hidden size.
DistilBERT has 6 layers, half as many as BERT-base.
BERT-base has 12 encoder blocks with 12 attention heads each, 144 in all.
BERT-base has 110M parameters, so storing it in fp32 takes 440 MB.
Self-attention scales quadratically with sequence length: going from 100 to 200 tokens makes the attention map 4 times larger.
A sequence length of 100 with 4 heads leads to 4 × 100 × 100 = 40,000 attention scores per layer.
BERT-large is a big model. It has 24 layers.
With 4 heads and d_model = 96, each head has 24 dimensions, so W_Q has 96 × 24 parameters.
Residual connections add no parameters.
ViT-B/16: 12 layers, d=768, h=12, 86M params.
The FFN holds 66.6% of the block's parameters.
ALBERT-large (24 layers) has 18M parameters.
Doubling the sequence length from 100 to 200 would quadruple the memory of the attention matrix.
Doubling the sequence length makes the attention computation 4x slower.
A 1B-parameter model carries 8 GB of Adam optimizer state in float32.
In BERT-large the feed-forward layer has 4096 hidden units.
BERT-base has 12 heads, d_model=768 → each head has d_k=64.
ViT-Base has 12 heads, each working on vectors of length 768 / 12 = 64.
ViT-Base has 196 patches + 1 CLS token = 197 tokens.
For a sequence of 1,000 tokens the attention matrix has 1,000,000 entries and takes 2 MB in fp16.
The FFN layer expands from 96 to 200 and projects back, giving it 38,400 parameters per layer.
Self-attention has O(n²·d) time complexity and O(n²) memory complexity.
Each LayerNorm has 2 × d_model parameters.
For a sequence of 130,000 tokens, the attention matrix takes ~33 GB in fp16.
The patch embedding of ViT-B/16 has 768 × 768 = 590K parameters.
"""
WRONG = """
With a 64x64 image and a patch size of 8x8, each image gives 64 patches, so with the class token the encoder sees 66 tokens.
The FFN has two matrices 96×200 and 200×96, so 2·96·200 = 48,400 parameters.
The encoder uses d_model = 96 and 4 heads, so each head has a dimension of 96.
Each head outputs a vector of size 768, so concatenating the 12 heads of BERT-base gives 768 dimensions.
The intermediate size of BERT-base is 3072, i.e. three times the hidden size.
DistilBERT has 6 layers, twice as many as BERT-base.
BERT-base has 12 layers, so it has 13 attention heads.
BERT-base has 110M parameters, so storing it in fp16 takes 440 MB.
BERT-large is a big model. It has 12 layers.
Learned position embeddings add no parameters to BERT-base.
A sequence of 512 tokens with an embedding size of 768 has an attention matrix of approximately 196,608,000 entries.
For a sequence of 1,000 tokens the attention matrix has 1,000,000 entries and takes 8 MB in fp16.
Each LayerNorm has 4 × d_model parameters.
For a sequence of 130,000 tokens, the attention matrix takes 33 GB in fp16.
Halving the patch size doubles the number of patches.
ViT-B/16: 12 layers, d=768, h=16, 86M params.
The FFN holds 60% of the block's parameters.
BERT-large has 12 layers in the encoder stack.
"""
REFUSED = """
BERT-base is smaller than BERT-large. It has 24 layers.
Each token costs 7 cents, so BERT-base has 12 layers.
LayerNorm adds no parameters.
"""


@pytest.mark.parametrize("sentence", RIGHT.strip().splitlines())
def test_every_clause_is_right(sentence):
    assert all(found.right for found in check_sentence(sentence))


@pytest.mark.parametrize("sentence", WRONG.strip().splitlines())
def test_one_wrong_clause_is_found(sentence):
    assert not all(found.right for found in check_sentence(sentence))


@pytest.mark.parametrize("sentence", REFUSED.strip().splitlines())
def test_what_hangs_on_something_else_is_not_judged(sentence):
    with pytest.raises(GlassformerError):
        check_sentence(sentence)


def test_sizes_that_are_given_claim_nothing():
    assert only_sizes("the encoder uses d_model = 96 and 4 heads")
    assert not only_sizes("each token costs 7 cents")
    assert only_sizes("a sequence length of 100 with 4 heads", alone=True)
    assert not only_sizes("the encoder uses d_model = 96", alone=True)


def test_it_is_the_one_encoder_that_was_named():
    assert with_names(["BERT-base is small.", "It has 12 layers."])[1] == "BERT-base has 12 layers."
    assert with_names(["BERT-base and BERT-large are two.", "It has 12 layers."])[1] == "It has 12 layers."
