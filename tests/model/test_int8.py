"""Products in int8: the same whole numbers as NumPy, each token independently, and where sums may saturate."""

import numpy as np
import pytest
import torch
from checkpoint_files import WORDS, add_tokenizer, bert_folder
from torch import nn

import glassformer as gf
from glassformer import GlassformerError
from glassformer.model.fast.int8 import Int8Product, saturates


def by_numpy(x, weight, bias):
    scale = [np.abs(one).max(1, keepdims=True).astype(np.float32) / np.float32(127) for one in (x, weight)]
    whole = [np.rint(one / part).astype(np.int64) for one, part in zip((x, weight), scale, strict=True)]
    return (whole[0] @ whole[1].T) * scale[0].astype(np.float64) * scale[1].T + bias


@pytest.mark.skipif(saturates(), reason="this processor has no VNNI: sums of int8 products may saturate")
@pytest.mark.parametrize("rows", [1, 7, 1030])
def test_a_product_is_that_of_whole_numbers_and_each_token_has_its_own_scale(rows):
    torch.manual_seed(0)
    linear = nn.Linear(64, 48)
    x = torch.randn(rows, 64) * torch.logspace(-3, 3, rows)[:, None]
    with torch.inference_mode():
        product = Int8Product(linear)
        found = product(x)
        wanted = by_numpy(x.numpy(), linear.weight.numpy(), linear.bias.numpy())
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max(1, keepdims=True).min())
        assert torch.equal(product(x[-1:]), found[-1:])
        linear.weight.mul_(2)
        product.refresh()
        np.testing.assert_allclose((product(x) - linear.bias).numpy(), 2 * (found - linear.bias).numpy(), rtol=1e-3, atol=1e-4)
        assert torch.equal(product(torch.zeros(2, 64)), linear.bias.expand(2, -1))


def test_vectors_are_near_those_in_float32_and_a_text_does_not_depend_on_the_others(tmp_path):
    folder = add_tokenizer(bert_folder(tmp_path / "m"))
    exact, model = gf.load(folder), gf.load(folder)
    texts = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) for i in range(40)]
    exact.encode(texts)
    before = model.encode(texts)
    model.round_products()
    found = model.encode(texts)
    assert 0.999 < (found * before).sum(1).min() < (found * before).sum(1).max() <= 1.00001
    assert np.abs(found - before).max() > 1e-6  # they are not the same products
    np.testing.assert_allclose(model.encode(texts[3]), found[3], atol=1e-5)
    with pytest.raises(GlassformerError, match="on a CPU with oneDNN, from float32 weights, found bfloat16 on cpu"):
        gf.load(folder, dtype="bfloat16").round_products()


def test_sums_saturate_on_x86_without_vnni_alone(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert saturates({"avx2", "avx512f"})
    assert not any(saturates({"avx2", name}) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert not saturates({"asimd"})
