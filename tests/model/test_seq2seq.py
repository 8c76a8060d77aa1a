"""The fast model of an encoder-decoder and its program compute the same; torch's own Transformer is the witness."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_cases import furthest
from strategies import decoder_specs
from torch import nn

from glassformer.errors import GlassformerError
from glassformer.model import Seq2Seq
from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec

BATCH, T, U = 3, 5, 4
SIZES = {"d_model": 16, "heads": 4, "d_ff": 24, "layers": 2, "vocab": 20, "position": "sinusoidal", "dropout": 0.0}
INSIDE = ("q", "k", "v", "output", "ffn", "norm")
TRANSFORMER = Seq2SeqSpec(**SIZES, decoder=DecoderSpec(**SIZES, biases=INSIDE))
MARKS = {"token_norm": st.booleans(), "output_scale": st.sampled_from(["none", "sqrt_d_model"]), "logit_offset": st.booleans()}


@st.composite
def pairs(draw):
    """Any encoder over tokens with any decoder of its width."""
    decoder = draw(decoder_specs())
    added = {name: draw(choices) for name, choices in MARKS.items()}
    relative = {"relative_buckets": 4, "relative_distance": 9, "relative_tables": draw(st.sampled_from(["shared", "per_layer"]))}
    positions = ["none", "learned", "sinusoidal", "sinusoidal_halves", "rotary", "relative"]
    decoder = decoder.replace(**added, **relative, position=draw(st.sampled_from(positions)))
    share = draw(st.booleans())
    fields = {
        "d_model": decoder.d_model,
        "vocab": decoder.vocab if share else 7,
        "embedding_size": decoder.embedding_size,
        "heads": 2,
        "d_k": 2,
        "d_ff": 5,
        "layers": draw(st.integers(0, 2)),
        "norm": draw(st.sampled_from(["pre", "post"])),
        "norm_kind": decoder.norm_kind,
        "position": draw(st.sampled_from(positions)),
        "positions": 16,
        **relative,
    }
    return Seq2SeqSpec(**fields, decoder=decoder, share_tokens=share)


def both(spec, *, padded, seed=0):
    """Program and model on the same weights and inputs."""
    rng = np.random.default_rng(seed)
    program = build(spec, batch=BATCH, t=T, u=U, padded=padded)
    given = {"tokens": rng.integers(0, spec.vocab, (BATCH, T)), "target": rng.integers(0, spec.decoder.vocab, (BATCH, U))}
    if padded:
        given |= {"attend": np.arange(T) < np.array([[T], [2], [1]]), "attend_target": np.arange(U) < np.array([[U], [1], [3]])}
    weights = legible_weights(program, seed)
    done = run(program, weights, given)
    model = Seq2Seq(spec, dtype=torch.float64, fresh=False)
    model.load_ledger(weights)
    tensors = {name: torch.from_numpy(value) for name, value in given.items()}
    named = {"source": tensors["tokens"], "target": tensors["target"]}
    named |= {name: tensors[name] for name in ("attend", "attend_target") if name in tensors}
    return model.eval().requires_grad_(False), done, model(**named, return_weights=range(spec.decoder.layers), return_hidden=True)


def gap(ours, theirs):
    return furthest(ours, theirs) / max(1.0, float(np.abs(theirs).max()))


def least_spread(done):
    found = [done[name].min() for name in done if name.endswith((".variance", ".mean_square"))]
    return float(np.sqrt(max(min(found, default=1.0), 0.0)))


@settings(max_examples=40)
@given(spec=pairs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_pair_of_stacks_computes_what_its_program_computes(spec, padded, seed):
    model, done, output = both(spec, padded=padded, seed=seed)
    assume(least_spread(done) > 1e-3)
    states = [name for name in done if name.startswith("decoder.layers") and name.endswith(".out") and name.count(".") == 3]
    for number, name in enumerate(states):
        assert gap(output.hidden[number + 1], done[name]) < 1e-10, name
    for layer, weights in output.cross.items():
        assert gap(weights, done[f"decoder.layers.{layer}.cross.weights"]) < 1e-10
    if spec.predicts_next:
        assert gap(output.logits, done["head.logits"]) < 1e-10
    names = {parameter.name for parameter in build(spec, t=1, u=1).parameters}
    assert {name for name, _ in model.ledger()} == names


def test_torchs_own_transformer_agrees():
    torch.manual_seed(0)
    theirs = nn.Transformer(16, 4, 2, 2, 24, 0.0, batch_first=True, dtype=torch.float64, norm_first=False).eval()
    theirs.encoder.norm = theirs.decoder.norm = None
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.4)
    spec = TRANSFORMER.replace(vocab=None, position="none")
    weights = {}

    def attention(name, layer):
        weights[f"{name}.W_O"] = layer.out_proj.weight.reshape(16, 4, 4).permute(1, 2, 0)
        weights[f"{name}.b_O"] = layer.out_proj.bias
        parts = zip("QKV", layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True)
        for letter, weight, bias in parts:
            weights[f"{name}.W_{letter}"], weights[f"{name}.b_{letter}"] = weight.T.reshape(16, 4, 4), bias.reshape(4, 4)

    for stack, layers in (("encoder", theirs.encoder.layers), ("decoder", theirs.decoder.layers)):
        for number, layer in enumerate(layers):
            name, norms = f"{stack}.layers.{number}", {"1": layer.norm1, "2": layer.norm2}
            attention(f"{name}.attention", layer.self_attn)
            if stack == "decoder":
                attention(f"{name}.cross", layer.multihead_attn)
                norms = {"1": layer.norm1, "cross": layer.norm2, "2": layer.norm3}
            for word, norm in norms.items():
                weights[f"{name}.norm_{word}.gamma"], weights[f"{name}.norm_{word}.beta"] = norm.weight, norm.bias
            for place, linear in (("1", layer.linear1), ("2", layer.linear2)):
                weights[f"{name}.ffn.W_{place}"], weights[f"{name}.ffn.b_{place}"] = linear.weight.T, linear.bias
    model = Seq2Seq(spec, dtype=torch.float64, fresh=False)
    model.load_ledger(weights)
    source, target = torch.randn(2, 5, 16, dtype=torch.float64), torch.randn(2, 4, 16, dtype=torch.float64)
    attend = torch.arange(5) < torch.tensor([[5], [3]])
    causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
    wanted = theirs(source, target, tgt_mask=causal, src_key_padding_mask=~attend, memory_key_padding_mask=~attend)
    assert furthest(model.eval()(source, target, attend).states, wanted.detach()) < 1e-12


def test_a_shared_table_is_one_parameter_and_every_parameter_gets_a_gradient():
    model = Seq2Seq(TRANSFORMER)
    assert model.decoder.embeddings.source.E_token is model.encoder.embeddings.source.E_token
    model(torch.ones(1, 3, dtype=torch.int64), torch.ones(1, 2, dtype=torch.int64)).logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        (torch.zeros(1, 0), torch.ones(1, 2), r"empty sequence: tokens has shape \(1, 0\)"),
        (torch.ones(2, 3), torch.ones(1, 2), "source has 2 rows, target 1"),
        (torch.ones(1, 3), torch.ones(1, 2) * 20, "out of range: the vocabulary has 20 entries"),
    ],
)
def test_bad_input_is_one_line(source, target, said):
    with pytest.raises(GlassformerError, match=said):
        Seq2Seq(TRANSFORMER)(source.long(), target.long())


def test_an_encoders_spec_makes_no_encoder_decoder():
    with pytest.raises(GlassformerError, match="an encoder-decoder's spec"):
        Seq2Seq(EncoderSpec(vocab=5))
