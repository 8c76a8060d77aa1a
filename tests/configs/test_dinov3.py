"""DINOv3 configs against transformers: the count is exact, or the config is refused in one line."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tiny_models import guest

from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.program.encoder import build

FLAGS = "query_bias key_bias value_bias proj_bias mlp_bias use_gated_mlp".split()
ODD = (None, 0, -1, True, "x", 2.5)


def drawn(draw: random.Random) -> dict[str, Any]:
    heads = draw.choice([1, 2, 3, 4])
    return {
        "hidden_size": heads * draw.choice([4, 6, 8, 12]),
        "num_attention_heads": heads,
        "num_hidden_layers": draw.randint(0, 3),
        "intermediate_size": draw.choice([1, 7, 20]),
        "image_size": draw.choice([8, 10, [8, 12]]),
        "patch_size": draw.choice([2, 3, [4, 2]]),
        "num_channels": draw.choice([1, 3]),
        "num_register_tokens": draw.choice([0, 1, 4]),
        "hidden_act": draw.choice(["gelu", "silu", "relu", "tanh"]),
        **{key: draw.random() < 0.5 for key in FLAGS},
    }


def true_count(config: dict[str, Any]) -> int | None:
    """Parameters of the model that transformers builds; None where it cannot."""
    torch, transformers = guest("torch"), guest("transformers")
    try:
        with torch.device("meta"):
            model = transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(**config))
    except Exception:  # whatever it raises: the config describes no model
        return None
    return sum(parameter.numel() for parameter in model.parameters())


def our_count(config: dict[str, Any]) -> int | None:
    try:
        spec = from_config({"model_type": "dinov3_vit", **config}).spec
    except GlassformerError as error:
        assert "\n" not in str(error)
        return None
    return sum(parameter.size for parameter in build(spec).parameters)


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_config_gives_a_wrong_count(number):
    draw, exact = random.Random(3), 0
    for _ in range(number):
        config = drawn(draw)
        if draw.random() < 0.5:  # one key changed
            config[draw.choice(list(config))] = draw.choice(ODD)
        ours = our_count(config)
        if ours is not None:
            assert ours == true_count(config), config
            exact += 1
    assert exact > number // 3


def test_heads_that_cannot_be_rotated_are_refused():
    config = {
        "model_type": "dinov3_vit",
        **drawn(random.Random(0)),
        "hidden_size": 12,
        "num_attention_heads": 2,
        "hidden_act": "gelu",
    }
    with pytest.raises(GlassformerError, match="hidden_size / num_attention_heads = 6 is not a multiple of 4"):
        from_config(config)


def test_a_gate_needs_an_activation_that_has_one():
    config = {"model_type": "dinov3_vit", **drawn(random.Random(0)), "use_gated_mlp": True, "hidden_act": "tanh"}
    with pytest.raises(GlassformerError, match='hidden_act = "tanh" is not allowed: gated blocks are implemented with'):
        from_config(config)
