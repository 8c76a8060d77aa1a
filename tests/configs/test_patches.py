"""Spectrograms and other patches against transformers: the count is exact, or the config is refused in one line."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tiny_models import class_of, guest

from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.numbers.seeded import seeded_run
from glassformer.program.encoder import build
from glassformer.program.operations.lookups import sinusoidal_grid
from glassformer.spec import EncoderSpec

ODD = (None, 0, -1, True, "x", 2.5, [8, 12], 3)
SIZES = {
    "num_hidden_layers": (0, 1, 3),
    "intermediate_size": (1, 7, 20),
    "hidden_act": ("gelu", "silu", "relu", "gelu_new"),
    "num_labels": (0, 1, 5),
}
# What each key of a family may be, besides the sizes above; widths are drawn as heads times a head's width.
KEYS: dict[str, dict[str, tuple[Any, ...]]] = {
    "vit_mae": {
        "qkv_bias": (True, False),
        "image_size": (8, 9, [8, 8], [8, 12]),
        "patch_size": (2, 3, [4, 4]),
        "num_channels": (1, 3),
        "mask_ratio": (0.0, 0.4, 0.75),
    },
    "videomae": {
        "qv_bias": (True, False),
        "image_size": (8, 9, [8, 12]),
        "patch_size": (2, 3, [4, 2]),
        "num_channels": (1, 3),
        "num_frames": (2, 5, 6),
        "tubelet_size": (1, 2),
        "use_mean_pooling": (True, False),
    },
    "vivit": {
        "qkv_bias": (True, False),
        "image_size": (8, 9, [8, 12]),
        "num_channels": (1, 3),
        "num_frames": (2, 5, 6),
        "tubelet_size": ([1, 2, 2], [2, 3, 4], [2, 4, 2]),
    },
    "siglip2_vision_model": {
        "num_patches": (1, 4, 9, 16),
        "patch_size": (1, 2, 3),
        "num_channels": (1, 3),
        "vision_use_head": (True, False),
    },
    "siglip2_text_model": {
        "vocab_size": (5, 19),
        "max_position_embeddings": (3, 8),
        "projection_size": (None, 4, 6),
    },
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
    if type(config.get("mask_ratio")) is int:  # the same number, but transformers wants a point in it
        config = {**config, "mask_ratio": float(config["mask_ratio"])}
    made = {"vision_config": config, "num_labels": config["num_labels"]} if name == "Siglip2ForImageClassification" else config
    try:
        with torch.device("meta"):
            model = model_class(model_class.config_class(**made))
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


MAE = EncoderSpec(
    image=12, patch=4, class_tokens=1, d_model=16, heads=2, layers=1, position="sinusoidal_2d_stored", norm="pre", mask_ratio=0.7
)


def test_patches_left_out_shorten_every_layer_and_change_no_parameter():
    some, every = build(MAE), build(MAE.replace(mask_ratio=0.0))
    assert (some.sizes.t, every.sizes.t) == (1 + 2, 1 + 9)  # 30% of 9 patches, and the class token
    assert [parameter.tensor for parameter in some.parameters] == [parameter.tensor for parameter in every.parameters]


def test_random_masking_is_counted_but_not_computed():
    with pytest.raises(GlassformerError, match=r"mask_ratio=0.7 masks patches at random, which is not implemented"):
        seeded_run(MAE)
    with pytest.raises(GlassformerError, match=r"not implemented in the model: .* mask_ratio=0 reads all patches"):
        Encoder(MAE)


def test_the_waves_by_row_and_column_are_those_of_transformers():
    module = guest("transformers.models.vit_mae.modeling_vit_mae")
    theirs = module.build_2d_sinusoidal_position_embedding(3, 3, 16, cls_token=True, dtype=guest("torch").float64).numpy()
    swapped = np.concatenate([theirs[:, 8:], theirs[:, :8]], axis=1)  # columns before rows, as ViT-MAE has them
    table = Encoder(MAE.replace(mask_ratio=0.0)).embeddings.positions.E_position
    assert np.abs(sinusoidal_grid((3, 3), 1, 16) - swapped).max() < 1e-15
    assert np.abs(table.detach().numpy() - swapped).max() < 1e-6
    assert not table.requires_grad


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"position": "relative"}, "mask_ratio=0.7 masks patches of an image, but position=relative has no positions for"),
        ({"image": None, "patch": None, "class_tokens": 0, "position": "none"}, "but there is no image. Leave it out"),
        ({"d_model": 18}, "d_model=18 is not a multiple of 4"),
        ({"mask_ratio": 1.0}, "mask_ratio must be a number from 0 up to, but not including, 1"),
    ],
)
def test_fields_that_do_not_fit_masked_patches_are_refused(fields, message):
    with pytest.raises(GlassformerError, match=message):
        MAE.replace(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"restore": ()},
            "head=restore needs the sizes of the decoder that restores patches: give restore, such as restore=512,8,16,2048",
        ),
        ({"head": "none"}, "restore=8,1,2,8 needs the sizes of the decoder that restores patches: give head=restore"),
        ({"restore": (8, 1, 2)}, "restore=8,1,2 must have four numbers"),
        ({"restore": (6, 1, 2, 8)}, "restore=6,1,2,8: the stored sines and cosines need a width that is a multiple of 4"),
        ({"restore": (8, 1, 3, 8)}, "heads=3 does not divide d_model=8"),
        ({"norm": "post"}, "restores patches of an image with plain layers and norm=pre"),
    ],
)
def test_a_decoder_of_patches_has_four_sizes_that_fit(fields, message):
    spec = MAE.replace(head="restore", restore=(8, 1, 2, 8), classes=12)
    with pytest.raises(GlassformerError, match=message):
        spec.replace(**fields)


def test_the_decoder_restores_every_patch_whatever_was_left_out():
    spec = MAE.replace(head="restore", restore=(8, 1, 2, 8), classes=12)
    logits = build(spec).step_of["head.logits"].output
    assert logits.axis("t").size == spec.patches > build(spec).sizes.t
    with pytest.raises(GlassformerError, match="masks patches at random, which is not implemented"):
        seeded_run(spec)


def test_a_table_of_patches_that_is_not_square_is_refused_with_the_nearest_squares():
    with pytest.raises(
        GlassformerError, match="num_patches = 250 is not allowed: the position table is a square: try 225 or 256"
    ):
        from_config({"model_type": "siglip2_vision_model", **SIGLIP2, "num_patches": 250})
    assert from_config({"model_type": "siglip2_vision_model", **SIGLIP2, "num_patches": 256}).spec.patch_grid == (16, 16)


SIGLIP2 = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8, "patch_size": 4}


VIDEO = EncoderSpec(image=4, patch=2, video_frames=6, tube=2, d_model=8, heads=2, layers=1, position="sinusoidal", norm="pre")


def test_each_pixel_of_a_tube_is_found_again_where_it_was():
    run = seeded_run(VIDEO)
    video, pixels = run["image"], run["embeddings.pixels"]
    assert pixels.shape == (1, 3 * 2 * 2, 3 * 2 * 2 * 2)  # patches of 2 frames; channels, frames, rows, columns of each
    # Patch 1 of the second pair of frames, row 1, column 0; channel 2, its second frame, the first row, the second column.
    patch, pixel = 1 * 4 + 1 * 2 + 0, 2 * 8 + 1 * 4 + 0 * 2 + 1
    assert pixels[0, patch, pixel] == video[0, 2 + 1, 2, 2 + 0, 0 + 1]
    opened = str(run.explain("embeddings.pixels", batch=0, patch=patch, pixel=pixel))
    assert "image[frame 3, channel 2, row 2, column 1]" in opened


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tube": 7}, "tube=7 is larger than video_frames=6: no patch fits"),
        ({"image": None, "patch": None, "position": "none"}, "video_frames=6 is for video, but there is no image"),
        ({"position": "rotary_2d"}, "position=rotary_2d is for patches of an image, and video_frames=6 is a video"),
    ],
)
def test_an_invalid_video_is_refused(fields, message):
    with pytest.raises(GlassformerError, match=message):
        VIDEO.replace(**fields)


@pytest.mark.parametrize(
    ("family", "keys", "message"),
    [
        ("vivit", {"tubelet_size": [2, 4]}, "it must be a list of frames, rows and columns"),
        ("videomae", {"qv_bias": True, "qkv_bias": False}, "qv_bias = true is not allowed: it contradicts qkv_bias"),
        ("videomae", {"tubelet_size": 7}, "tubelet_size = 7 is larger than num_frames = 4: no patch fits"),
    ],
)
def test_contradictory_keys_of_a_video_are_refused(family, keys, message):
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8, "image_size": 8}
    sizes |= {"patch_size": 4} if family == "videomae" else {}
    with pytest.raises(GlassformerError, match=message):
        from_config({"model_type": family, **sizes, "num_frames": 4, "tubelet_size": 2, **keys})


def test_the_older_key_of_videomaes_biases_is_read():
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8, "image_size": 8}
    config = {"model_type": "videomae", **sizes, "patch_size": 4, "num_frames": 4, "tubelet_size": 2}
    newer, older = (from_config({**config, key: False}).spec for key in ("qv_bias", "qkv_bias"))
    assert newer == older
    assert not {"q", "k", "v"} & set(newer.biases)
