"""Logits only: the last layer computes only the tokens that the head reads, and the logits do not change."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import BERT, LENGTH, MODERN, VIT, furthest, inputs_of, rich_specs, seeded

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast import apply, unpadding

ATTEND = torch.arange(LENGTH).expand(3, -1) < torch.tensor([[LENGTH], [3], [1]])
ASKED = torch.tensor([0, 2, LENGTH + 1, 2 * LENGTH])  # places of real tokens
SPECS = {
    "bert": BERT.replace(head="classify", classes=4, pooler="dense"),
    "last": MODERN.replace(head="classify", attend="causal", pool="last"),
    "mean": BERT.replace(head="classify", pool="mean"),
    "tags": BERT.replace(head="tag"),
    "masked": BERT.replace(head="mlm", pooler="none"),
    "windows, masked": MODERN.replace(head="mlm"),
    "both": BERT.replace(head="pretrain", pooler="dense"),
    "image": VIT.replace(head="classify", classes=4),
    "projected": VIT.replace(head="project", classes=4),
    "attention alone": BERT.replace(block="attention", layers=1, head="classify"),
    "no layers": BERT.replace(layers=0, head="classify"),
    "scaled": VIT.replace(layer_scale=True, pool="last", head="classify"),
    "shared weights": BERT.replace(share_layers=1, head="classify"),
}


def options(spec, *, padded=True) -> dict:
    asked = {"predict_at": ASKED} if spec.head in ("mlm", "pretrain") else {}
    return asked | ({"attend": ATTEND} if padded and spec.reads == "tokens" else {})


@pytest.mark.parametrize("packs", [False, True], ids=["rectangle", "packed row"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_logits_and_gradients_are_those_of_the_whole_pass(monkeypatch, spec, packs):
    monkeypatch.setattr(unpadding, "packable", lambda _: packs and spec.reads == "tokens")
    found = []
    for only in (False, True):
        encoder = apply(seeded(spec.replace(dropout=0.0))).train()
        output = encoder(inputs_of(spec), **options(spec), only_logits=only)
        output.logits.square().sum().backward()
        found.append((output.logits, {name: p.grad for name, p in encoder.named_parameters() if p.grad is not None}))
    (logits, gradients), (alone, of_alone) = found
    assert furthest(logits, alone) < 1e-12
    assert gradients.keys() == of_alone.keys()
    assert all(furthest(gradients[name], of_alone[name]) < 1e-10 for name in gradients)


def test_asking_for_padding_breaks_nothing(monkeypatch):
    monkeypatch.setattr(unpadding, "packable", lambda _: True)
    encoder = apply(seeded(SPECS["masked"]))
    asked = torch.tensor([0, 3 * LENGTH - 1])  # the last place is padding
    found = [encoder(inputs_of(BERT), ATTEND, predict_at=asked, only_logits=only).logits for only in (False, True)]
    assert found[0].shape == found[1].shape
    assert furthest(found[0][0], found[1][0]) < 1e-12


@settings(max_examples=40, deadline=None)
@given(rich_specs(), st.integers(0, 3))
def test_every_spec_with_a_head_gives_the_same_logits(spec, seed):
    if spec.head == "none":
        spec = spec.replace(head="classify")
    encoder, inputs = apply(seeded(spec, seed)), inputs_of(spec, seed)
    whole, alone = encoder(inputs), encoder(inputs, only_logits=True)
    assert furthest(whole.logits, alone.logits) < 1e-11


def test_the_last_layer_computes_only_the_tokens_that_are_read():
    seen = []
    for spec in (SPECS["bert"], SPECS["masked"], SPECS["image"], SPECS["tags"]):
        encoder = apply(seeded(spec))
        for block in encoder.layers.values():
            block.ffn.register_forward_hook(lambda _, given, __: seen.append(given[0].shape[:2].numel()))
        states = encoder(inputs_of(spec), **options(spec, padded=False), only_logits=True).states
        assert states.shape[:-1].numel() == seen[-1]
    layers, patches = BERT.layers, VIT.layers
    everywhere = 3 * LENGTH
    assert seen[:layers] == [everywhere] * (layers - 1) + [3]
    assert seen[layers : 2 * layers] == [everywhere] * (layers - 1) + [len(ASKED)]
    assert seen[2 * layers : 2 * layers + patches][-1] == 3
    assert seen[-1] == everywhere


def test_logits_alone_need_a_head_and_exclude_other_outputs():
    with pytest.raises(GlassformerError, match="head=none makes no logits"):
        Encoder(BERT.replace(head="none"))(inputs_of(BERT), only_logits=True)
    with pytest.raises(GlassformerError, match="ask for one of them"):
        Encoder(SPECS["bert"])(inputs_of(BERT), only_logits=True, return_hidden=True)
