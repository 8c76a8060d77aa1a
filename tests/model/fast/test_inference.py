"""An encoder that is asked again and again is in eval mode while it answers, and as it was afterwards."""

import torch
from model_cases import BERT

from glassformer.model import Encoder
from glassformer.model.fast.inference import evaluating, every_module


def test_every_module_is_found():
    encoder = Encoder(BERT.replace(share_layers=1))
    assert set(every_module(encoder)) == set(encoder.modules())


def test_for_a_while_everything_is_in_eval_mode():
    encoder = Encoder(BERT).train()
    encoder.pooler.eval()
    before = [module.training for module in encoder.modules()]
    with evaluating(every_module(encoder)):
        assert not any(module.training for module in encoder.modules())
    assert [module.training for module in encoder.modules()] == before


def test_an_error_leaves_it_as_it_was():
    encoder = Encoder(BERT).train()
    try:
        with evaluating(every_module(encoder)):
            raise RuntimeError
    except RuntimeError:
        assert all(module.training for module in encoder.modules())


def test_a_copy_without_some_parts_shares_the_mode_of_the_others():
    from glassformer.model.fast.replacing import with_parts

    encoder = Encoder(BERT.replace(dropout=0.9)).train()
    bare, ids = with_parts(encoder, head=None, pooler=None), torch.arange(5)[None]
    with torch.no_grad(), evaluating(every_module(bare)):
        assert torch.equal(bare(ids).states, bare(ids).states)
    with torch.no_grad():
        assert not torch.equal(bare(ids).states, bare(ids).states)
