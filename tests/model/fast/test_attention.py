"""Fast attention is the plain one; which kernel attends is decided by what they take."""

import pytest
import torch
from model_cases import core_of, furthest

from glassformer.model.attention import Attention, Context
from glassformer.model.core import Padded, PaddedCore, Rule
from glassformer.model.fast import attention, joint_attention
from glassformer.model.fast.attention import FastAttention, Gather, at_places, joined
from glassformer.model.fast.packed import Packed
from glassformer.model.variants.rotary import rotary
from glassformer.spec import EncoderSpec


def modules(**fields) -> tuple[Attention, FastAttention]:
    torch.manual_seed(0)
    spec = EncoderSpec(d_model=12, heads=3, dropout=0.0).replace(**fields)
    plain, fast = Attention(spec).double(), FastAttention(spec).double()
    for parameter in plain.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    fast.load_state_dict(plain.state_dict())
    return plain, fast


@pytest.mark.parametrize("rotates", [False, True], ids=["", "rotary"])
@pytest.mark.parametrize("attend", [None, torch.tensor([[True] * 5, [True] * 2 + [False] * 3])], ids=["whole", "padded"])
@pytest.mark.parametrize("rule", [Rule(), Rule(causal=True), Rule(window=2)], ids=str)
@pytest.mark.parametrize("widths", [{}, {"d_k": 2, "d_v": 5}, {"heads": 4, "kv_heads": 2}, {"biases": ("q", "v")}], ids=str)
def test_it_equals_its_plain_counterpart_bit_for_bit(widths, rule, attend, rotates):
    plain, fast = modules(**widths)
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    width = plain.shapes[0][1]
    turn = {"rotate": rotary(EncoderSpec(d_k=width // 2 * 2), torch.arange(5)[None], 100.0, torch.float64)} if rotates else {}
    if width % 2 == 0 or not rotates:
        context = Context(core_of(Padded(attend), x, rule), **turn)
        assert torch.equal(plain(x, x, context), fast(x, x, context))
        assert torch.equal(plain(x, x.clone(), context), fast(x, x.clone(), context))


def test_selected_tokens_have_the_same_result_as_among_all():
    _, fast = modules()
    x, places = torch.randn(2, 5, 12, dtype=torch.float64), torch.tensor([0, 7, 9])
    context = Context(core_of(Padded(), x))
    assert furthest(fast(x, x, context, places), at_places(fast(x, x, context), places)) < 1e-12


def test_only_attention_that_forbids_nothing_is_joined():
    bounds = torch.tensor([0, 3, 5], dtype=torch.int32)
    x, bias = torch.zeros(1, 5, 4), torch.zeros(2, 5, 5)
    assert joined(core_of(Padded(), x)) and joined(core_of(Packed(bounds, 3), x))
    for rule, added in ((Rule(causal=True), None), (Rule(window=2), None), (Rule(), bias)):
        assert not joined(core_of(Padded(), x, rule, added)) and not joined(core_of(Packed(bounds, 3), x, rule, added))
    assert not joined(PaddedCore(torch.zeros(1, 1, 1, 5)))


def test_gathering_has_the_gradient_of_gather_and_keeps_only_the_rows():
    torch.manual_seed(0)
    every, rows = torch.randn(2, 2, 3, 7, dtype=torch.float64, requires_grad=True), torch.randint(0, 7, (3, 4))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):
        ours = Gather.apply(every, rows)
    assert [one.shape for one in kept] == [rows.shape]
    theirs = every.gather(-1, rows.expand(2, 2, -1, -1))
    g = torch.randn_like(ours)
    assert torch.equal(ours, theirs)
    assert furthest(*(torch.autograd.grad(one, every, g)[0] for one in (ours, theirs))) < 1e-15
    assert torch.autograd.gradcheck(Gather.apply, (every, rows)) and torch.autograd.gradgradcheck(Gather.apply, (every, rows))


@pytest.mark.parametrize("packed", [False, True], ids=["rectangle", "packed row"])
def test_where_the_kernels_serve_they_get_one_tensor_and_mix_the_same(packed, monkeypatch):
    """As on a GPU in training, with the plain counterpart of the kernels."""
    plain, fast = modules()
    x = torch.randn(1, 10, 12, dtype=torch.float64) if packed else torch.randn(2, 5, 12, dtype=torch.float64)
    bounds = torch.tensor([0, 3, 10] if packed else [0, 5, 10], dtype=torch.int32)
    asked = []

    def twin(qkv, given, longest, *, scale, dropout):
        asked.append((tuple(qkv.shape), longest, dropout))
        assert (given is None) != packed
        return joint_attention.plain(qkv, bounds, scale=scale)

    monkeypatch.setattr(attention, "trained_jointly", lambda *_: True)
    monkeypatch.setattr(attention, "attend_jointly", twin)
    context = Context(core_of(Packed(bounds, 7) if packed else Padded(), x))
    assert furthest(fast(x, x, context), plain(x, x, context)) < 1e-12
    assert asked == [((10, 3, 3, 4), 7 if packed else 5, 0.0)]
    fast(x, x, Context(core_of(Packed(bounds, 7) if packed else Padded(), x, Rule(window=2))))
    assert len(asked) == 1
