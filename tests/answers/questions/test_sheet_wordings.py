"""Turns of phrase of exam sheets, each with the number worked out here."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("question", "due"),
    [
        ("With vocabulary 30,000 and d_model 300, what is the size of the embedding matrix?", (30_000, 300)),
        ("How many FLOPs does one token cost in the FFN of one BERT-base layer?", 2 * 2 * 768 * 3072),
        ("A sentence is tokenized into 17 subwords and embedded in 96 dimensions. With 6 heads, state the dimensions of "
            "the query "
            "matrix of one head.", (17, 16)),
        ("You train a ViT on 240x240 RGB images cut into 12x12 patches. How long is the sequence that enters the encoder, "
            "counting "
            "[CLS]?", 20 * 20 + 1),
        ("How many tokens enter the encoder of a ViT for a 160x160 image with 20x20 patches, including the class token?", 65),
        ("How many tokens does a ViT process for a 196x196 image with 14x14 patches, class token included?", 14 * 14 + 1),
        ("How many parameters are in the LayerNorms of an encoder layer of width 208?", 4 * 208),
        ("How many parameters does the patch embedding of a ViT with 8x8 RGB patches and width 192 have?", (3 * 64 + 1) * 192),
        ("A self-attention layer uses 16 query heads but only 4 key/value heads, with d_model 1024 and head size 64. How many "
            "parameters do its four projections have (no bias)?", 2 * 1024**2 + 2 * 1024 * 256),
        ("Give the number of parameters in a linear classification layer that maps a 384-dimensional [CLS] vector to 7 labels.",
            384 * 7 + 7),
        ("How much memory, in MB (10^6 bytes), do the weights of a 66M-parameter model need in fp16?", 132_000_000),
        ("What is the memory footprint in MiB of a 30522 x 768 embedding table stored in float32?", 30522 * 768 * 4),
        ("How many bytes per parameter does training with Adam in fp32 need?", 16),
        ("In a head with d_model=60 and d_k=12, how many parameters do query, key and value have?", 3 * (60 * 12 + 12)),
        ("We stack 8 encoder layers with hidden dimension 224, 7 heads and an MLP ratio of 4. Estimate the parameter count "
            "of the "
            "stack, biases and layer norms included.", 8 * (4 * (224**2 + 224) + 2 * 224 * 896 + 896 + 224 + 4 * 224)),
        ("How many parameters does an encoder layer with d_model=64, 4 heads, d_ff=256 have, including all biases and both "
            "LayerNorms?", 4 * (64 * 64 + 64) + 2 * 64 * 256 + 256 + 64 + 4 * 64),
    ],
)  # fmt: skip
def test_the_sheet_is_understood(question, due):
    assert ask(question).value == due


@pytest.mark.parametrize(
    ("layout", "due", "code"),
    [("tokens stored as columns", (24, 13), "13x24"), ("the column convention", (24, 13), "13x24")],
)
def test_a_layout_that_is_said_is_kept_to(layout, due, code):
    question = f"With {layout}, what shape does K have for 13 tokens and d_k = 24 in one head?"
    assert ask(question).value == due
    found = check(question, None, code)
    assert [finding.codes for finding in found.findings] == [("row_column_convention",)]


def test_without_a_layout_both_are_right():
    question = "What is the shape of X for 9 tokens and d_model 48?"
    assert check(question, None, "48x9").right
    assert not check(f"With tokens as rows, {question[0].lower()}{question[1:]}", None, "48x9").right


@pytest.mark.parametrize(
    ("question", "due"),
    [
        ("How many parameters does a gated FFN (GeGLU) with d=768 and d_ff=1152 without biases have?", 3 * 768 * 1152),
        ("How many parameters does the FFN (with SwiGLU) have for d_model=512 and d_ff=2048?", 3 * 512 * 2048 + 2 * 2048 + 512),
        ("How many parameters does a 6-layer encoder with d=64, 4 heads, d_ff=128 have if all layers share weights?",
            4 * (64 * 64 + 64) + 2 * 64 * 128 + 128 + 64 + 4 * 64),
        ("How many parameters do the token, position and segment embeddings have if V=21,128, max length 512, 2 segments "
            "and d=312?",
            (21128 + 512 + 2) * 312),
    ],
)  # fmt: skip
def test_choices_that_a_question_states_are_counted(question, due):
    assert ask(question).value == due


@pytest.mark.parametrize(
    "question",
    [
        "How many parameters does a non-gated FFN with d=512 and d_ff=2048 have?",
        "How many parameters does an FFN with d=512 and d_ff=2048 have without SwiGLU?",
        "How many parameters does a SwiGLU FFN have for d=512?",
        "How many attention scores are computed if a document is split into 2 segments of 256 tokens each, with 12 heads?",
        "How many parameters does a 6-layer encoder with d=64, 4 heads, d_ff=128 have if no layers are shared?",
        "How many parameters does a feed-forward block of width 2048 have for d_model 512?",
        "How many tokens does a ViT see for a 96x96 image with 16x16 patches, class token not included?",
    ],
)
def test_what_says_something_else_is_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


def test_one_head_in_a_sentence_of_its_own_is_not_what_is_asked_about():
    question = "In one head, d_k=16. How many parameters does multi-head attention have with d_model=64 and 4 heads?"
    assert ask(question).value == 4 * (64 * 64 + 64)


def test_one_layer_before_the_question_is_what_is_asked_about():
    question = "For each layer of a 6-layer encoder with d=64, h=4, d_ff=128, how many parameters are there?"
    assert ask(question).value == 4 * (64 * 64 + 64) + 2 * 64 * 128 + 128 + 64 + 4 * 64


def test_the_gate_that_was_left_out_is_named():
    found = check(
        "How many parameters does a GeGLU feed-forward block have (no biases) for d_model = 320 and d_ff = 800?", None, "512,000"
    )
    assert [finding.what for finding in found.findings] == [("the gate's matrix left out",)]


def test_of_several_questions_the_first_is_answered_and_said_so():
    answer = ask(
        "ModernBERT-base uses local attention in most layers. What is its hidden size, how many layers does it have and "
        "how many heads?"
    )
    assert (answer.value, answer.reading) == (768, "partial")
