"""Layers in a bottleneck, several feed-forward blocks, tokens projected with their neighbours: the model beside the program."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import both_ways, furthest

from glassformer.errors import GlassformerError
from glassformer.insight.hooks import step_names
from glassformer.model import Encoder, encode_packed
from glassformer.model.checkpoints.onnx_export import export_onnx
from glassformer.model.fast import apply
from glassformer.spec import EncoderSpec
from glassformer.training.starting import check_kind

CLOSE = 1e-10
SPEC = EncoderSpec(
    vocab=20, segments=2, positions=9, position="learned", embedding_norm=True, embedding_size=4, token_kernel=3, d_model=12,
    bottleneck=8, heads=2, d_ff=10, ffn_blocks=3, layers=2, norm_kind="scale", pooler="dense", head="classify", classes=3,
)  # fmt: skip


@st.composite
def compact_specs(draw):
    """Small encoders with some of MobileBERT's parts."""
    narrow = draw(st.sampled_from([None, 4, 8]))
    fields = {
        "bottleneck": narrow,
        "bottleneck_reads": draw(st.sampled_from(["keys", "all"])) if narrow else "keys",
        "ffn_blocks": draw(st.integers(1, 3)),
        "norm_kind": draw(st.sampled_from(["scale", "layer"])),
        "token_kernel": draw(st.sampled_from([1, 2, 3, 5])),
        "head": draw(st.sampled_from(["none", "mlm", "pretrain", "classify", "tag"])),
        "tie": draw(st.booleans()),
        "layers": draw(st.integers(0, 2)),
        "activation": draw(st.sampled_from(["relu", "geglu"])),
    }
    wide = fields["head"] in ("mlm", "pretrain")
    return SPEC.replace(**fields, wide_output=wide)


def all_same(ours, run):
    """Whether every hidden state is that of the float64 run, relative to its largest number, as numbers grow in such layers."""
    pairs = zip(ours.hidden, run.hidden, strict=True)
    return all(furthest(one, torch.as_tensor(other)) < CLOSE * max(1.0, float(abs(other).max())) for one, other in pairs)


@settings(max_examples=40)
@given(spec=compact_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_such_spec_computes_what_its_program_computes(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    output = case.output
    assert all_same(output, case.run)
    for layer in range(spec.layers):
        assert furthest(output.weights[layer], case.run[f"layers.{layer}.attention.weights"]) < CLOSE
    if spec.head != "none":
        wanted = torch.as_tensor(case.run["head.logits"])
        assert furthest(output.logits, wanted) < CLOSE * max(1.0, float(wanted.abs().max()))
        fast = apply(case.encoder)(**case.inputs, only_logits=True)
        assert furthest(fast.logits, output.logits) < CLOSE * max(1.0, float(wanted.abs().max()))


@pytest.mark.parametrize("fast", [False, True])
def test_texts_of_several_lengths_are_what_each_is_alone(fast):
    encoder = Encoder(SPEC, dtype="float64").eval()
    texts = [torch.randint(0, 20, (length,)) for length in (3, 7, 3, 5, 1)]
    alone = [encoder(text[None]).logits[0] for text in texts]
    for found, wanted in zip(encode_packed(apply(encoder) if fast else encoder, texts, part="logits"), alone, strict=True):
        assert furthest(found, wanted) < CLOSE


def test_padding_is_a_neighbour_and_so_training_and_graphs_refuse_it(tmp_path):
    with pytest.raises(GlassformerError, match="token_kernel=3 is not implemented in training: batches are padded"):
        check_kind(SPEC, "mobilebert", None)
    with pytest.raises(GlassformerError, match="token_kernel=3 is not implemented in ONNX graphs"):
        export_onnx(Encoder(SPEC), tmp_path / "model.onnx")
    with pytest.raises(GlassformerError, match="hooks do not support bottleneck=8 yet"):
        step_names(SPEC)


def test_every_parameter_has_a_gradient():
    encoder = Encoder(SPEC.replace(head="mlm", pooler="none", wide_output=True))
    encoder(torch.randint(0, 20, (2, 9)), segments=torch.tensor([[0, 1] * 4 + [0]] * 2)).logits.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())
