"""One size of an encoder, and what people mistake it for."""

import math

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request_from_words

CLAIMS = [line.split("|") for line in """
scaling factor|bert-base|8|right
scaling factor|bert-base|√64|right
scaling factor|bert-base|1/8|convention
scaling factor|bert-base|0.125|convention
scaling factor|bert-base|27.7|sqrt_dmodel
scaling factor|bert-base|1/sqrt(768)|sqrt_dmodel
scaling factor|bert-base|64|divided_by_dk
scaling factor|bert-base t=25|5|sqrt_length
scaling factor|layer d_model=64 heads=2 d_k=10|3.16|right
scaling factor|deberta-v3-small|√192|right
scaling factor|deberta-v3-small relative_terms=content_to_position|√128|right
mel bins|whisper-large-v3|128|right
frames|whisper-tiny|3000|right
relative position buckets|deberta-v3-base|512|right
params|whisper-tiny|7632384|convention
trainable parameters|whisper-tiny|7632384|right
trainable parameters|whisper-tiny|8208384|left_out_counted
trainable parameters of positions|whisper-tiny|0|right
trainable parameters|bert-base|109482240|right
d_ff|t5-v1.1-base|3072|ffn_width_assumed_4d
d_k|bert-base|768|heads_times_full_width
patch dimension|vit-b16|256|vit_tokens_or_patch
share of params in embeddings|bert-base|21.8%|right
share of params in embeddings|bert-base|22 percent|right
percentage of parameters in the embeddings|bert-base|0.22|right
percentage of parameters in the embeddings|bert-base|50%|
params of W_Q per head|bert-base|589824|one_head_vs_all_heads
params per head|bert-base|147456|convention
params per head|bert-base|196608|convention
params in one layer|encoder|18914304|stack_for_one_layer
params without biases|attention d_model=512 heads=8|1050624|left_out_counted
params without biases|attention d_model=512 heads=8|786432|no_output_projection
params of positions|transformer-base positions=512|262144|sinusoidal_counted
shape of W_Q for one head|bert-base|d × d|one_head_vs_all_heads
shape of W_O|layer d_model=64 heads=2 d_k=32 d_v=16|64x64|dv_dk_mixed
shape of concatenated heads|transformer-base t=10|10x64|one_head_vs_all_heads
shape of q in one head|bert-base t=10|10x768|one_head_vs_all_heads
""".strip().splitlines()]  # fmt: skip


@pytest.mark.parametrize(("question", "spec", "claim", "wanted"), CLAIMS)
def test_a_claim_is_judged_and_its_mistake_named(question, spec, claim, wanted):
    found = check(question, request_from_words(spec.split()), claim)
    codes = [code for finding in found.findings for code in finding.codes]
    assert codes == [] if wanted in ("right", "convention", "") else wanted in codes
    assert found.verdict == (wanted if wanted in ("right", "convention") else "wrong")


def test_a_root_that_does_not_come_out_is_a_decimal():
    found = ask("scaling factor", request_from_words(("layer", "d_model=64", "heads=2", "d_k=10")))
    assert found.value == math.sqrt(10)
    assert found.to_dict()["value"] == pytest.approx(3.1623, abs=1e-4)


def test_an_encoder_that_does_not_scale_says_so():
    assert ask("scaling factor", request_from_words(("t5-base",))).value == 1


UPDATES = [
    ("updates per epoch with 10000 rows and batch 32", "bert-base", 313),
    ("updates per epoch with 10000 rows and batch 32, drop_last", "bert-base", 312),
    ("steps per epoch with 1000 rows", "bert-base batch=32", 32),
    ("how many steps for 10 epochs with 1000 rows, batch 10, gradient accumulation 2", "bert-base", 500),
    ("iterations in 3 epochs with 10000 examples, batch size 32", "bert-base", 939),
]


@pytest.mark.parametrize(("question", "spec", "value"), UPDATES)
def test_updates_of_an_epoch(question, spec, value):
    assert ask(question, request_from_words(spec.split())).value == value


def test_a_last_batch_that_is_dropped_is_a_convention():
    asked = request_from_words(("bert-base",))
    verdicts = [check("updates per epoch with 10000 rows and batch 32", asked, claim).verdict for claim in ("313", "312", "320")]
    assert verdicts == ["right", "convention", "wrong"]


@pytest.mark.parametrize(
    ("question", "spec", "message"),
    [
        ("updates per epoch with 1000 rows", "bert-base", "how many rows make one update"),
        ("updates per epoch with 1000 rows and batch 10", "bert-base batch=8", "states batch=10, and the spec has batch=8"),
    ],
)
def test_updates_need_a_batch(question, spec, message):
    with pytest.raises(GlassformerError, match=message):
        ask(question, request_from_words(spec.split()))


@pytest.mark.parametrize(
    ("question", "said"), [("frames", "reads no sound"), ("relative buckets", "no table of relative"), ("mels", "no mels")]
)
def test_what_an_encoder_has_not_is_no_number(question, said):
    with pytest.raises(GlassformerError, match=said):
        ask(question, request_from_words(["bert-base"]))
