"""A claim in one sentence brings its question."""

import pytest

import glassformer as gf
from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.sentences import claim_in, claims_in
from glassformer.spec import GlassformerError

RIGHT = """
BERT-base has 110 million parameters.
The total number of parameters in BERT-large is approximately 340 million.
BERT-base consists of 12 encoder layers.
True or false: BERT-base has 12 attention heads per layer.
There are 144 attention heads in BERT-base.
The hidden size of BERT-large is 1024.
The maximum sequence length of BERT is 512.
With d_model=512 and 8 heads, each head has dimension 64.
A LayerNorm with 768 features has 1,536 parameters.
Multi-head attention with d_model=512 and 8 heads has 1,048,576 parameters.
nn.Linear(768, 3072) has 2,362,368 parameters.
For a sequence of length 10, the shape of QK^T is 10x10.
The attention matrix for 128 tokens is a 128 x 128 matrix.
K^T has shape 64x10 for d_k=64 and 10 tokens.
A 224x224 image with 16x16 patches gives 196 patches.
The time complexity of self-attention is O(n^2 d).
The complexity of sliding window attention is O(n w).
Doubling the sequence length quadruples the size of the attention matrix.
BERT-large has 3 times more parameters than BERT-base.
DistilBERT is 40% smaller than BERT-base.
BERT-base needs 438 MB of memory in fp32.
A 340M-parameter model needs 680 MB of memory in fp16.
A forward pass of BERT-base with 512 tokens takes 96.6 GFLOPs.
22% of BERT-base's parameters are in the embeddings.
PE(1, 0) is 0.84 for d_model=4.
The FFN in BERT-base has 4.7M parameters.
The scaling factor for d_k = 64 is 8.
RoBERTa-base uses a vocabulary of 50,265 tokens.
ViT-B/16 splits a 224x224 image into 196 patches.
DistilBERT has half the layers of BERT-base.
BERT-large has twice as many layers as BERT-base.
BERT masks 15% of the tokens.
BERT-base's vocabulary contains 30,522 tokens.
ModernBERT-base supports sequences of up to 8192 tokens.
Self-attention is O(n^2 d).
Self-attention has quadratic complexity in the sequence length.
The cost of self-attention grows quadratically with the sequence length.
A linear layer mapping 768 to 5 has 3,845 parameters.
""".strip().splitlines()
WRONG = {
    "BERT-base has 340M parameters.": None,
    "BERT-large uses 12 layers.": None,
    "A LayerNorm with 768 features has 768 parameters.": "layernorm_undercounted",
    "A multi-head attention block with d_model = 768 and 12 heads has 28,311,552 parameters.": "heads_times_full_width",
    "A feed-forward network with d_model=512 and d_ff=2048 has 1,048,576 parameters.": "ffn_one_or_twice",
    "For a sequence of length 10 and d_k = 64, the shape of QK^T is 64x64.": "feature_by_feature",
    "A flattened 16x16 RGB patch has dimension 256.": "vit_tokens_or_patch",
    "The space complexity of attention is O(n).": "linear_instead_of_quadratic",
    "Doubling the sequence length doubles the size of the attention matrix.": "linear_instead_of_quadratic",
    "Doubling the number of heads doubles the number of parameters of multi-head attention.": None,
    "nn.TransformerEncoderLayer(d_model=768, nhead=12) has 7,087,872 parameters.": "ffn_width_assumed_4d",
    "PE(1, 0) is 0.54 for d_model=4.": "positional_index",
    "The scaling factor for d_k=64 is 64.": "divided_by_dk",
    "50% of BERT-base's parameters are in the embeddings.": None,
    "ViT-B/16 splits a 224x224 image into 197 patches.": "vit_tokens_or_patch",
    "DistilBERT has twice the layers of BERT-base.": None,
    "BERT-base can process up to 1024 tokens.": None,
    "Self-attention scales linearly with the sequence length.": "linear_instead_of_quadratic",
    "BERT-base is 3.06 times larger than BERT-large.": None,
}


@pytest.mark.parametrize("sentence", RIGHT)
def test_a_right_sentence(sentence):
    (found,) = check_sentence(sentence)
    assert found.right


@pytest.mark.parametrize(("sentence", "code"), WRONG.items())
def test_a_wrong_sentence_and_its_cause(sentence, code):
    (found,) = check_sentence(sentence)
    assert found.verdict == "wrong"
    codes = {code for finding in found.findings for code in finding.codes}
    assert (code in codes) if code else not codes


@pytest.mark.parametrize(
    "sentence", ["Attention is all you need.", "Why has BERT 12 layers?", "We trained for 3 days.", "", "x" * 1000, "12 layers"]
)
def test_what_is_no_claim_is_refused(sentence):
    with pytest.raises(GlassformerError) as refused:
        check_sentence(sentence)
    assert "\n" not in str(refused.value)


def test_a_claim_without_its_encoder_is_refused():
    assert claim_in("The hidden size is 512.") == ("What is the hidden size?", "512")
    with pytest.raises(GlassformerError, match="which encoder"):
        check_sentence("The hidden size is 512.")


def test_a_number_is_about_as_much_whatever_the_order_of_a_set_is():
    for word in ("about", "approximately", "approx.", "approx", "roughly", "around", "circa", "ca.", "nearly", "~", "≈"):
        assert check_sentence(f"The number of parameters of BERT-large is {word} 335 million.")[0].right


@pytest.mark.parametrize(
    ("sentence", "verdicts"),
    [
        ("BERT-base has 12 layers, 768 hidden units and 110M parameters.", ["right"] * 3),
        ("BERT-base (L=12, H=768, A=12, Total Parameters=110M)", ["right"] * 4),
        ("BERT-large consists of 24 layers, 16 attention heads, and 110M parameters.", ["right", "right", "wrong"]),
        ("RoBERTa-large uses 24 layers and a hidden size of 768.", ["right", "wrong"]),
        ("BERT-base has 12 layers, while BERT-large has 36 layers.", ["right", "wrong"]),
        (
            "bert-large-uncased: 24-layer, 1024 hidden dimension, 16 attention heads, 336M parameters.",
            ["right"] * 3 + ["convention"],
        ),
        ("ALBERT-base has 128 embedding dimensions, 768 hidden dimensions and 12 layers.", ["right"] * 3),
        ("BERT-base was released with 110 million parameters, BERT-large with 340 million.", ["right", "right"]),
        (
            "BERT-large is really big: it has 24-layers and an embedding size of 1,024, for a total of 340M parameters!",
            ["right"] * 3,
        ),
        ("BERT-base has 24M of its 110M parameters in the embeddings.", ["right", "right"]),
        ("Of the 110M parameters of BERT-base, 40M belong to the token embeddings.", ["wrong", "right"]),
        ("DistilBERT keeps 6 of BERT-base's 12 layers.", ["right", "right"]),
        ("Self-attention takes O(n^2 d) time and O(n) space.", ["right", "wrong"]),
        ("With 66M parameters, DistilBERT has 6 layers.", ["right", "right"]),
        ("With 6 layers, DistilBERT has 66M parameters.", ["right"]),
        ("The positional embedding table of BERT-base has 512 × 768 = 393,216 parameters.", ["right"]),
        ("The positional embedding table of BERT-base has 512 × 768 = 393,226 parameters.", ["wrong"]),
        ("Splitting 96 dimensions over 4 heads leaves 24 dimensions per head.", ["right"]),
        ("Each token is represented by a 768-dimensional vector in BERT-base.", ["right"]),
        ("Going from 100 to 300 tokens makes the attention matrix 9 times larger.", ["right"]),
        ("In BERT-base, W_Q has shape 768 × 64 for each head.", ["right"]),
        ("BERT-base needs 0.44 GB.", ["right"]),
        ("In BERT-base, the FFN has an intermediate size of 3072.", ["right"]),
        ("ALBERT-large has 18x fewer parameters than BERT-large.", ["convention"]),
        ("DistilBERT reduces the size of BERT by 40%.", ["right"]),
        (
            "ALBERT-base has 9x fewer parameters than BERT-base, and ALBERT-large has about 18x fewer parameters "
            "compared to BERT-large.",
            ["convention", "convention"],
        ),
        ("ALBERT-base has 12M parameters versus BERT-base's 110M — a 9x reduction.", ["right"]),
        ("Both BERT-base and DistilBERT use a hidden dimension of 768 and 12 attention heads.", ["right"] * 4),
        ("BERT-large has 3.4e8 parameters.", ["right"]),
        ("Stored in fp32, the 110M parameters of BERT-base take about 440 MB.", ["right"]),
        ("Compared to BERT-base, DistilBERT has half the layers.", ["right"]),
        ("Roughly one third of a Transformer layer's parameters are in the attention.", ["right"]),
        ("The computational cost of self-attention is O(n^2 · d).", ["right"]),
    ],
)
def test_a_list_makes_as_many_claims_as_it_has_items(sentence, verdicts):
    assert [one.verdict for one in check_sentence(sentence)] == verdicts


def test_what_is_no_list_of_sizes_is_not_taken_apart():
    assert claims_in("BERT-base has an encoder and 12 layers.") == []
    assert len(claims_in("BERT-base has 110 million parameters.")) == 1
    assert claims_in("BERT-base has 110 million parameters, while the large one grew.") == []  # half of it would be


@pytest.mark.parametrize(
    "sentence",
    [
        "BERT-base takes 16 GB to train with batch size 32.",  # with activations
        "BERT-base needs 8 GB of GPU memory for inference.",
        "With 2 layers, BERT-base has 39M parameters.",
        "The FFN contains roughly 75% of the Transformer's parameters.",  # which embeddings, if any
        "BERT-base was trained with 40 epochs.",
        "BERT was trained with 16 TPUs, RoBERTa with 1024 GPUs.",
    ],
)
def test_what_may_be_so_is_not_called_wrong(sentence):
    with pytest.raises(GlassformerError):
        check_sentence(sentence)


def test_of_several_claims_the_first_wrong_one_comes_back():
    found = gf.check("BERT-large has 24 layers, 12 heads and 110M parameters.")
    assert (found.right, found.claim.value, found.answer.value) == (False, 12, 16)
    assert gf.check("BERT-base has 12 layers and 12 heads.").right


def test_a_published_size_leaves_out_the_head_rather_than_every_bias():
    (found,) = check_sentence("ViT-B/16 has 86 million parameters.")
    assert (found.verdict, found.convention) == ("convention", "without head")


@pytest.mark.parametrize(
    "sentence",
    [
        "BERT-base has 12 encoder layers and 12 decoder layers.",
        "BERT-base has 12 layers in both the encoder and the decoder.",
        "BERT-base and BERT-large have 12 layers.",
        "BERT-base has 12 layers, which is less than DistilBERT has.",
        "BERT-base has 110 million parameters of which half are frozen.",
    ],
)
def test_a_sentence_is_not_judged_by_a_part_of_it(sentence):
    with pytest.raises(GlassformerError):
        check_sentence(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "BERT-base has 12 attention heads in total.",
        "The FFN of one BERT-base layer has 4,722,432 parameters excluding biases.",
        "BERT-base has fewer than 100 million parameters.",
    ],
)
def test_what_a_sentence_says_itself_is_no_other_convention(sentence):
    (found,) = check_sentence(sentence)
    assert not found.right


@pytest.mark.parametrize(
    "sentence",
    [
        "A forward pass of BERT-base takes 97 GFLOPs.",
        "The attention matrix of one head of BERT-base has 262,144 entries.",
        "The attention weights of BERT-base take 12 MB per layer in fp32.",
    ],
)
def test_a_number_that_hangs_on_a_length_nobody_stated_is_not_called_wrong(sentence):
    with pytest.raises(GlassformerError, match="leaves open the length"):
        check_sentence(sentence)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("The attention matrix of each head of BERT-base is 512 x 512.", "convention"),
        ("Q, K and V of BERT-base have shape 512 x 64 per head.", "convention"),
        ("The query matrix of each head of BERT-base has shape 10 x 32.", "wrong"),
        ("The attention matrix of each head of BERT-base is 64 x 64.", "wrong"),  # features for tokens: a known mistake
        ("For 128 tokens, the attention matrix of each head of BERT-base is 512 x 512.", "wrong"),
        ("For 512 tokens BERT-base needs 40 billion multiply-adds.", "wrong"),
        ("For d_k = 64 the scaling factor 1/sqrt(d_k) is 8.", "wrong"),
        ("For d_k = 64 the scaling factor 1/sqrt(d_k) is 0.125.", "right"),
    ],
)
def test_a_shape_may_have_any_length_that_is_not_stated(sentence, verdict):
    (found,) = check_sentence(sentence)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("BERT-base has exactly 110 million parameters.", "wrong"),
        ("BERT-base has 110 million parameters.", "right"),
        ("BERT-base has exactly 109,482,240 parameters.", "right"),
        ("BERT-large has exactly three times as many parameters as BERT-base.", "wrong"),
        ("BERT-large has exactly two times as many layers as BERT-base.", "right"),
        ("DistilBERT has the same number of parameters as BERT-base.", "wrong"),
        ("RoBERTa-base has the same number of layers as BERT-base.", "right"),
        ("A LayerNorm with 768 features has 768 parameters without bias.", "right"),
        ("A LayerNorm without bias has 1536 parameters for d_model = 768.", "wrong"),
    ],
)
def test_exactly_and_without_bias_are_taken_at_their_word(sentence, verdict):
    (found,) = check_sentence(sentence)
    assert found.verdict == verdict


def test_all_layers_of_a_model_with_a_decoder_are_not_those_of_its_encoder():
    with pytest.raises(GlassformerError, match="its encoder alone"):
        check_sentence("The original Transformer has 12 layers in total.")
    (found,) = check_sentence("The encoder of the original Transformer has 6 layers in total.")
    assert found.verdict == "right"
