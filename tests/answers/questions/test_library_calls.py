"""Code and arrows in a question are read aloud; what is not certain stays code."""

import pytest

from glassformer.answers.questions.library_calls import in_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("nn.layernorm(768)", "one layernorm with d_model = 768"),
        ("nn.multiheadattention(512, 8)", "multi-head attention with d_model = 512, heads = 8"),
        ("nn.linear(768, 3072, bias=false)", "first linear layer with d_model = 768, d_ff = 3072 without biases"),
        ("nn.embedding(30522, 768)", "token embeddings with vocabulary size = 30522, d_model = 768"),
        ("ffn 512 -> 2048 -> 512", "ffn with d_model = 512, d_ff = 2048"),
        ("a linear layer from 768 to 3072", "a first linear layer with d_model = 768, d_ff = 3072"),
        ("n_embd=96, n_head = 4, n_layer: 3", "d_model = 96, heads = 4, number of layers = 3"),
        ("vit(image_size=64, num_classes=10)", "vit(image size = 64, 10 classes)"),
        ("height=64, width=64", "image size = 64"),
        ("images of shape (4, 3, 64, 64)", "images with image size = 64, batch size = 4"),
        (
            "queries have shape (2, 4, 9, 24) and keys have shape (2, 4, 9, 24)",
            "with batch size = 2, heads = 4, sequence length = 9, d_k = 24",
        ),
        ("q @ k.transpose(-2, -1)", "qk^t"),
        ("the ffn has two matrices 96×200 and 200×96", "the ffn has with d_model = 96, d_ff = 200"),
        ("the ffn widens to 200 dimensions and then back to 96", "the ffn widens with d_ff = 200, d_model = 96"),
        ("input x ∈ r^{9×96}", "input with sequence length = 9, d_model = 96"),
        ("input of shape (2, 10, 512)", "input with batch size = 2, sequence length = 10, d_model = 512"),
    ],
)
def test_code_in_words(code, words):
    assert " ".join(in_words(code).split()) == words


@pytest.mark.parametrize(
    "code",
    [
        "nn.linear(in, out)",
        "nn.multiheadattention(512, 8, kdim=3)",
        "512 -> 2048",
        "f(768)",
        "height=64, width=32",
        "an mlp with input dimension 96 and output dimension 24",
        "two matrices 96×200 and 200×90",
    ],
)
def test_what_is_not_known_stays(code):
    assert in_words(code) == code
