"""The fast model and the program compute the same, torch's own layers agree with both, and the laws of encoders hold."""

import copy
import hashlib

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_cases import (
    BATCH,
    BERT,
    DEBERTA,
    LENGTH,
    MODERN,
    VIT,
    WHISPER,
    both_ways,
    float64_encoder,
    furthest,
    inputs_of,
    rich_specs,
    seeded,
)
from torch import nn

import glassformer
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.spec import EncoderSpec

CLOSE = 1e-10
SPREAD = 1e-3  # a norm divides by a row's spread: where it is all but nothing, the last digit of either side is magnified


def assert_same(case):
    """Every layer's output, its attention weights, pooled vector and logits."""
    output, run, spec = case.output, case.run, case.spec
    for number, hidden in enumerate(output.hidden):
        assert furthest(hidden, run.hidden[number]) < CLOSE, f"hidden {number}"
    for layer in range(spec.layers):
        assert furthest(output.weights[layer], run[f"layers.{layer}.attention.weights"]) < CLOSE, f"weights {layer}"
    last = output.next_logits if spec.head == "pretrain" else output.logits if spec.head != "none" else output.pooled
    if last is not None:
        assert furthest(last, run.output) < CLOSE, "output"
    elif run.program.steps:
        assert furthest(output.states, run.output) < CLOSE, "states"
    if spec.head == "pretrain":
        assert furthest(output.logits, run["head.logits"]) < CLOSE, "masked tokens"


@settings(max_examples=100)
@given(spec=rich_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_any_spec_computes_what_its_program_computes(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    assume(case.smallest_spread > SPREAD)
    assert_same(case)


@pytest.mark.slow
@settings(max_examples=2000)
@given(spec=rich_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_two_thousand_specs_compute_what_their_programs_compute(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    assume(case.smallest_spread > SPREAD)
    assert_same(case)


@pytest.mark.parametrize("field", ["eps", "activation", "scale", "rotary_base"])
def test_another_spec_on_the_same_weights_is_found(field):
    changed = {"eps": 0.5, "activation": "reglu", "scale": "none", "rotary_base": 50.0}[field]
    case = both_ways(MODERN)
    case.encoder = float64_encoder(MODERN.replace(**{field: changed}), dict(case.encoder.ledger()))
    with pytest.raises(AssertionError):
        assert_same(case)


def torch_layer(*, norm_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        16, 4, 32, dropout=0.0, activation="gelu", layer_norm_eps=1e-5, batch_first=True, norm_first=norm_first,
        dtype=torch.float64,
    )  # fmt: skip
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    return layer


def ledger_of(layer: nn.TransformerEncoderLayer):
    """torch's layer under the ledger's names: its matrices are [out, in] with all heads side by side."""
    attention, name = layer.self_attn, "layers.0."
    weights = {f"{name}attention.W_O": attention.out_proj.weight.reshape(16, 4, 4).permute(1, 2, 0)}
    weights[f"{name}attention.b_O"] = attention.out_proj.bias
    for letter, weight, bias in zip("QKV", attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True):
        weights |= {f"{name}attention.W_{letter}": weight.T.reshape(16, 4, 4), f"{name}attention.b_{letter}": bias.reshape(4, 4)}
    for number in (1, 2):
        linear, norm = getattr(layer, f"linear{number}"), getattr(layer, f"norm{number}")
        weights |= {f"{name}ffn.W_{number}": linear.weight.T, f"{name}ffn.b_{number}": linear.bias}
        weights |= {f"{name}norm_{number}.gamma": norm.weight, f"{name}norm_{number}.beta": norm.bias}
    return weights


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_torchs_own_encoder_layer_agrees(norm, padded):
    layer = torch_layer(norm_first=norm == "pre").train()  # in training there is no hidden fast path
    spec = EncoderSpec(d_model=16, heads=4, d_ff=32, layers=1, activation="gelu", norm=norm, final_norm="none", dropout=0.0)
    encoder = float64_encoder(spec, ledger_of(layer))
    x = torch.randn(3, 6, 16, dtype=torch.float64)
    attend = torch.arange(6) < torch.tensor([[6], [2], [5]])
    mask = {"src_key_padding_mask": ~attend} if padded else {}
    assert furthest(encoder(x, attend if padded else None).states, layer(x, **mask).detach()) < 1e-12


def test_a_padded_token_changes_no_other_token():
    encoder = seeded(BERT)
    tokens = inputs_of(BERT)
    alone = encoder(tokens[:, :3])
    attend = torch.arange(LENGTH).expand(BATCH, -1) < 3
    together = encoder(tokens, attend)
    assert furthest(together.states[:, :3], alone.states) < 1e-12
    assert furthest(together.logits, alone.logits) < 1e-12


def test_a_nan_at_a_padded_position_has_no_effect():
    encoder = seeded(EncoderSpec(d_model=8, heads=2, layers=2, pool="mean", pooler="norm"))
    vectors = torch.randn(2, 5, 8, dtype=torch.float64)
    attend = torch.arange(5).expand(2, -1) < 3
    clean = encoder(vectors, attend)
    vectors[:, 3], vectors[:, 4] = torch.nan, torch.inf
    poisoned = encoder(vectors, attend)
    assert torch.equal(poisoned.states[:, :3], clean.states[:, :3])
    assert torch.equal(poisoned.pooled, clean.pooled)


@pytest.mark.parametrize("spec", [BERT, MODERN, VIT], ids=["bert", "modern", "vit"])
def test_a_batch_is_its_rows_one_by_one(spec):
    encoder, inputs = seeded(spec), inputs_of(spec)
    together = encoder(inputs)
    for i in range(BATCH):
        assert furthest(encoder(inputs[i : i + 1]).states, together.states[i : i + 1]) < 1e-12


def test_without_positions_tokens_may_be_in_any_order():
    encoder = seeded(BERT.replace(position="none"))
    tokens, order = inputs_of(BERT), torch.tensor([3, 0, 4, 1, 2])
    assert furthest(encoder(tokens[:, order]).states, encoder(tokens).states[:, order]) < 1e-12
    assert furthest(seeded(BERT)(tokens[:, order]).states, seeded(BERT)(tokens).states[:, order]) > 1e-3


def test_heads_may_be_in_any_order():
    encoder, tokens, order = seeded(BERT), inputs_of(BERT), torch.tensor([2, 0, 3, 1])
    before = encoder(tokens).states
    axis = {"W_Q": 1, "W_K": 1, "W_V": 1, "W_O": 0, "b_Q": 0, "b_K": 0, "b_V": 0}
    weights = {name: view.clone() for name, view in encoder.ledger()}
    for name, value in weights.items():
        if (symbol := name.rpartition(".")[2]) in axis:
            weights[name] = value.index_select(axis[symbol], order)
    encoder.load_ledger(weights)
    assert furthest(encoder(tokens).states, before) < 1e-12


@pytest.mark.parametrize("spec", [BERT, MODERN, VIT], ids=["bert", "modern", "vit"])
def test_training_without_dropout_is_evaluation_to_the_last_bit(spec):
    encoder, inputs = seeded(spec.replace(dropout=0.0)), inputs_of(spec)
    assert torch.equal(encoder.train()(inputs).states, encoder.eval()(inputs).states)


def test_dropout_drops_in_training_alone():
    encoder, tokens = seeded(BERT.replace(dropout=0.5)), inputs_of(BERT)
    assert torch.equal(encoder(tokens).states, encoder(tokens).states)
    encoder.train()
    assert not torch.equal(encoder(tokens).states, encoder(tokens).states)


def test_looking_at_a_layer_changes_nothing_and_costs_the_other_layers_nothing():
    encoder, tokens = seeded(MODERN), inputs_of(MODERN)
    looked = encoder(tokens, return_weights=[1, 3])
    assert sorted(looked.weights) == [1, 3]
    assert torch.equal(looked.states, encoder(tokens).states)
    assert furthest(looked.weights[1].sum(-1), torch.ones(BATCH, 2, LENGTH)) < 1e-12
    assert (encoder(tokens).weights, encoder(tokens).hidden) == ({}, ())


def test_positions_of_left_padded_rows_can_be_given():
    encoder, tokens = seeded(BERT), inputs_of(BERT)
    plain = encoder(tokens[:, :3])
    shifted = torch.cat((tokens[:, 3:], tokens[:, :3]), dim=1)
    attend = torch.arange(LENGTH).expand(BATCH, -1) >= 2
    left = encoder(shifted, attend, positions=(attend.cumsum(1) - 1).clamp(min=0))
    assert furthest(left.states[:, 2:], plain.states) < 1e-12
    assert furthest(left.logits, plain.logits) < 1e-12


SMALL = {"d_model": 4, "heads": 2, "d_ff": 3, "layers": 2, "dropout": 0.0}


@pytest.mark.parametrize(
    "spec",
    [
        EncoderSpec(**SMALL, activation="gelu"),
        EncoderSpec(**SMALL, d_k=2, d_v=3, norm="pre", norm_kind="rms", activation="swiglu", position="rotary", window=2),
        EncoderSpec(**SMALL, position="relative", relative_buckets=4, attend="causal", layer_scale=True, activation="silu"),
    ],
    ids=["post", "pre", "relative"],
)
@pytest.mark.parametrize("padded", [False, True])
def test_gradients_are_right(spec, padded):
    encoder = seeded(spec)
    attend = torch.tensor([[True, True, True], [True, False, False]]) if padded else None
    names, values = zip(*((name, p.detach().clone().requires_grad_()) for name, p in encoder.named_parameters()), strict=True)

    def states(x, *parameters):
        return torch.func.functional_call(encoder, dict(zip(names, parameters, strict=True)), (x, attend)).states

    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(states, (x, *values), fast_mode=True)


def test_a_row_without_a_real_token_has_gradients_without_nan():
    encoder = seeded(MODERN).train()
    attend = torch.arange(LENGTH) < torch.tensor([[5], [2], [0]])
    encoder(inputs_of(MODERN), attend).states.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in encoder.parameters())


@pytest.mark.parametrize("spec", [BERT, MODERN, VIT], ids=["bert", "modern", "vit"])
def test_an_empty_batch_gives_empty_results_of_the_right_shape(spec):
    full, empty = (seeded(spec)(inputs, return_weights=[0]) for inputs in (inputs_of(spec), inputs_of(spec)[:0]))
    for one, other in zip(full, empty, strict=True):
        if isinstance(one, torch.Tensor):
            assert other.shape == (0, *one.shape[1:])
    assert empty.weights[0].shape == (0, *full.weights[0].shape[1:])


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.bfloat16, 0.06)])
@pytest.mark.parametrize("spec", [BERT, MODERN], ids=["bert", "modern"])
def test_lower_precision_stays_near_float64(spec, dtype, bound):
    encoder, tokens = Encoder(spec, dtype=torch.float64).eval(), inputs_of(spec)
    exact = encoder(tokens).states
    assert furthest(copy.deepcopy(encoder).to(dtype)(tokens).states.double(), exact.detach()) < bound


@pytest.mark.parametrize("position", ["learned", "rotary", "relative"])
def test_autocast_runs_in_half_precision(position):
    spec = BERT.replace(position=position)
    encoder, tokens = Encoder(spec).eval(), inputs_of(spec)
    attend = torch.arange(LENGTH) < torch.tensor([[5], [2], [4]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = encoder(tokens, attend).states
    assert furthest(states.float(), encoder(tokens, attend).states.detach()) < 0.06


@pytest.mark.parametrize("spec", [BERT, MODERN], ids=["bert", "modern"])
def test_the_whole_model_is_one_graph(spec):
    encoder, tokens = seeded(spec), inputs_of(spec)
    attend = torch.arange(LENGTH) < torch.tensor([[5], [2], [4]])
    ask = {"predict_at": torch.tensor([0, 7])} if spec.head == "mlm" else {}
    compiled = torch.compile(encoder, fullgraph=True, backend="eager")
    one, other = compiled(tokens, attend, **ask, return_weights=[1]), encoder(tokens, attend, **ask, return_weights=[1])
    assert furthest(one.states, other.states.detach()) < 1e-12
    assert furthest(one.logits, other.logits.detach()) < 1e-12
    assert furthest(one.weights[1], other.weights[1].detach()) < 1e-12


def test_an_exported_graph_takes_any_batch_and_any_length():
    encoder, batch, t = seeded(BERT), torch.export.Dim("batch", max=64), torch.export.Dim("t", max=16)
    attend = torch.arange(9) < torch.tensor([[9], [3], [1], [6]])
    small = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    graph = torch.export.export(encoder, (inputs_of(BERT), small), dynamic_shapes=({0: batch, 1: t}, {0: batch, 1: t}))
    tokens = torch.arange(36).reshape(4, 9)
    assert furthest(graph.module()(tokens, attend).logits, encoder(tokens, attend).logits) < 1e-12


def test_layers_that_share_weights_are_one_block_in_memory():
    encoder = Encoder(BERT.replace(layers=6, share_layers=2))
    assert list(encoder.layers) == ["0", "3"]
    assert len(encoder.places) == 6


# The names and shapes of saved parameters, each list as the start of its sha256: a checkpoint of a run that was begun before
# must fit. A change here is a change of the format, and needs a way to read the old one.
SAVED = {
    "565795848180a996": BERT,
    "5a40f86d3a381fb5": BERT.replace(head="mlm", tie=False, spare_bias=True, embedding_size=10),
    "4410464a86a36d37": BERT.replace(head="pretrain"),
    "5edce41fd4608833": MODERN,
    "7bf8c2b6e840b20a": BERT.replace(position="relative", relative_tables="per_layer"),
    "1d8e5d54e191ae6d": DEBERTA.replace(relative_projections="own"),
    "7d9c1097bb85fc27": VIT.replace(layer_scale=True, mask_token=True),
    "2cc1d20cc667a1cb": VIT.replace(pooler="attention"),
    "318f680564872eaa": WHISPER,
}


@pytest.mark.parametrize("digest", SAVED)
def test_saved_parameters_have_the_names_that_they_always_had(digest):
    saved = Encoder(SAVED[digest], device="meta", fresh=False).state_dict()
    lines = "\n".join(f"{name} {list(value.shape)}" for name, value in saved.items())
    assert hashlib.sha256(lines.encode()).hexdigest().startswith(digest), lines


def test_the_door_opens_on_the_encoder():
    assert glassformer.Encoder is Encoder


@pytest.mark.parametrize("flag", ["only_logits", "return_hidden"])
def test_the_word_no_is_not_a_flag_of_a_pass(flag):
    with pytest.raises(GlassformerError, match=f"{flag}=no is not allowed: {flag} must be True or False."):
        Encoder(BERT)(torch.tensor([[1, 2]]), **{flag: "no"})
