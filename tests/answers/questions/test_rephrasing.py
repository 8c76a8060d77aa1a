"""The same question in the words of many people is the same question."""

import pytest

from glassformer.answers.asked import ask
from glassformer.spec import GlassformerError

SAME = {
    "Can anybody tell me how many params the classifier on top of bert-base needs for 7 labels?": 5_383,
    "How much GPU memory do I need just to hold the weights of BERT-large in fp16?": 670_283_776,
    "Calculate the memory (in MB) taken by DistilBERT's parameters when stored as 32-bit floats.": 265_451_520,
    "At 2 bytes per parameter, how much memory does BERT-base need?": 218_964_480,
    "A ViT with patch size P=8 on a 64×64 image produces how many patch tokens?": 64,
    "A 96x96 image is split into 16x16 patches for ViT. How many patch tokens are in the sequence (excluding [CLS])?": 36,
    "The ViT-H of a detector uses a patch size of 16 on a 512 × 512 input. How many patches are there?": 1024,
    r"How many parameters does the embedding matrix have for $|\mathcal{V}| = 20{,}000$ and $d = 64$?": 1_280_000,
    r"For \(T=9\), how many attention scores are in one head’s \(T\times T\) map?": 81,
    "A sequence has 7 tokens. How many attention scores does self-attention compute (one per query-key pair)?": 49,
    "How many multiplications are needed to compute the attention scores QK^T of a single head "
    "with n = 20 tokens and d_k = 8?": 3200,
    "With 32-bit floats, how many bytes does a 64 × 64 attention matrix take for 2 heads?": 32_768,
    "How many bytes are needed to store one attention map of size 64 by 64 in float16?": 8192,
    "Consider an encoder (d_model = 96, N = 3, h = 4, d_ff = 200). All projections include bias terms. Compute the number of "
    "parameters of one encoder layer.": 4 * 96 * 96 + 4 * 96 + 2 * 96 * 200 + 200 + 96 + 4 * 96,
    "An encoder block receives token vectors of size 96. The attention uses 4 heads of equal size. "
    "The feed-forward network has one "
    "hidden layer with 200 units. How many parameters does the feed-forward network have, including biases?": 38_696,
    "My colleague builds an encoder with 2 layers, 4 heads and a hidden size of 96. The inner layer of the FFN is four times as "
    "wide. Give the total number of parameters in the encoder stack without biases and normalization.": 2 * 12 * 96 * 96,
    "Suppose a layer operates on 9 tokens, each represented by a 96-dimensional vector, and employs 4 heads. What is the "
    "dimensionality of the key vectors inside one head?": 24,
    "A model uses h = 5 heads, each of dimension 6. What is the model vector size d?": 30,
    "You fine-tune BERT-base for sentiment analysis with 4 classes. How many new parameters does the classification layer "
    "introduce?": 3_076,
    "How many parameters are in the four main attention projections when d_model = 96?": 37_248,
    "Problem 4 (3 points). What is d_k for d_model = 96 and 4 heads?": 24,
    "BERT-large: intermediate size = ?": 4096,
    "Which of these is the hidden size of BERT-large? 512, 768 or 1024?": 1024,
    "How long can inputs to BERT-base be, in tokens?": 512,
    "If a BERT model with hidden size 1024 uses 16 heads, then every head has size ____.": 64,
    "Assume each token embedding has 96 entries and we use two heads. What size does each head's query vector have?": 48,
    "Suppose the vocabulary has 2,000 words and each word is mapped to a 30-dimensional vector. How "
    "many parameters are needed for "
    "the embedding layer?": 60_000,
    "How many encoder layers does the large version of ModernBERT have?": 28,
    "How many parameters would BERT-base have with a vocabulary of 50,000 tokens?": 124_441_344,
    "In the base Transformer, what number do we divide the dot products by?": 8,
    "What is the shape of the weight matrix of the first feed-forward layer in BERT-base?": (768, 3072),
    "How many learnable scalars does layer normalization introduce per layer if d_model = 96?": 384,
}
# Each says something that must not be read over.
OTHER = """
All layers include bias terms except the FFN. d_model = 96. How many parameters does one layer have?
All projections have biases except the output projection. d_model = 96. How many parameters does the attention have?
The FFN has two hidden layers with 200 units each. d_model = 96. How many parameters does the FFN have?
Each token attends to 4 neighbours. The sequence has 100 tokens. How many attention scores are computed?
Each word is embedded twice. d_model = 96, vocabulary 1000. How many parameters does the embedding have?
How many parameters does the hierarchical attention with d_model = 96 have?
How many parameters does the new gated attention with d_model = 96 have?
How many tokens does ViT-B/16 process without the class token and with 4 register tokens?
A ViT-B/16 with patch size 32 on a 224x224 image: how many patches?
A 64 × 32 attention matrix in fp16 takes how many bytes?
How many parameters does the classifier on top of bert-base with a hidden layer of 512 need for 5 labels?
""".strip().splitlines()


@pytest.mark.parametrize("question", SAME)
def test_a_question_is_the_same_in_other_words(question):
    assert ask(question).value == SAME[question]


@pytest.mark.parametrize("question", OTHER)
def test_another_question_is_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


def test_a_capital_n_is_a_length_beside_tokens_and_a_depth_beside_widths():
    assert ask("d_model = 96, N = 6, h = 4. How many attention scores does one head compute?").value == 36
    assert ask("How many parameters does the encoder have? N = 2, d_model = 96, h = 4, d_ff = 384").asked.spec.layers == 2


def test_to_compute_is_no_kind_of_quantity():
    assert ask("d_model = 96, h = 4. Compute the number of parameters of the attention.").unit == "parameters"
    assert ask("How much compute does the attention of BERT-base need?").unit == "FLOPs"
