"""Adapters: no effect at first, the formula of the paper, the same result when merged, in plain and fast models."""

import pytest
import torch

from glassformer.configs.presets import preset
from glassformer.errors import GlassformerError
from glassformer.model import Encoder, fast
from glassformer.model.adapters import lora
from glassformer.model.adapters.lora import Lora
from glassformer.model.core import Padded
from glassformer.model.encoder import Inputs
from glassformer.model.fast.inference import Inference

SMALL = {"d_model": 16, "heads": 2, "layers": 2, "d_ff": 32, "vocab": 30, "dropout": 0.0}
EVERY = ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3")
FAMILIES = {
    "bert": ("bert-base", {}),
    "gated and rotary": ("modernbert-base", {}),
    "disentangled": ("deberta-v3-base", {}),
    "layers that share weights": ("albert-base", {"embedding_size": 8}),
    "relative": ("t5-small", {}),
}
TOKENS = torch.arange(12).reshape(2, 6)
ATTEND = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


def encoder_of(name="bert-base", **fields):
    torch.manual_seed(2)
    return Encoder(preset(name).replace(**SMALL | fields), dtype=torch.float64).eval()


def adapted(encoder, symbols=EVERY, rank=3, alpha=6.0):
    lora.apply(encoder, Lora(rank, alpha, symbols))
    torch.manual_seed(3)
    for piece in lora.pieces_of(encoder):
        torch.nn.init.normal_(piece.adapter.B, std=0.3)
    return encoder


def states(encoder):
    with torch.no_grad():
        return encoder(TOKENS, ATTEND).states[ATTEND]


def test_new_adapters_change_no_bit():
    encoder = encoder_of()
    before = states(encoder)
    lora.apply(encoder, Lora(4, 8.0, EVERY))
    assert torch.equal(states(encoder), before)


@pytest.mark.parametrize("apply", [lambda encoder: encoder, fast.apply], ids=["plain", "fast"])
@pytest.mark.parametrize("family", FAMILIES)
def test_merged_matrices_give_what_adapters_give(family, apply):
    name, fields = FAMILIES[family]
    encoder = adapted(apply(encoder_of(name, **fields)))
    assert len(list(lora.pieces_of(encoder))) >= 6
    whole = lora.merged(encoder)
    assert not list(lora.pieces_of(whole)) and type(whole) is Encoder
    assert (states(encoder) - states(whole.eval())).abs().max() < 1e-12
    assert (states(encoder) - states(encoder_of(name, **fields))).abs().max() > 1e-3


def test_a_merged_matrix_is_the_formula_of_the_paper():
    encoder = adapted(encoder_of(), symbols=("W_V",), rank=2, alpha=5.0)
    name = "layers.1.attention.W_V"
    (adapter,) = (one.adapter for one in lora.pieces_of(encoder) if f"{one.block}.{one.symbol}" == name)
    before, after = (dict(one.ledger())[name].flatten(1) for one in (encoder, lora.merged(encoder)))
    assert torch.allclose(after, before + 5.0 / 2 * adapter.A.T @ adapter.B.T, atol=1e-14)


def test_the_ledger_lists_no_adapters():
    encoder = encoder_of()
    names = [name for name, _ in encoder.ledger()]
    assert [name for name, _ in adapted(encoder).ledger()] == names


def test_adapters_are_not_lost_where_a_cpu_lays_out_its_matrices():
    encoder = adapted(fast.apply(encoder_of()).float(), symbols=("W_Q", "W_1"))
    with torch.inference_mode():
        found = Inference(encoder).run(Inputs(TOKENS, ATTEND), Padded(ATTEND)).states[ATTEND]
    assert (found - states(encoder)).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"global_attention": "first", "window": 4}, "projections of global tokens"),
        ({"groups": (2, 2, 2, 1, 2, 2)}, "the W_Q, W_K, W_V of this encoder"),
    ],
    ids=["global", "grouped"],
)
def test_products_with_other_than_plain_matrices_are_refused(fields, words):
    with pytest.raises(GlassformerError, match=words):
        lora.apply(encoder_of(**fields), Lora(2, 2.0, ("W_Q",)))
