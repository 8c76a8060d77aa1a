"""A small block after each layer: the model beside the float64 run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest

from glassformer.errors import GlassformerError
from glassformer.insight.hooks import step_names
from glassformer.model.fast import apply
from glassformer.spec import EncoderSpec

SPEC = EncoderSpec(vocab=20, positions=9, position="learned", d_model=12, heads=3, d_ff=10, layers=2, norm="pre", head="tag")


@settings(max_examples=30)
@given(width=st.integers(1, 6), gated=st.booleans(), biased=st.booleans(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(width, gated, biased, padded, seed):
    biases = SPEC.biases if biased else ("norm", "classes")
    spec = SPEC.replace(layer_adapter=width, activation="geglu" if gated else "gelu", biases=biases)
    case = both_ways(spec, padded=padded, seed=seed)
    assert furthest(case.output.logits, case.run["head.logits"]) < 1e-10
    assert furthest(apply(case.encoder)(**case.inputs).logits, case.output.logits) < 1e-10


def test_hooks_refuse_it_in_one_line():
    with pytest.raises(GlassformerError, match="hooks do not support layer_adapter=4 yet"):
        step_names(SPEC.replace(layer_adapter=4))
