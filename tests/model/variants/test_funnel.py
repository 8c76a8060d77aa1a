"""Layers between which the sequence is pooled: the model beside the float64 run."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import float64_encoder, furthest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight.silencing import PartialPass
from glassformer.model import Encoder, encode_packed
from glassformer.model.fast import apply
from glassformer.numbers import run
from glassformer.numbers.seeded import legible_weights
from glassformer.program import build
from glassformer.spec import EncoderSpec

CLOSE = 1e-10
SPEC = EncoderSpec(
    vocab=20, segments=3, embedding_norm=True, d_model=12, heads=3, d_ff=10, funnel=(2, 1), funnel_repeats=(1, 1), layers=4,
    biases=("k", "v", "output", "ffn", "ffn_output", "norm", "head", "classes", "decoder"), head="tag",
)  # fmt: skip


@st.composite
def pooled_specs(draw):
    """Small encoders that pool, with and without layers at full length."""
    blocks = tuple(draw(st.lists(st.integers(1, 2), min_size=1, max_size=3)))
    repeats = tuple(draw(st.integers(1, 2)) for _ in blocks)
    passes = sum(size * times for size, times in zip(blocks, repeats, strict=True))
    return SPEC.replace(funnel=blocks, funnel_repeats=repeats, layers=passes + draw(st.integers(0, 2)))


@settings(max_examples=40, deadline=None)
@given(spec=pooled_specs(), t=st.integers(1, 12), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(spec, t, padded, seed):
    torch.manual_seed(seed)
    tokens, segments = torch.randint(0, 20, (2, t)), torch.randint(0, 3, (2, t))
    beside = {"segments": segments} | ({"attend": torch.arange(t) < torch.tensor([[t], [max(1, t - 2)]])} if padded else {})
    program = build(spec, batch=2, t=t, padded=padded)
    weights = legible_weights(program, seed)
    wanted = run(program, weights, {"tokens": tokens.numpy(), **{name: value.numpy() for name, value in beside.items()}})
    encoder = float64_encoder(spec, weights)
    for output in (encoder(tokens, **beside, return_hidden=True), apply(encoder)(tokens, **beside, return_hidden=True)):
        assert len(output.hidden) == len(wanted.hidden)
        for ours, theirs in zip(output.hidden, wanted.hidden, strict=True):
            assert furthest(ours, theirs) < CLOSE
        assert furthest(output.logits, wanted["head.logits"]) < CLOSE


def test_texts_of_several_lengths_are_what_each_is_alone():
    encoder = apply(Encoder(SPEC, dtype="float64").eval())
    texts = [torch.randint(0, 20, (length,)) for length in (3, 7, 3, 5, 1)]
    for found, text in zip(encode_packed(encoder, texts), texts, strict=True):
        assert furthest(found, encoder(text[None]).states[0]) < CLOSE


def test_weights_of_pooled_layers_are_refused_in_one_line():
    with pytest.raises(GlassformerError, match=r"return_weights is not implemented with funnel=2,1\. Leave it out\."):
        Encoder(SPEC)(torch.ones(1, 4, dtype=torch.int64), return_weights=[0])


def test_passes_that_start_at_any_layer_are_refused_in_one_line():
    with pytest.raises(GlassformerError, match="this needs layers that read sequences of one length"):
        PartialPass(Encoder(SPEC))


def test_the_published_sizes_have_the_parameters_of_their_files():
    encoder = Encoder(gf.spec("funnel-small"), device="meta")
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 130_973_184
