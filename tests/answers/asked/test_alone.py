"""Questions without a spec: what they say is used, what they leave out must not matter."""

import math

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request


def ffn(d, f):
    return 2 * d * f + f + d


def attention(d):
    return 4 * d * d + 4 * d


def layer(d, f):
    return attention(d) + ffn(d, f) + 4 * d


NUMBERS = {
    "How many parameters does the encoder of whisper-tiny have?": 8_208_384,
    "How many parameters do the encoder layers of whisper-tiny have?": 7_096_320,
    "How many trainable parameters does the encoder of whisper-tiny have?": 7_632_384,
    "How many parameters does the encoder of bert-base have?": 85_054_464,
    "How many parameters does a LayerNorm with 768 features have?": 1536,
    "How many learnable parameters are in a layer normalization layer over 512 dimensions?": 1024,
    "How many parameters does RMSNorm with 512 features have?": 512,
    "attention with d_model=512 and 8 heads: what is d_k?": 64,
    "A model has hidden size 768 and 12 attention heads. What is the head dimension?": 64,
    "With 16 heads and an embedding dimension of 1024, how many dimensions does each head have?": 64,
    "The dimension of the query vector in a 12-head transformer with hidden size 768 is?": 64,
    "Fill in the blank: with d_model = 512 and 8 heads, d_k = ____": 64,
    "What is the scaling factor in attention when d_k = 64?": 8,
    "If the key dimension is 64, by what value do we scale the dot products?": 8,
    "How many weights are in a multi-head attention block with embedding dim 256 and 4 heads, ignoring biases?": 4 * 256**2,
    "How many parameters does the FFN 512->2048->512 have?": ffn(512, 2048),
    "Calculate the parameters of a feed-forward layer with hidden dimension 3072 and model dimension 768 without biases.": (
        2 * 768 * 3072
    ),
    "How many parameters are in one transformer encoder layer with d_model=512, 8 heads, d_ff=2048?": layer(512, 2048),
    "How many parameters would a 24-layer encoder with hidden size 1024 and FFN size 4096 have?": 24 * layer(1024, 4096),
    "How many parameters are in a token embedding table of 30,000 words and 512 dimensions?": 30_000 * 512,
    "How many parameters does a learned positional embedding have for max length 512 and hidden size 768?": 512 * 768,
    "How many parameters does the pooler have with hidden size 768?": 768 * 769,
    "How many parameters does a linear classifier on top of 768-dimensional CLS vector with 10 classes have?": 7690,
    "How many attention scores are computed for a sequence of 100 tokens in one head?": 10_000,
    "What is d_ff if d_model = 512 and the expansion factor is 4?": 2048,
    "How many patches of size 16x16 fit in a 224x224 image?": 196,
    "A 224×224 image is split into 16×16 patches. How many tokens enter the transformer including the CLS token?": 197,
    "What is the dimension of a flattened 16x16 RGB patch?": 768,
    "How many parameters does the patch embedding have with patch size 16, 3 channels and hidden size 768?": 768 * 768 + 768,
    "Compute the positional encoding at position 2, dimension 1 with d_model = 4.": math.cos(2),
    "How many multiplications are needed to compute QK^T with 10 tokens and d_k=64?": 6400,
    "How much memory does the attention matrix need for a sequence of 4096 tokens with 12 heads in fp16?": 12 * 4096**2 * 2,
    "How much GPU memory do you need to train a 340M parameter model with Adam in fp32?": 16 * 340_000_000,
    "How many bytes are needed to store 110 million fp32 parameters?": 440_000_000,
    "How many parameters does weight tying save for a vocabulary of 32000 and d_model=512?": 32_000 * 512,
    "How many learnable parameters do residual connections add?": 0,
    "updates per epoch with 10000 rows and batch 32": 313,
    "With 12 heads and head dimension 64, what is the model dimension?": 768,
    "How many parameters has an encoder with 6 layers, d_model=512, d_ff=2048 and a vocabulary of 37000?": (
        6 * layer(512, 2048) + 37_000 * 512
    ),
    "How many parameters do the 6 encoder layers have with d_model=512, d_ff=2048 and a vocabulary of 37000?": (
        6 * layer(512, 2048)
    ),
    "An encoder with 4 layers, hidden size 256, 4 heads, d_ff 1024, vocab size 10000 and 128 positions: total parameters?": (
        4 * layer(256, 1024) + 10_128 * 256
    ),
    "How many parameters does a linear layer mapping 768 to 3072 with bias have?": 768 * 3072 + 3072,
    "How many patches does ViT-B/16 have for a 384x384 image?": 576,
    "If the sequence length doubles from 512 to 1024, by what factor does the memory of the attention matrix grow?": 4,
    "How many tokens can BERT process at once?": 512,
    "What is the dimensionality of the [CLS] vector in BERT-large?": 1024,
    "How many parameters are added by a classifier with 3 labels on top of BERT-base?": 3 * 769,
    "How many optimizer states does Adam store in BERT-base?": 2 * 109_482_240,
}

SHAPES = {
    "If d_model = 768 and there are 12 heads, what are the dimensions of W_Q, W_K and W_V per head?": (768, 64),
    "What is the shape of the output of the softmax in self-attention for 10 tokens?": (10, 10),
    "What is the shape of the embedding matrix with vocab size 10000 and embedding dimension 300?": (10_000, 300),
    "Given a sequence of length 10 and d_k = 64, what is the shape of QK^T?": (10, 10),
    "What is the shape of the attention matrix for a sequence of 128 tokens?": (128, 128),
    "What is the shape of the attention scores with batch size 32, 8 heads and sequence length 100?": (32, 8, 100, 100),
    "The input tensor has shape (32, 50, 256) and there are 8 heads. What is the shape of the attention scores?": (32, 8, 50, 50),
    "For X with shape (10, 512), what is the shape of the output of the multi-head attention?": (10, 512),
    "What are the dimensions of the query matrix W_i^Q when d_model = 512 and h = 8?": (512, 64),
}


@pytest.mark.parametrize(("question", "value"), NUMBERS.items())
def test_a_question_that_says_its_sizes_needs_no_spec(question, value):
    assert ask(question).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("question", "shape"), SHAPES.items())
def test_shapes_of_what_a_question_says(question, shape):
    found = ask(question)
    assert tuple(size for size in found.value if size != 1) == shape


def test_torch_has_as_many_parameters_as_its_modules_written_in_a_question():
    nn = pytest.importorskip("torch").nn
    modules = {
        "nn.LayerNorm(768)": nn.LayerNorm(768),
        "nn.MultiheadAttention(512, 8)": nn.MultiheadAttention(512, 8),
        "nn.MultiheadAttention(embed_dim=64, num_heads=4, bias=False)": nn.MultiheadAttention(64, 4, bias=False),
        "nn.TransformerEncoderLayer(d_model=768, nhead=12)": nn.TransformerEncoderLayer(768, 12),
        "nn.TransformerEncoderLayer(256, 4, dim_feedforward=512)": nn.TransformerEncoderLayer(256, 4, 512),
        "nn.Linear(768, 3072)": nn.Linear(768, 3072),
        "nn.Linear(512, 512, bias=False)": nn.Linear(512, 512, bias=False),
        "nn.Embedding(3000, 768)": nn.Embedding(3000, 768),
    }
    for written, module in modules.items():
        assert ask(f"How many parameters does {written} have?").value == sum(p.numel() for p in module.parameters()), written


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many parameters does an encoder with d_model=512 have?", "leaves open layers"),
        ("What is d_k for d_model = 512?", "leaves open heads"),
        ("What is the shape of the attention matrix with 8 heads?", "leaves open t"),
        ("How many parameters does an embedding layer with hidden size 768 have?", "leaves open vocab"),
        ("How many parameters does the FFN have?", "which encoder\\?"),
        ("How many parameters does ViT-L/14 have?", "not known here"),
        ("How many parameters does T5-base have?", "its encoder alone"),
    ],
)
def test_what_matters_and_is_not_said_is_asked_for(question, missing):
    with pytest.raises(GlassformerError, match=missing) as refused:
        ask(question)
    assert "\n" not in str(refused.value)


def test_what_is_usual_is_taken_and_said():
    found = ask("How many parameters does an encoder layer with d_model=512 and 8 heads have?")
    assert found.value == layer(512, 2048)
    assert found.assumed == ("d_ff = 4 · d_model = 2048",)
    assert "as nothing else is said" in found.convention
    assert ask("How many parameters does an encoder layer with d_model=512 and d_ff=1024 have?").assumed == ()


def test_a_family_is_answered_for_its_base_with_the_others_beside_it():
    found = ask("What is the vocabulary size of BERT?")
    assert (found.value, found.asked.label) == (30_522, "bert-base")
    assert {other.convention: other.value for other in found.others}["bert-base-cased"] == 28_996
    assert "as no other is named" in found.convention


def test_no_claim_about_a_family_is_called_wrong():
    assert check("How many layers does BERT have?", None, "12").verdict == "right"
    assert check("How many layers does BERT have?", None, "24").convention == "bert-large"
    with pytest.raises(GlassformerError, match="leaves open which encoder"):
        check("How many layers does BERT have?", None, "13")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What share of a transformer layer's parameters does the FFN hold?", 2 / 3),
        ("What fraction of the parameters of one layer is in the attention?", 1 / 3),
        ("What is the ratio of FFN parameters to attention parameters when d_ff = 4 d_model?", 2),
        ("By what factor do the parameters of the attention grow if d_model doubles?", 4),
    ],
)
def test_how_parts_compare_is_told_without_sizes_by_their_matrices(question, value):
    found = ask(question)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.convention.startswith("matrices alone, the same at any width")
    assert not any(line.numbers for line in found.lines)  # the width is made up


def test_a_count_in_terms_of_the_width_is_a_formula():
    found = ask("How many parameters does an encoder block have in terms of d_model?")
    assert found.convention.startswith("12 · d² + 13 · d, for d_model = d and d_ff = 4 · d")
    for width in (64, 320):
        assert 12 * width**2 + 13 * width == layer(width, 4 * width)


def test_the_biases_of_the_papers_formulas_are_a_convention_where_no_encoder_is_named():
    width = 320
    question = f"How many parameters does an encoder layer with d_model = {width} have?"
    claim = 12 * width**2 + 5 * width  # b_1 and b_2, and no other bias or norm
    assert check(question, None, str(claim)).convention == "no biases in the attention, as in the paper's formulas, without norms"
    assert check("parameters of one layer", request("layer", d_model=width, heads=5), str(claim)).verdict == "wrong"


def test_a_bert_of_ones_own_is_a_bert():
    question = (
        "Suppose you train a BERT model with 8 layers, hidden size 768, 8 attention heads and a vocabulary of size 40k. The "
        "feed-forward dimension is 3072. How many parameters does the model have? You can ignore the bias terms."
    )
    assert ask(question).value == 88_353_792  # 88,424,448 less the biases of projections and pooler
    assert check(question, None, "87,737,856").verdict == "convention"


def test_a_cause_that_hangs_on_a_size_nobody_said_is_not_named():
    found = check("How many parameters does a LayerNorm with 768 features have?", None, "768")
    assert [finding.codes for finding in found.findings] == [("layernorm_undercounted",)]


@pytest.mark.parametrize("value", [24, 36, 24 * 24, 8, 11])
def test_no_made_up_size_is_ever_a_right_answer(value):
    assert check("How many parameters does a LayerNorm with 768 features have?", None, str(value)).verdict == "wrong"


@pytest.mark.parametrize("question", [*NUMBERS, *SHAPES])
def test_the_right_answer_is_never_called_wrong(question):
    value = ask(question).value
    claim = (
        " x ".join(map(str, value)) if isinstance(value, tuple) else f"{value:.6g}" if isinstance(value, float) else str(value)
    )
    assert check(question, None, claim).right


def test_a_width_and_that_of_a_head_are_one_head_or_as_many_as_fill_it():
    said = "d_model = 96, d_k = 24 and 10 tokens. "
    assert ask(said + "How many entries does the attention matrix have?").value == 100
    assert ask(said + "How many parameters does W_Q have?").value == 96 * 24
    for question, claims in {
        "How many entries does the attention matrix have?": ("100", "400"),
        "How many parameters does W_Q have?": ("2304", "9216"),
        "What is the shape of Q?": ("10 x 24", "10 x 96", "1 x 4 x 10 x 24"),
    }.items():
        assert all(check(said + question, None, claim).right for claim in claims)
    assert not check(said + "How many entries does the attention matrix have?", None, "300").right
    assert ask("d_model = 96, d_k = 24. How many parameters does multi-head attention have?").value == attention(96)


def test_a_published_count_may_have_the_heads_of_pretraining():
    found = check("How many parameters does BERT-large have?", None, "336M")
    assert (found.verdict, found.convention) == ("convention", "with the heads of pre-training")
    assert not check("How many parameters does BERT-large have?", None, "337M").right


def test_a_size_of_nothing_is_one_line():
    with pytest.raises(GlassformerError, match="states d_k=0: a size is at least 1"):
        ask("How many parameters does nn.LayerNorm(1024) have with d_k = 0?")
