"""Turns of phrase of exams: the answer worked out beside them."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check, check_sentence
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many weights are in the two matrices of a position-wise FFN with d_model = 192 and "
            "hidden size 768?", 2 * 192 * 768),
        ("How many parameters have the four matrices of the attention block with d_model = 64?", 4 * 64 * 64),
        ("How many parameters are in the weight matrices of the feed-forward block for d_model=64, d_ff=100?", 2 * 64 * 100),
        ("How many parameters including biases do the four linear layers of self-attention have for d_model = 336?",
            4 * (336 * 336 + 336)),
        ("Determine the number of weights of a multi-head attention layer (Q, K, V and output projection, no biases) with "
            "d_model = 240 and 6 heads.", 4 * 240 * 240),
        ("We have 3 encoder layers with d_model 128, d_ff 512 and 4 heads. How many LayerNorm parameters are there in total "
            "(two norms per layer)?", 3 * 4 * 128),
        ("An encoder layer has d_model=128. How many LayerNorm parameters are there?", 4 * 128),
        ("An encoder with 3 layers and d_model 128: how many parameters does each LayerNorm have?", 2 * 128),
        ("How many parameters are in the patch embedding layer of a vision transformer with patch size 14, 3 input channels and "
            "embedding dimension 1024 (with bias)?", 3 * 14 * 14 * 1024 + 1024),
        ("How many parameters does the embedding layer of a BERT-like model have with a vocabulary "
            "of 50,000 tokens, 512 positions, "
            "2 segment types and hidden size 512, not counting LayerNorm?", (50_000 + 512 + 2) * 512),
        ("How many classifier parameters are needed on top of a 640-dimensional CLS vector for 4 "
            "classes (with bias)?", 640 * 4 + 4),
        ("A token classification head on an encoder with hidden size 384 predicts 9 tags. How many "
            "parameters does the linear layer "
            "have including the bias?", 384 * 9 + 9),
        ("How many trainable parameters does the token embedding with sinusoidal positional encoding have for a vocabulary of "
            "10,000, maximum length 1,000 and d_model 256?", 10_000 * 256),
        ("How many weights are in W_Q, W_K and W_V together if d_model = 96, d_k = 12, d_v = 20 and there is a single head?",
            2 * 96 * 12 + 96 * 20),
        ("The input is 50 tokens long and d_model = 72. How many weights does a single-head "
            "self-attention layer have in W_Q, W_K "
            "and W_V (d_k = d_v = 72, no biases)?", 3 * 72 * 72),
        ("How many tokens does a ViT see for a 128x128 image with 16x16 patches and a CLS token?", 65),
        ("W_Q and W_K are 64x32 and W_V is 64x48. How many parameters do these three matrices have together?",
            2 * 64 * 32 + 64 * 48),
    ],
)  # fmt: skip
def test_answered(question: str, value: int) -> None:
    assert ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "How many parameters do the two weight matrices of the attention have for d_model=64?",
        "How many parameters do the norms in the attention have with d_model=64?",
        "How many parameters does an FFN with d_model=64 and d_ff=128 have, no biases included?",
    ],
)
def test_what_the_part_does_not_have_is_refused(question: str) -> None:
    with pytest.raises(GlassformerError):
        ask(question)


@pytest.mark.parametrize(
    ("question", "claim", "code"),
    [
        ("How many parameters are in the two weight matrices of the feed-forward network with d_model 224 and d_ff 896?",
            224 * 896, "ffn_one_or_twice"),
        ("What is the number of parameters of one encoder layer with d_model = 160, 4 heads and "
            "d_ff = 600, counting biases and both "
            "LayerNorms?", 4 * (160 * 160 + 160) + 2 * 160 * 600 + 600 + 160, "no_layernorm"),
        ("How many trainable parameters does the token embedding with sinusoidal positional encoding have for a vocabulary of "
            "10,000, maximum length 1,000 and d_model 256?", 11_000 * 256, "sinusoidal_counted"),
        ("How many classifier parameters are needed on top of a 640-dimensional CLS vector for 4 classes (with bias)?",
            640 * 4, "head_count_wrong"),
    ],
)  # fmt: skip
def test_the_mistake_is_named(question: str, claim: int, code: str) -> None:
    found = check(question, None, str(claim))
    assert not found.right
    assert (code,) in [finding.codes for finding in found.findings]


@pytest.mark.parametrize(
    ("sentence", "right", "code"),
    [
        ("A feed-forward block with d_model=256 and d_ff=1024 has 525568 parameters, biases included.", True, ""),
        ("A feed-forward block with d_model=256 and d_ff=1024 has 524288 parameters, biases included.", False, "ffn_bias"),
        ("A feed-forward block with d_model=256 and d_ff=1024 has 524288 parameters, without biases.", True, ""),
        ("An encoder layer with d_model = 100 has 400 LayerNorm parameters.", True, ""),
        ("An encoder layer with d_model = 100 has 200 LayerNorm parameters.", False, "layernorm_undercounted"),
        ("With d_k = 64, the dot products are divided by 8 before the softmax.", True, ""),
        ("With d_k = 64, the dot products are divided by 64 before the softmax.", False, "divided_by_dk"),
        ("For d_k = 100 the dot products are divided by 10.", True, ""),
        ("With d_model = 512 and 8 heads, the attention scores are divided by the square root of 512, i.e. about 22.6.", False,
            "sqrt_dmodel"),
        ("q·k = 24 with d_k = 36 gives a scaled attention score of 4.", True, ""),
        ("If q·k = 10 and d_k = 25, the scaled attention score is 10.", False, "no_scaling"),
        ("If q·k = 10 and d_k = 25, the scaled attention score is 0.4.", False, "divided_by_dk"),
        ("With q·k = 32, d_k = 16 and d_model = 64, the scaled score is 4.", False, "sqrt_dmodel"),
        ("Since the query has 49 dimensions and q·k = 21, the scaled score is 3.", True, ""),
        ("True or false: the number of parameters in a self-attention layer depends on the length "
            "of the input sequence.", False, ""),
    ],
)  # fmt: skip
def test_sentences(sentence: str, right: bool, code: str) -> None:
    (found,) = check_sentence(sentence)
    assert found.right is right
    assert not code or (code,) in [finding.codes for finding in found.findings]


def test_every_claim_of_a_sentence_is_judged() -> None:
    heads = "Each of the {} heads in BERT-large works with {}-dimensional queries, keys and values."
    tokens = "A ViT with 16x16 patches on a 256x256 image processes 256 patch tokens plus one class token, i.e. {} tokens."
    assert [found.right for found in check_sentence(heads.format(16, 64))] == [True, True]
    assert [found.right for found in check_sentence(heads.format(12, 64))] == [False, True]
    assert [found.right for found in check_sentence(tokens.format(257))] == [True, True]
    assert [found.right for found in check_sentence(tokens.format(258))] == [True, False]
