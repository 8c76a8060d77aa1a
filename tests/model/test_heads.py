"""Heads: masked tokens where asked, ties that are one tensor, and what each pooler reads."""

import pytest
import torch
from model_cases import BERT, LENGTH, VIT, both_ways, furthest, inputs_of, seeded

from glassformer.algebra import count
from glassformer.model import Encoder
from glassformer.spec import EncoderSpec

MLM = BERT.replace(head="mlm", pooler="none")


@pytest.mark.parametrize("head", ["mlm", "pretrain"])
def test_masked_tokens_are_predicted_only_where_asked(head):
    encoder, tokens = seeded(MLM.replace(head=head)), inputs_of(MLM)
    everywhere = encoder(tokens).logits
    there = torch.zeros_like(tokens, dtype=torch.bool)
    there[0, 3] = there[2, 0] = there[2, 4] = True
    by_mask, by_index = encoder(tokens, predict_at=there), encoder(tokens, predict_at=torch.tensor([3, 10, 14]))
    assert by_mask.logits.shape == (3, 50)
    assert furthest(by_mask.logits, everywhere[there]) < 1e-12
    assert torch.equal(by_mask.logits, by_index.logits)


def test_asking_nowhere_gives_no_logits():
    tokens = inputs_of(MLM)
    assert seeded(MLM)(tokens, predict_at=torch.zeros_like(tokens, dtype=torch.bool)).logits.shape == (0, 50)


def test_a_tied_head_has_no_matrix_of_its_own_and_trains_the_token_table():
    tied, untied = Encoder(MLM), Encoder(MLM.replace(tie=False))
    assert "head.W_vocab" not in dict(tied.ledger())
    assert dict(untied.ledger())["head.W_vocab"].shape == (16, 50)
    tied.eval()(torch.tensor([[1, 2]])).logits.sum().backward()
    assert tied.embeddings.source.E_token.grad[40].abs().sum() > 0  # a token that was not read


def test_a_spare_bias_is_stored_and_never_added():
    encoder, tokens = seeded(MLM.replace(spare_bias=True)), inputs_of(MLM)
    before = encoder(tokens).logits
    dict(encoder.ledger())["head.b_spare"].fill_(1000.0)
    assert torch.equal(encoder(tokens).logits, before)
    dict(encoder.ledger())["head.b_vocab"].add_(1.0)
    assert furthest(encoder(tokens).logits, before + 1) < 1e-12


def test_a_distilled_prediction_is_the_mean_of_two():
    spec = VIT.replace(class_tokens=2, head="distilled", classes=4)
    encoder = seeded(spec)
    views, output = dict(encoder.ledger()), encoder(inputs_of(spec))
    one, other = (output.states[:, i] @ views[f"head.W_{c}"] + views[f"head.b_{c}"] for i, c in enumerate("CD"))
    assert furthest(output.logits, (one + other) / 2) < 1e-12


@pytest.mark.parametrize("pooler", ["none", "dense", "norm", "attention"])
@pytest.mark.parametrize("pool", ["first", "mean", "last"])
def test_padding_changes_no_pooled_vector(pool, pooler):
    encoder, tokens = seeded(BERT.replace(pool=pool, pooler=pooler)), inputs_of(BERT)
    attend = torch.arange(LENGTH).expand(3, -1) < 3
    assert furthest(encoder(tokens, attend).pooled, encoder(tokens[:, :3]).pooled) < 1e-12


def test_a_mean_leaves_class_tokens_and_registers_out():
    spec = VIT.replace(pool="mean", head="none", pooler="norm", final_norm="pooled")
    encoder = seeded(spec)
    output = encoder(inputs_of(spec))
    views = dict(encoder.ledger())
    mean = output.states[:, 3:].mean(1)
    for name in ("final_norm", "pooler.norm"):
        mean = torch.nn.functional.layer_norm(mean, (16,), views[f"{name}.gamma"], views[f"{name}.beta"], spec.eps)
    assert furthest(output.pooled, mean) < 1e-12


def test_an_encoder_without_pooler_and_head_gives_states_alone():
    output = seeded(BERT.replace(head="none", pooler="none"))(inputs_of(BERT))
    assert (output.pooled, output.logits, output.next_logits) == (None, None, None)


def test_pretraining_gives_both_predictions():
    case = both_ways(BERT.replace(head="pretrain", classes=2))
    output = case.output
    assert output.logits.shape == (3, 5, 50)
    assert furthest(output.next_logits, case.run["head.next"]) < 1e-10


def test_a_projection_reads_the_pooled_vector():
    spec = EncoderSpec(d_model=8, heads=2, layers=1, head="project", classes=3, pool="mean", biases=())
    encoder = seeded(spec)
    output = encoder(inputs_of(spec))
    assert furthest(output.logits, output.states.mean(1) @ dict(encoder.ledger())["head.W_P"]) < 1e-12


@pytest.mark.parametrize("head", ["classify", "tag", "mlm", "pretrain", "project"])
def test_a_spec_without_biases_has_a_head_without_them(head):
    spec = BERT.replace(head=head, biases=())
    views = dict(Encoder(spec).ledger())
    assert not [name for name in views if name.rpartition(".")[2].startswith("b_")]
    assert set(views) == {row.name for row in count(spec).rows}
    case = both_ways(spec)
    assert furthest(case.output.logits, case.run["head.out" if head == "project" else "head.logits"]) < 1e-10


def test_a_distilled_head_without_biases_is_two_products():
    spec = VIT.replace(class_tokens=2, head="distilled", classes=4, biases=())
    encoder = seeded(spec)
    views, output = dict(encoder.ledger()), encoder(inputs_of(spec))
    one, other = (output.states[:, i] @ views[f"head.W_{c}"] for i, c in enumerate("CD"))
    assert furthest(output.logits, (one + other) / 2) < 1e-12
