"""The fast model of a decoder and its program compute the same, and a later token changes no earlier one."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest, inputs_of, seeded
from strategies import decoder_specs

from glassformer.errors import GlassformerError
from glassformer.model import Decoder
from glassformer.model.fast import apply
from glassformer.spec import DecoderSpec, EncoderSpec

CLOSE, SPREAD = 1e-10, 1e-3
GEMMA = DecoderSpec(
    vocab=20, d_model=16, heads=4, kv_heads=2, d_k=6, d_ff=24, layers=3, position="rotary", norm="pre", norm_kind="rms",
    norm_offset=True, output_norm=True, embedding_scale="sqrt_d_model", activation="geglu_tanh", biases=(), score_cap=2.0,
    logit_cap=3.0, score_divisor=5, window=4, global_every=2, global_offset=1, query_key_norm="head", dropout=0.0,
)  # fmt: skip


def gap(ours, theirs):
    """The largest difference, as a part of the largest number: without norms numbers grow."""
    return furthest(ours, theirs) / max(1.0, float(torch.as_tensor(theirs).abs().max()))


def assert_same(case):
    output, run, spec = case.output, case.run, case.spec
    for number, hidden in enumerate(output.hidden):
        assert gap(hidden, run.hidden[number]) < CLOSE, f"hidden {number}"
    for layer in range(spec.layers):
        assert gap(output.weights[layer], run[f"layers.{layer}.attention.weights"]) < CLOSE, f"weights {layer}"
    assert gap(output.logits if spec.next_token else output.states, run.output) < CLOSE, "output"


@settings(max_examples=60)
@given(spec=decoder_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_decoder_computes_what_its_program_computes(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    assume(case.smallest_spread > SPREAD)
    assert_same(case)


@pytest.mark.slow
@settings(max_examples=2000)
@given(spec=decoder_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_two_thousand_decoders_compute_what_their_programs_compute(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    assume(case.smallest_spread > SPREAD)
    assert_same(case)


@settings(max_examples=30)
@given(spec=decoder_specs(), seed=st.integers(0, 9))
def test_a_decoder_made_fast_computes_the_same(spec, seed):
    model, tokens = seeded(spec, seed), inputs_of(spec, seed)
    plain = model(tokens).states
    assert gap(apply(model)(tokens).states, plain.detach()) < CLOSE


@pytest.mark.parametrize("field", ["score_cap", "logit_cap", "norm_offset", "score_divisor", "output_norm", "query_key_norm"])
def test_no_field_of_a_decoder_is_left_out(field):
    """A model without it, on the same numbers, is found out."""
    neutral = {"norm_offset": False, "output_norm": False, "query_key_norm": "none"}.get(field)
    case = both_ways(GEMMA)
    model = Decoder(GEMMA.replace(**{field: neutral}), dtype=torch.float64, fresh=False)
    ours = dict(model.ledger())
    model.load_ledger({name: view for name, view in case.encoder.ledger() if name in ours})
    case.encoder = model.eval()
    with pytest.raises(AssertionError):
        assert_same(case)


def test_a_later_token_changes_no_earlier_logits():
    model, tokens = seeded(GEMMA), inputs_of(GEMMA)
    other = tokens.clone()
    other[:, 3] = (other[:, 3] + 1) % 20
    before, after = model(tokens).logits, model(other).logits
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.equal(before[:, 3:], after[:, 3:])


def test_every_parameter_gets_a_gradient():
    model = Decoder(GEMMA, dtype=torch.float64)
    model(inputs_of(GEMMA)).logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_fresh_norm_changes_nothing_at_first():
    gammas = {float(view.unique()) for name, view in Decoder(GEMMA).ledger() if name.endswith("gamma")}
    assert gammas == {0.0}
    assert {
        float(view.unique()) for name, view in Decoder(GEMMA.replace(norm_offset=False)).ledger() if name.endswith("gamma")
    } == {1.0}


def test_an_encoders_spec_makes_no_decoder():
    with pytest.raises(GlassformerError, match="a decoder is built from a decoder's spec"):
        Decoder(EncoderSpec(vocab=5))
