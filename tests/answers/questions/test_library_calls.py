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
        ("input of shape (2, 10, 512)", "input with batch size = 2, sequence length = 10, d_model = 512"),
    ],
)
def test_code_in_words(code, words):
    assert " ".join(in_words(code).split()) == words


@pytest.mark.parametrize("code", ["nn.linear(in, out)", "nn.multiheadattention(512, 8, kdim=3)", "512 -> 2048", "f(768)"])
def test_what_is_not_known_stays(code):
    assert in_words(code) == code
