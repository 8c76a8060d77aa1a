"""Layers with a Fourier transform in place of attention: the model against the float64 run, and texts of several lengths."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest
from strategies import specs

import glassformer as gf
from glassformer.encoding.engines.choice import choose
from glassformer.errors import GlassformerError
from glassformer.insight.hooks import step_names, tapped
from glassformer.model import Encoder, encode_packed
from glassformer.model.checkpoints.onnx_export import export_onnx
from glassformer.model.fast import apply
from glassformer.spec import EncoderSpec
from glassformer.training.starting import check_kind

CLOSE = 1e-10
FNET = EncoderSpec(
    vocab=50, segments=2, positions=16, position="learned", embedding_norm=True, embedding_size=12, d_model=12, d_ff=20, layers=2,
    mixing="fourier", activation="gelu_tanh", eps=1e-12, pooler="dense", head="classify", classes=3,
)  # fmt: skip
PLACED = ("none", "learned", "sinusoidal", "sinusoidal_halves", "sinusoidal_2d_stored", "convolution")


@st.composite
def fourier_specs(draw):
    """Any small encoder whose layers mix by a Fourier transform."""
    spec = draw(specs())
    fields = {"window": None, "global_every": None, "global_attention": "none", "attend": "all", "groups": ()}
    fields |= {"contact_head": False, "complete_up_to": None, "beside_kernel": None, "relative_gate": False}
    fields |= {"pooler": "none" if spec.pooler == "attention" else spec.pooler}
    fields |= {"position": spec.position if spec.position in PLACED else "none"}
    return spec.replace(mixing="fourier", rotary_values=False, **fields)


@settings(max_examples=60)
@given(spec=fourier_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    if case.smallest_spread < 1e-3:
        return
    seen = {}
    names = [name for name in step_names(spec) if name in case.run]
    hooks = {name: lambda value, name=name: seen.update({name: value}) for name in names}
    output = tapped(case.encoder, hooks)(**case.inputs)
    plain = case.encoder(**case.inputs, return_hidden=True)
    assert furthest(output.states, plain.states) < CLOSE
    for ours, theirs in zip(plain.hidden, case.run.hidden, strict=True):
        assert furthest(ours, torch.as_tensor(theirs)) < CLOSE * max(1.0, float(abs(theirs).max()))
    mixed = [name for name in names if name.endswith("mixing.out")]
    assert len(mixed) == spec.layers
    for name in mixed:
        wanted = torch.as_tensor(case.run[name])
        assert furthest(seen[name], wanted) < CLOSE * max(1.0, float(wanted.abs().max()))


@pytest.mark.parametrize("fast", [False, True])
def test_texts_of_several_lengths_equal_each_alone(fast):
    torch.manual_seed(0)
    encoder = Encoder(FNET, dtype="float64").eval()
    texts = [torch.randint(0, 50, (length,)) for length in (3, 7, 3, 5, 7, 1)]
    alone = [encoder(text[None]).logits[0] for text in texts]
    for found, wanted in zip(encode_packed(apply(encoder) if fast else encoder, texts, part="logits"), alone, strict=True):
        assert furthest(found, wanted) < CLOSE


def test_padding_changes_a_text_in_the_same_way_in_a_fast_encoder():
    torch.manual_seed(0)
    encoder = Encoder(FNET, dtype="float64").eval()
    tokens = torch.randint(1, 50, (2, 6))
    attend = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    plain = encoder(tokens, attend)
    assert furthest(plain.pooled[1], encoder(tokens[1:, :4]).pooled[0]) > 1e-6
    fast = apply(encoder)(tokens, attend, only_logits=True)
    assert furthest(fast.logits, plain.logits) < CLOSE


def test_a_bfloat16_model_stays_near_the_float32_one():
    torch.manual_seed(0)
    encoder = Encoder(FNET).eval()
    tokens = torch.randint(0, 50, (2, 6))
    wanted = encoder(tokens).pooled
    found = encoder.to(torch.bfloat16)(tokens).pooled
    assert found.dtype == torch.bfloat16
    assert furthest(found.float(), wanted) < 0.1


def test_what_is_not_implemented_is_refused_in_one_line(tmp_path):
    encoder = Encoder(FNET)
    with pytest.raises(GlassformerError, match="mixing=fourier has no attention weights"):
        encoder(torch.ones(1, 3, dtype=torch.int64), return_weights=[0])
    with pytest.raises(GlassformerError, match="mixing=fourier is not implemented in ONNX graphs"):
        export_onnx(encoder, tmp_path / "model.onnx")
    with pytest.raises(GlassformerError, match="mixing=fourier is not implemented in training") as refusal:
        check_kind(FNET, "fnet", None)
    assert "\n" not in str(refusal.value)
    with pytest.raises(GlassformerError, match="this encoder has no attention: mixing=fourier"):
        gf.run(FNET, t=3).attention()


def test_texts_are_encoded_with_torch_where_graphs_would_pad(tmp_path):
    class Loaded:
        spec, encoder = FNET, Encoder(FNET)

    assert choose("auto", Loaded, "pooled", tmp_path / "engine.onnx", 1).engine == "torch"
    with pytest.raises(GlassformerError, match="--engine onnx: mixing=fourier does not support padding"):
        choose("onnx", Loaded, "pooled", tmp_path / "engine.onnx", 1)
