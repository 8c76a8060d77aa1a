"""`fast.apply`: the same names, weights, hooks and results as the plain encoder, whatever the spec."""

import copy
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import BERT, DEBERTA, LENGTH, MODERN, VIT, WHISPER, inputs_of, rich_specs, seeded

from glassformer.model import Encoder
from glassformer.model.fast.encoder import FastBlock, FastEncoder
from glassformer.model.fast.replacing import PARTS, apply, with_parts
from glassformer.spec import EncoderSpec

SPECS = {
    "bert": BERT,
    "modern": MODERN,
    "disentangled": DEBERTA,
    "image": VIT,
    "sound": WHISPER,
    "masked tokens": BERT.replace(head="mlm"),
    "rms": MODERN.replace(norm_kind="rms"),
    "grouped": BERT.replace(kv_heads=2),
    "attention pooler": BERT.replace(pooler="attention"),
    "gated bias": BERT.replace(position="relative", relative_buckets=8, relative_distance=16, relative_gate=True),
}


def parts_of(encoder: Encoder, spec: EncoderSpec, *, padded: bool) -> list[torch.Tensor]:
    """All that comes out."""
    attend = {"attend": torch.arange(LENGTH) < torch.tensor([[LENGTH], [3], [1]])} if padded and not spec.one_length else {}
    return [part for part in encoder(inputs_of(spec).to(encoder.here.dtype if spec.reads != "tokens" else None), **attend)
            if isinstance(part, torch.Tensor)]  # fmt: skip


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_results_are_identical_bit_for_bit(spec, training, padded):
    plain = seeded(spec).train(training)
    fast = apply(copy.deepcopy(plain))
    found = []
    for encoder in (plain, fast):
        torch.manual_seed(0)
        with torch.inference_mode():
            found.append(parts_of(encoder, spec, padded=padded))
    assert all(map(torch.equal, *found))


@settings(max_examples=30, deadline=None)
@given(rich_specs(), st.integers(0, 3))
def test_no_spec_gives_other_numbers(spec, seed):
    plain = seeded(spec, seed)
    fast = apply(copy.deepcopy(plain))
    with torch.no_grad():
        one, other = (encoder(inputs_of(spec, seed)) for encoder in (plain, fast))
    assert torch.equal(one.states, other.states)
    assert one.logits is other.logits is None or torch.equal(one.logits, other.logits)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_names_and_weights_stay(spec):
    encoder = Encoder(spec)
    names, parameters = list(encoder.state_dict()), list(encoder.parameters())
    ledger = [name for name, _ in encoder.ledger()]
    assert apply(encoder) is encoder
    assert (list(encoder.state_dict()), [name for name, _ in encoder.ledger()]) == (names, ledger)
    assert all(one is other for one, other in zip(encoder.parameters(), parameters, strict=True))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_no_plain_part_is_left(spec):
    encoder = apply(Encoder(spec))
    assert isinstance(encoder, FastEncoder)
    assert all(isinstance(block, FastBlock) for block in encoder.layers.values())
    assert not [module for module in encoder.modules() if type(module) in PARTS]


def test_a_second_time_changes_nothing():
    encoder = apply(Encoder(BERT))
    classes = [type(module) for module in encoder.modules()]
    assert [type(module) for module in apply(encoder).modules()] == classes


def test_hooks_stay():
    encoder, seen = Encoder(BERT).eval(), []
    encoder.layers["1"].attention.register_forward_hook(lambda *_: seen.append(1))
    apply(encoder)(inputs_of(BERT))
    assert seen == [1]


def test_it_can_be_copied_and_sent():
    encoder = apply(Encoder(BERT)).eval()
    for other in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        assert torch.equal(other(inputs_of(BERT)).states, encoder(inputs_of(BERT)).states)


def test_a_copy_with_other_parts_shares_the_rest():
    encoder = Encoder(BERT).eval()
    other = with_parts(encoder, head=None)
    assert other.head is None and encoder.head is not None
    assert other.layers is encoder.layers
