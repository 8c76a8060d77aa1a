"""Attention: torch's MultiheadAttention agrees, fused and written out agree, odd shapes work; who may see whom, and pooling."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import core_of, furthest
from torch import nn

from glassformer.model.attention import Attention, Context
from glassformer.model.boundary import start
from glassformer.model.core import Padded, Rule
from glassformer.program.operations import Mask
from glassformer.spec import EncoderSpec

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
SPEC = EncoderSpec(d_model=12, heads=3, dropout=0.0)


def attention(**fields) -> Attention:
    torch.manual_seed(0)
    module = Attention(SPEC.replace(**fields)).double().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module


def vectors(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("other", [False, True], ids=["self", "cross"])
def test_torchs_multi_head_attention_agrees(other):
    ours, theirs = attention(), nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        theirs.in_proj_bias.copy_(ours.qkv_bias)
        theirs.out_proj.weight.copy_(ours.out.weight)
        theirs.out_proj.bias.copy_(ours.out.bias)
    x = vectors(2, 5, 12)
    memory = vectors(2, 7, 12) if other else x
    attend = torch.arange(memory.shape[1]) < torch.tensor([[memory.shape[1]], [3]])
    context = Context(core_of(Padded(attend), memory))
    out, weights = theirs(x, memory, memory, key_padding_mask=~attend, average_attn_weights=False)
    assert furthest(ours(x, memory, context), out) < 1e-12
    assert furthest(ours.weights(x, memory, context), weights) < 1e-12


RULES = [Rule(), Rule(causal=True), Rule(window=4), Rule(causal=True, window=2)]


@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
@pytest.mark.parametrize("padded", [False, True], ids=["", "padded"])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("widths", [{}, {"d_k": 2, "d_v": 5}, {"d_k": 64, "d_v": 64}], ids=["even", "odd", "wide"])
def test_the_fused_path_gives_the_numbers_of_the_written_out_one(widths, rule, padded, biased):
    module, x = attention(**widths), vectors(3, 6, 12)
    attend = torch.arange(6) < torch.tensor([[6], [2], [0]]) if padded else None
    core = core_of(Padded(attend), x, rule, vectors(3, 6, 6) if biased else None)
    q, k, v = module.project(x, x)
    weights = core.weights(q, k, scale=module.scale)
    assert furthest(core.mix(q, k, v, scale=module.scale, dropout=0.0), torch.einsum("bhts,bshv->bthv", weights, v)) < 1e-12


@pytest.mark.parametrize("places", [("q", "v"), ("k",), (), ("q", "k", "v")], ids=str)
def test_a_place_without_a_bias_adds_nothing(places):
    module, x = attention(biases=(*places, "output"), d_v=2), vectors(2, 4, 12)
    views = dict(module.views())
    assert {name[-1].lower() for name in views if name.startswith("b_")} - {"o"} == set(places)
    for place, made in zip("qkv", module.project(x, x), strict=True):
        wanted = torch.einsum("btd,dhk->bthk", x, views[f"W_{place.upper()}"]) + views.get(f"b_{place.upper()}", 0)
        assert furthest(made, wanted) < 1e-12


def test_queries_from_another_tensor_are_projected_like_their_own():
    module, x = attention(biases=("q", "v"), d_k=2, d_v=5), vectors(2, 4, 12)
    for one, other in zip(module.project(x, x), module.project(x, x.clone()), strict=True):
        assert furthest(one, other) < 1e-12


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("other", [False, True], ids=["self", "cross"])
def test_groups_read_what_torchs_kernel_for_groups_reads(kv_heads, other):
    """Independent reference: torch's own attention with shared keys and values."""
    module, x = attention(heads=8, kv_heads=kv_heads, d_k=4, d_v=6), vectors(2, 5, 12)
    memory = vectors(2, 7, 12) if other else x
    q, k, v = (y.transpose(1, 2) for y in module.project(x, memory))
    assert (k.shape[1], v.shape[1]) == (kv_heads, kv_heads)
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2)
    context = Context(core_of(Padded(), memory))
    assert furthest(module(x, memory, context), module.out(wanted)) < 1e-12
    assert module.weights(x, memory, context).shape == (2, 8, 5, memory.shape[1])


def test_shared_keys_gather_the_gradients_of_their_whole_group():
    module, x = attention(heads=4, kv_heads=2, d_k=3), vectors(2, 5, 12)
    each = attention(heads=4, d_k=3)
    with torch.no_grad():
        for (name, from_), (_, into) in zip(module.views(), each.views(), strict=True):
            shared = name[-1] in "KV"
            into.copy_(from_.repeat_interleave(2, dim=from_.ndim - 2) if shared else from_)
    for one in (module, each):
        one(x, x, Context(core_of(Padded(), x))).square().sum().backward()
    views = [one.qkv.weight.grad.split(one.widths) for one in (module, each)]
    for grouped, alone in list(zip(*views, strict=True))[1:]:
        assert furthest(grouped, alone.unflatten(0, (2, 2, 3)).sum(1).flatten(0, 1)) < 1e-12


@pytest.mark.parametrize(("scale", "value"), [("d_k", 0.5), ("d_model", 12**-0.5), ("none", 1.0)])
def test_scores_are_divided_by_the_root_of(scale, value):
    assert attention(scale=scale).scale == pytest.approx(value, rel=1e-15)


def test_scores_that_overflow_float16_are_scaled_first():
    q = torch.full((1, 2, 1, 64), 100.0, dtype=torch.float16)
    weights = core_of(Padded(), q).weights(q, q, scale=1 / 64)
    assert torch.equal(weights, torch.full((1, 1, 2, 2), 0.5, dtype=torch.float16))
    assert (q * q).sum(-1).isinf().all()


def test_dropout_falls_on_the_weights_in_training_alone():
    module, x = attention(dropout=0.9), vectors(2, 6, 12)
    context = Context(core_of(Padded(), x))
    assert torch.equal(module(x, x, context), module(x, x, context))
    module.train()
    assert not torch.equal(module(x, x, context), module(x, x, context))


def test_grouped_queries_have_a_narrower_matrix():
    module = attention(heads=6, kv_heads=2, d_k=2, d_v=5)
    assert [tuple(p.shape) for p in module.parameters()] == [(12 + 4 + 10,), (12 + 4 + 10, 12), (12, 30), (12,)]


def test_one_matrix_makes_queries_keys_and_values():
    module = attention(d_k=2, d_v=5)
    assert [tuple(p.shape) for p in module.parameters()] == [(27,), (27, 12), (12, 15), (12,)]
    start.fill(module)
    assert not module.qkv_bias.any()


@given(causal=st.booleans(), window=st.sampled_from([None, 1, 2, 5, 40]), queries=st.integers(1, 9), keys=st.integers(1, 9))
def test_a_rule_is_the_programs_mask(causal, window, queries, keys):
    visible = Rule(causal, window).visible(queries, keys, torch.device("cpu"))
    wanted = Mask(causal, window).visible(queries, keys)
    assert np.array_equal(np.ones((queries, keys), bool) if visible is None else visible.numpy(), wanted)


@settings(max_examples=60)
@given(
    dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16]),
    rule=st.sampled_from([Rule(), Rule(causal=True), Rule(window=2)]),
    biased=st.booleans(),
    d_v=st.sampled_from([4, 3]),
    seed=st.integers(0, 999),
)
def test_a_query_without_visible_keys_gets_zeros_on_every_path(dtype, rule, biased, d_v, seed):
    rng = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 2, 7, 2, 4, generator=rng).to(dtype)
    v = torch.randn(2, 7, 2, d_v, generator=rng).to(dtype)
    attend = torch.rand(2, 7, generator=rng) < 0.3
    attend[0] = False
    bias = torch.randn(2, 7, 7, generator=rng).to(dtype) if biased else None
    core = core_of(Padded(attend), q, rule, bias)
    mix, weights = core.mix(q, k, v, scale=0.5, dropout=0.0), core.weights(q, k, scale=0.5)
    blind = ~weights.bool().any(-1)  # BHT
    assert blind[0].all()
    assert mix.isfinite().all() and weights.isfinite().all()
    assert not mix.transpose(1, 2)[blind].any()
    assert furthest(weights.float().sum(-1)[~blind], torch.ones(int((~blind).sum()))) < 0.02


def test_a_query_without_visible_keys_has_gradients_without_nan():
    q = torch.randn(2, 3, 2, 4, requires_grad=True)
    core = core_of(Padded(torch.tensor([[True, True, False], [False, False, False]])), q)
    (core.weights(q, q, scale=0.5).square().sum() + core.mix(q, q, q, scale=0.5, dropout=0.0).sum()).backward()
    assert q.grad.isfinite().all()
    assert not q.grad[1].any()


def test_pooling_skips_padding_on_the_left():
    x, attend = torch.arange(6.0).reshape(2, 3, 1), torch.tensor([[False, True, True], [True, True, False]])
    assert Padded(attend).first(x).flatten().tolist() == [1, 3]
    assert Padded(attend).last(x).flatten().tolist() == [2, 4]
    assert Padded(attend).mean(x).flatten().tolist() == [1.5, 3.5]


@CUDA
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
def test_a_query_without_visible_keys_gets_zeros_on_the_gpu_too(dtype, biased):
    q, k, v = torch.randn(3, 2, 40, 4, 64, device="cuda", dtype=dtype, requires_grad=True)
    attend = torch.zeros(2, 40, dtype=torch.bool, device="cuda")
    attend[0, :7] = True
    bias = torch.randn(4, 40, 40, device="cuda", dtype=dtype) if biased else None
    mix = core_of(Padded(attend), q, Rule(window=6), bias).mix(q, k, v, scale=0.1, dropout=0.0)
    mix.sum().backward()
    assert not mix[1].any() and not mix[0, 20:].any()
    assert mix.isfinite().all()
