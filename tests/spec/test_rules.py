"""Every refusal names the field, the value, the rule and the way out, in one line."""

import pytest

from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

REFUSALS = [
    (
        {"d_model": 64, "heads": 7},
        "heads=7 does not divide d_model=64, and d_k is not given: every head needs a whole number of features. "
        "Try heads=8 or give d_k.",
    ),
    (
        {"heads": 8, "kv_heads": 3},
        "kv_heads=3 does not divide heads=8: every key/value head is shared by the same number of query heads. Try kv_heads=2.",
    ),
    ({"heads": 8, "kv_heads": 16}, "kv_heads=16 does not divide heads=8"),
    ({"kv_heads": 0}, "kv_heads=0 is not allowed: kv_heads must be a whole number from 1 to 1,000,000,000, or none."),
    ({"layers": -1}, "layers=-1 is not allowed: layers must be a whole number from 0 to 2,000."),
    ({"layers": 10**9}, "layers=1000000000 is not allowed: layers must be a whole number from 0 to 2,000."),
    ({"heads": 0}, "heads=0 is not allowed: heads must be a whole number from 1 to 1,000,000,000."),
    ({"d_model": 12.0}, "d_model=12.0 is not allowed: d_model must be a whole number from 1 to 1,000,000,000."),
    ({"d_model": True}, "d_model=True is not allowed: d_model must be a whole number from 1 to 1,000,000,000."),
    ({"d_model": 10**400}, "d_model=1000"),
    ({"eps": float("nan")}, "eps=nan is not allowed: eps must be a positive number."),
    ({"eps": 0.0}, "eps=0.0 is not allowed: eps must be a positive number."),
    ({"dropout": 1.0}, "dropout=1.0 is not allowed: dropout must be a number from 0 up to, but not including, 1."),
    ({"norm": "prenorm"}, "norm=prenorm is not allowed: norm must be one of post, pre. Did you mean 'pre'?"),
    ({"activation": "gleu"}, "Did you mean 'gelu'?"),
    ({"biases": ("q", "z")}, "biases must be all, none or a list of q, k, v, output"),
    ({"position": "learned"}, "position=learned needs positions, the number of rows in its table. Try positions=512."),
    ({"position": "rotary", "d_k": 3}, "d_k=3 is odd: rotary positions rotate pairs of features. Give an even d_k."),
    (
        {"position": "rotary_2d", "d_k": 6, "image": 8, "patch": 4},
        "d_k=6 is not a multiple of 4: position=rotary_2d rotates",
    ),
    ({"position": "rotary_2d"}, "position=rotary_2d rotates by row and column of a patch, but there is no image."),
    ({"mixing": "fourier", "window": 4}, "window=4 is not allowed with mixing=fourier: it is implemented for layers with att"),
    ({"mixing": "fourier", "position": "rotary"}, "position=rotary is not allowed with mixing=fourier"),
    ({"mixing": "fourier", "attend": "causal"}, "attend=causal is not allowed with mixing=fourier"),
    ({"position": "sinusoidal", "d_model": 7, "heads": 1}, "d_model=7 is odd: sinusoidal positions come in pairs"),
    (
        {"position": "disentangled", "relative_buckets": 7},
        "relative_buckets=7 is not allowed with position=disentangled: half of the rows are for earlier keys, half for later "
        "ones, and distances 0 and 1 have one each. Give an even number, 4 or more.",
    ),
    ({"position": "learned_disentangled", "positions": 9, "relative_buckets": 2}, "relative_buckets=2 is not allowed"),
    (
        {"position": "disentangled", "relative_buckets": 32, "relative_distance": 15},
        "relative_distance=15 is too small for relative_buckets=32: some rows would never be used. "
        "Give relative_distance=16 (one row per distance) or more.",
    ),
    ({"relative_terms": "c2p"}, "relative_terms must be one of both, content_to_position, position_to_content."),
    ({"position": "learned_disentangled"}, "position=learned_disentangled needs positions"),
    ({"share_layers": 9, "layers": 6}, "share_layers=9 is more than layers=6"),
    ({"layer_cycle": 4, "layers": 6}, "layer_cycle=4 does not divide layers=6"),
    (
        {"global_every": 3},
        "global_every=3 has no effect without window: it selects the layers that ignore the window. Give window, or",
    ),
    ({"image": 224}, "image=224 is given without patch: an image is cut into patches. Give both."),
    ({"patch": 16}, "patch=16 is given without image"),
    ({"image": 8, "patch": 16}, "patch=16 is larger than image=8: no patch fits."),
    ({"image": 8, "patch": 4, "patch_width": 16}, "patch_width=16 is larger than image_width=8: no patch fits."),
    ({"image_width": 8}, "image_width=8 is given without image, the height. Give both."),
    ({"patch_width": 4}, "patch_width=4 is given without patch, the height. Give both."),
    ({"image": 8, "patch": 4, "vocab": 9}, "vocab=9 and image=8 are both given"),
    (
        {"mels": 80},
        "mels=80 needs positions, the length of the audio: two frames make one position. Try positions=1500.",
    ),
    ({"mels": 80, "positions": 4, "vocab": 9}, "vocab=9 and mels=80 are both given: an encoder reads tokens or audio."),
    ({"mels": 80, "positions": 4, "image": 8, "patch": 4}, "image=8 and mels=80 are both given: an encoder reads an image or"),
    ({"mels": 80, "positions": 4, "class_tokens": 1}, "class_tokens, registers and mask_token are for image encoders"),
    ({"mels": 0, "positions": 4}, "mels=0 is not allowed: mels must be a whole number from 1 to 1,000,000,000, or none."),
    ({"class_tokens": 1}, "class_tokens, registers and mask_token are for image encoders"),
    ({"segments": 2}, "segments=2 needs a token embedding. Give vocab."),
    ({"head": "mlm"}, "head=mlm predicts tokens, but there is no vocabulary."),
    ({"head": "distilled", "image": 8, "patch": 4, "class_tokens": 1}, "class_tokens=1. Try class_tokens=2."),
    ({"head_norm": True}, "head_norm=true normalises the head's hidden layer, but head_hidden=none."),
    ({"head": "tag_patches"}, "head=tag_patches reads the patches of an image"),
    ({"position": "relative", "relative_distance": 8}, "relative_distance=8 is too small for relative_buckets=32"),
    ({"position": "relative_2d"}, "position=relative_2d is for images with one class token and no registers."),
]


@pytest.mark.parametrize(("fields", "message"), REFUSALS, ids=[str(fields)[:60] for fields, _ in REFUSALS])
def test_an_invalid_spec_is_refused_in_one_line(fields, message):
    with pytest.raises(GlassformerError) as refusal:
        EncoderSpec(**fields)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
