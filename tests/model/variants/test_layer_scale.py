"""A factor per feature multiplies the output of a sub-layer."""

import torch

from glassformer.model.variants.layer_scale import LayerScale
from glassformer.spec import EncoderSpec


def test_layer_scale_multiplies_each_feature():
    module = LayerScale(EncoderSpec(d_model=3, heads=1), 2)
    with torch.no_grad():
        module.factor.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert module(torch.ones(1, 1, 3)).flatten().tolist() == [1, 2, 3]
    assert [name for name, _ in module.views()] == ["lambda_2"]
