"""Turns of phrase that courses and forums use, and the answers due to them."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError

ASKED = {
    # what is given stands in a list, behind the question or in code
    "Compute the total number of parameters of the multi-head attention (MHA) block. Given: model dimension: d_model = 96, "
    "number of heads: h = 4. All linear layers include bias.": 4 * 96 * 96 + 4 * 96,
    "For an encoder with: - vocab_size = 900 - d_model = 96 - n_heads = 4. How many parameters in the embedding layer?": 86_400,
    "num_tokens=900, embed_dim=96. How many parameters does the token embedding layer have?": 86_400,
    "The FFN consists of two linear maps: one with input dimension d = 96 and output dimension f = 200, and another back. "
    "Find the number of parameters of the feed-forward network. In this part, we do not consider bias.": 2 * 96 * 200,
    "How many parameters has one encoder block when d = 96 and the FFN inner dimension is 4d (ignore LayerNorm)?": 12 * 96 * 96
    + 9 * 96,
    "How many parameters does the block (attention + FFN, incl. LayerNorms and biases) have for d_model = 96?": 12 * 96 * 96
    + 13 * 96,
    # words that say how a thing came about
    "Given an input tensor of shape (batch_size=2, seq_len=9, embedding_dim=96) passed through an encoder layer, what will be "
    "the shape of the output tensor?": (2, 9, 96),
    "If the input tensor has shape (batch_size=2, seq_len=9, embedding_dim=96), what is the shape of the output tensor after "
    "applying multi-head self-attention with 4 heads and the same embedding dimension?": (2, 9, 96),
    "With patch_size = 8, height=64, width=64, what is the shape of the patch embeddings after flattening and linear projection "
    "to 96 dimensions?": (1, 64, 96),
    "What is the output dimension of the first linear layer in BERT-base's feed-forward sublayer?": 3072,
    "What is the dimension of each flattened patch vector in ViT-B/16?": 768,
    "How many layers of attention does BERT-large have?": 24,
    "Each token is a 96-dimensional vector, and we use 4 heads. What is the dimensionality of the queries and keys of a "
    "head?": 24,
    "With d_model = 96 and h = 4, what is the dimension of the query vector (d_k) passed into each attention head?": 24,
    "A model has D = 96 and 4 heads. What is the per-head dimension D_h that each attention head operates on?": 24,
    "Given a 96-dimension embedding and 4 heads, what is the per-head dimension, and what would break with 5 heads?": 24,
    "What value is used to scale the dot products, i.e. √d_k, in BERT-base?": 8,
    "Compute the FLOPs of the two matrix multiplications in scaled dot-product attention for n = 9 tokens and d = 24.": 4
    * 81
    * 24,
    "What is the maximum number of tokens that BERT can process in a single input?": 512,
    "After adding the [CLS] token, what is the sequence length fed to the encoder of ViT-B/32 at 224 resolution?": 50,
    "Fill in the blank: In BERT-base, the inner layer of the feed-forward network has dimensionality ____.": 3072,
    "How many trainable parameters are there in 12 layer BERT?": 109_482_240,
    "With d_model = 96 and 4 heads, what is each head's Q/K dimension, and how does the cost compare to one wide head?": 24,
    "If an encoder has hidden dimension $D = 96$ and uses $M = 4$ attention heads, what is the dimension of an individual head "
    "$D_k$?": 24,
    "What is the dimensionality $d_k$ of each head for $d_{model} = 96$ and $h = 4$ attention heads?": 24,
    "If d_k=24 and we have 4 heads, what is the total dimension of the multi-head attention output before the final linear "
    "transformation?": 96,
    "How much memory does the attention matrix of one layer require at sequence length N = 1000 (context window)?": 4_000_000,
    # a matrix has two axes
    "With 36 patches and 4 attention heads, what is the shape of the attention weight matrix in one head?": (36, 36),
    "With n=9 tokens, what shape is the QK^T attention matrix?": (9, 9),
    "In the original paper, d_model = 512, h = 8. What are the dimensions of W^O?": (512, 512),
    # images in the words of exercises
    "An image has size 64 × 64 and uses 8 × 8 patches. After adding one [CLS] token, how many tokens enter the Transformer?": 65,
    "A 64×64 image with P = 8. How many tokens enter the Transformer (count the [class] token)?": 65,
    "An image has size 64 × 64 and uses 8 × 8 patches. How many patches are created?": 64,
    "How many scores are in one attention map for 65 tokens?": 65 * 65,
    "In an encoder with 6 layers and 8 heads per layer, how many heads are there overall?": 48,
    "An encoder has model dimension d = 96 and feedforward dimension 4d. Count the parameters in one feedforward layer.": 8
    * 96
    * 96
    + 5 * 96,
    # what is saved, gained, or by how many
    "How many parameters do we save by removing the pooler of BERT-base?": 590_592,
    "If we replace learned position embeddings by sinusoidal ones, how many parameters do we save in BERT-base?": 393_216,
    "By how many parameters does the model grow if we increase the vocabulary from 900 to 1000 with hidden size 96?": 9_600,
    "How many parameters are saved if the number of layers is halved in BERT-base?": 6 * 7_087_872,
    "A document grows from 100 to 300 tokens. By what factor does the number of attention scores grow?": 9,
    "What happens to the number of parameters of the attention when we change from 1 head to 4 heads?": 1,
}


@pytest.mark.parametrize(("question", "value"), ASKED.items())
def test_a_question_in_published_words_is_answered(question, value):
    assert ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "What is the shape of the output tensor after max pooling in BERT-base with 10 tokens?",
        "What is the dimension of the output of the decoder in BERT-base?",
        "How many parameters does the attention layer use when 2 of 12 heads are pruned in BERT-base?",
        "How many layers of dropout does BERT-base have?",
        "How many heads have the same dimension in BERT-base?",
        "What is the size of the encoder?",
        "How many parameters per token does BERT-base have?",
        "Your model has d_model = 96. You change from 1 head to 4 heads. What is the per-head dimension?",
        "How many more tokens fit if we double the memory?",
    ],
)
def test_idle_words_are_not_any_words(question):
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(("letter", "right"), [("C", True), ("B", False)])
def test_a_formula_may_be_an_option(letter, right):
    question = "Roughly how many parameters does one block have, for model width d? A) 2 d^2 B) 6 d^2 C) 12 d^2"
    assert check(question, None, letter).right is right
