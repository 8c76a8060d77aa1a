"""Bytes: of weights, of a tensor, of all that training keeps; and the units that people mix up."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request_from_words

PARAMETERS = 109_482_240

BYTES = [
    ("How much memory do the parameters need in fp32?", "bert-base", 4 * PARAMETERS),
    ("memory in half precision", "bert-base", 2 * PARAMETERS),
    ("memory in int8", "bert-base", PARAMETERS),
    ("memory of one layer", "bert-base", 4 * 7_087_872),
    ("memory of the embeddings in bf16", "bert-base", 2 * 23_837_184),
    ("How many bytes does the attention matrix need in fp16?", "bert-base t=512", 2 * 12 * 512 * 512),
    ("memory of the attention matrices for all heads in fp16", "bert-base batch=32 t=512", 2 * 32 * 12 * 512 * 512),
    ("How many bytes do the attention scores of all layers take?", "bert-base batch=8 t=512", 12 * 8 * 4 * 12 * 512 * 512),
    ("memory of the attention scores per head", "bert-base t=512", 4 * 512 * 512),
    ("memory for training with AdamW", "bert-base", 16 * PARAMETERS),
    ("memory of gradients", "bert-base", 4 * PARAMETERS),
    ("Adam optimizer states memory", "bert-base", 8 * PARAMETERS),
    ("kv cache in fp16", "bert-base t=512", 2 * 2 * 12 * 512 * 768),
    ("size of the model in MB", "bert-base", 4 * PARAMETERS),
]  # fmt: skip


@pytest.mark.parametrize(("question", "spec", "value"), BYTES)
def test_bytes(question, spec, value):
    found = ask(question, request_from_words(spec.split()))
    assert (found.value, found.unit) == (value, "bytes")


CLAIMS = [line.split("|") for line in """
memory in MB|bert-base|438|right
memory in MB|bert-base|418|bytes_and_units
bytes|bert-base|418 MiB|right
bytes|bert-base|418 MB|bytes_and_units
bytes|bert-base|109 MB|bytes_and_units
bytes|bert-base|440 megabytes|right
bytes of attention matrix|bert-base batch=32 t=512|384 MiB|right
bytes of attention matrix|bert-base batch=32 t=512|384 MB|bytes_and_units
bytes of attention matrix in fp16|bert-base batch=32 t=512|384 MiB|bytes_and_units
bytes of attention matrix|bert-base batch=32 t=512|32 MiB|one_head_vs_all_heads
bytes of attention matrix|bert-base batch=32 t=512|25769803776|bytes_and_units
memory for training with Adam|bert-base|1.75 GB|right
memory for training with Adam|bert-base|438 MB|training_state_forgotten
memory for training with Adam|bert-base|876 MB|training_state_forgotten
memory for training with Adam|bert-base|1.3 GB|training_state_forgotten
kv cache in fp16|bert-base t=512|18.9 MB|right
kv cache in fp16|bert-base t=512|1.57 MB|one_layer_only
""".strip().splitlines()]  # fmt: skip


@pytest.mark.parametrize(("question", "spec", "claim", "wanted"), CLAIMS)
def test_a_claim_about_bytes_is_judged(question, spec, claim, wanted):
    found = check(question, request_from_words(spec.split()), claim)
    assert [code for finding in found.findings for code in finding.codes] == ([] if wanted == "right" else [wanted])
    assert found.right == (wanted == "right")


def test_a_narrow_format_and_all_layers_are_right_once_they_are_said():
    asked = request_from_words(("bert-base", "batch=32", "t=512"))
    assert check("bytes of attention matrix", asked, "192 MiB").convention == "bfloat16 or float16"
    assert check("bytes of attention matrix", asked, "4.5 GiB").convention == "in all 12 layers"


def test_activations_have_no_whole_number_format():
    with pytest.raises(GlassformerError, match="activations are counted in fp64, fp32, bf16 or fp16"):
        ask("memory of the activations in int8", request_from_words(("bert-base",)))
