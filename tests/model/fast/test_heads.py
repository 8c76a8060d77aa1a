"""The product with the vocabulary that is filled up gives the same logits, and elsewhere it is the plain one."""

import pytest
import torch

from glassformer.model.fast.heads import vocabulary_product


@pytest.mark.parametrize("rows", [50, 64])
def test_without_a_gpu_it_is_the_plain_product(rows):
    x, table, bias = torch.randn(7, 32), torch.randn(rows, 32), torch.randn(rows)
    assert torch.equal(vocabulary_product(x, table, bias), torch.nn.functional.linear(x, table, bias))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("rows", [50, 64])
def test_a_vocabulary_that_is_filled_up_gives_the_same_logits(rows):
    torch.manual_seed(0)
    x, table, bias = torch.randn(7, 32), torch.randn(rows, 32), torch.randn(rows)
    exact = torch.nn.functional.linear(x, table, bias)
    half = vocabulary_product(*(value.cuda().bfloat16() for value in (x, table, bias)))
    assert half.shape == exact.shape
    assert (half.cpu().float() - exact).abs().max() < 0.3
