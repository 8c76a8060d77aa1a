"""Tokens on a page: the model beside the float64 run, and boxes that do not fit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast import apply
from glassformer.spec import EncoderSpec

CLOSE = 1e-10
SPEC = EncoderSpec(
    vocab=20, positions=9, position="learned", embedding_norm=True, d_model=12, heads=3, d_ff=10, layers=2, page=15, head="tag",
    classes=3,
)  # fmt: skip


@st.composite
def placed_specs(draw):
    """Small encoders of tokens on a page, with sides that are added or joined, and with scores by how far boxes lie apart."""
    fields = {"page_parts": draw(st.sampled_from([(), (2, 2), (1, 4)])), "beside_picture": draw(st.sampled_from([(), (8, 4, 3)]))}
    if draw(st.booleans()):
        fields |= {"position": draw(st.sampled_from(["relative", "learned_relative"])), "relative_scaled": draw(st.booleans())}
        fields |= {"relative_buckets": 8, "page_relative": draw(st.sampled_from([(), (4, 6), (8, 9)]))}
    return SPEC.replace(**fields)


@settings(max_examples=40)
@given(spec=placed_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    output = case.output
    assert furthest(output.logits, case.run["head.logits"]) < CLOSE
    for layer in range(spec.layers):
        assert furthest(output.weights[layer], case.run[f"layers.{layer}.attention.weights"]) < CLOSE
    assert furthest(apply(case.encoder)(**case.inputs).logits, output.logits) < CLOSE


def test_tokens_without_boxes_lie_at_zero():
    encoder = Encoder(SPEC, dtype="float64").eval()
    tokens = torch.randint(0, 20, (2, 5))
    zeros = torch.zeros(2, 5, 4, dtype=torch.int64)
    assert torch.equal(encoder(tokens).states, encoder(tokens, boxes=zeros).states)
    assert furthest(encoder(tokens, boxes=zeros + 3).states, encoder(tokens).states) > 1e-3


@pytest.mark.parametrize(
    ("boxes", "said"),
    [
        ([[[0, 0, 5, 15]] * 2], r"boxes\[0,0,3\] = 15 is out of range: this encoder has page=15, 0 to 14."),
        (
            [[[6, 0, 5, 4]] * 2],
            r"boxes' widths\[0,0\] = -1 is out of range: the right side is not left of the left one, 0 to 14.",
        ),
        ([[[0, 0, 5, 4]] * 3], r"boxes is \(1, 3\), tokens is \(1, 2\): batch and t must agree."),
        (
            [[[0, 0, 5]] * 2],
            r"boxes must be \(batch, t, 4\), the left, upper, right and lower side of each token, got \(1, 2, 3\).",
        ),
        ([[[0.0, 0, 5, 4]] * 2], r"boxes must be whole numbers \(int64\), got float32."),
    ],
)
def test_boxes_that_do_not_fit_are_refused_in_one_line(boxes, said):
    with pytest.raises(GlassformerError, match=said) as refusal:
        Encoder(SPEC)(torch.ones(1, 2, dtype=torch.int64), boxes=torch.tensor(boxes))
    assert "\n" not in str(refusal.value)


def test_boxes_are_refused_by_a_model_without_a_page():
    with pytest.raises(GlassformerError, match="boxes are given, but this encoder has no page positions"):
        Encoder(SPEC.replace(page=None))(torch.ones(1, 2, dtype=torch.int64), boxes=torch.zeros(1, 2, 4, dtype=torch.int64))
