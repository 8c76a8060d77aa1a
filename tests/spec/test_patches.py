"""Spectrograms and other patches against transformers: the count is exact, or the config is refused in one line."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tiny_models import class_of, guest

from glassformer.errors import GlassformerError
from glassformer.program.encoder import build
from glassformer.spec.huggingface import FAMILIES, from_config

ODD = (None, 0, -1, True, "x", 2.5, [8, 12], 3)
SIZES = {
    "num_hidden_layers": (0, 1, 3),
    "intermediate_size": (1, 7, 20),
    "hidden_act": ("gelu", "silu", "relu", "gelu_new"),
    "num_labels": (0, 1, 5),
}
# What each key of a family may be, besides the sizes above; widths are drawn as heads times a head's width.
KEYS: dict[str, dict[str, tuple[Any, ...]]] = {
    "audio-spectrogram-transformer": {
        "qkv_bias": (True, False),
        "num_mel_bins": (4, 9, 16),
        "max_length": (5, 12, 31),
        "patch_size": (2, 4, 5),
        "frequency_stride": (1, 2, 6),
        "time_stride": (1, 3, 4),
    },
}
FEW, MANY = 40, pytest.param(1000, marks=pytest.mark.slow)


def drawn(draw: random.Random, family: str) -> tuple[str, dict[str, Any]]:
    """A class of the family and a small config of it, every other one with one key changed."""
    heads = draw.choice([1, 2, 3])
    config = {key: draw.choice(values) for key, values in (SIZES | KEYS[family]).items()}
    config |= {"num_attention_heads": heads, "hidden_size": heads * draw.choice([4, 8, 12])}
    if draw.random() < 0.5:
        config[draw.choice([key for key in config if key != "num_labels"])] = draw.choice(ODD)
    return draw.choice(list(FAMILIES[family].classes)), config


def their_count(name: str, config: dict[str, Any]) -> int | None:
    """Parameters of the model that transformers builds; None where it cannot."""
    torch, transformers = guest("torch"), guest("transformers")
    model_class = class_of(transformers, name)
    try:
        with torch.device("meta"):
            model = model_class(model_class.config_class(**config))
    except Exception:  # whatever it raises: the config describes no model
        return None
    return sum(parameter.numel() for parameter in model.parameters())


def our_count(family: str, name: str, config: dict[str, Any]) -> int | None:
    try:
        spec = from_config({"model_type": family, **config}, as_class=name).spec
    except GlassformerError as error:
        assert "\n" not in str(error)
        return None
    return sum(parameter.size for parameter in build(spec).parameters)


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("number", [FEW, MANY])
@pytest.mark.parametrize("family", KEYS)
def test_no_config_gives_a_wrong_count(family, number):
    draw, exact = random.Random(family), 0
    for _ in range(number):
        name, config = drawn(draw, family)
        ours = our_count(family, name, config)
        if ours is not None:
            assert ours == their_count(name, config), (name, config)
            exact += 1
    assert exact > number // 3
