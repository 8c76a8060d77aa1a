"""Attention that adds the values of neighbours: the model beside the float64 run, and texts of several lengths."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest

from glassformer.errors import GlassformerError
from glassformer.insight.hooks import step_names
from glassformer.model import Encoder, encode_packed
from glassformer.model.fast import apply
from glassformer.spec import EncoderSpec

CLOSE = 1e-10
SPEC = EncoderSpec(vocab=20, positions=9, position="learned", d_model=12, heads=3, d_ff=10, layers=2, value_kernel=3, head="tag")


@settings(max_examples=30)
@given(kernel=st.sampled_from([1, 3, 5, 17]), d_v=st.sampled_from([None, 5]), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(kernel, d_v, padded, seed):
    spec = SPEC.replace(value_kernel=kernel, d_v=d_v)
    case = both_ways(spec, padded=padded, seed=seed)
    assert furthest(case.output.logits, case.run["head.logits"]) < CLOSE
    assert furthest(apply(case.encoder)(**case.inputs).logits, case.output.logits) < CLOSE


def test_texts_of_several_lengths_are_what_each_is_alone():
    encoder = apply(Encoder(SPEC, dtype="float64").eval())
    texts = [torch.randint(0, 20, (length,)) for length in (3, 7, 3, 5, 1)]
    for found, text in zip(encode_packed(encoder, texts), texts, strict=True):
        assert furthest(found, encoder(text[None]).states[0]) < CLOSE


def test_landmarks_and_hooks_are_refused_in_one_line():
    with pytest.raises(GlassformerError, match="landmarks=4 is not implemented in the model: it can be counted, not built"):
        Encoder(SPEC.replace(landmarks=4))
    with pytest.raises(GlassformerError, match="hooks do not support value_kernel=3 yet"):
        step_names(SPEC)
