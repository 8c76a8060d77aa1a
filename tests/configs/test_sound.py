"""Configs of raw audio against transformers: the count is exact, or the config is refused in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tiny_models import SOUND, guest

import glassformer as gf
from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.program.encoder import build
from glassformer.spec import EncoderSpec

RECORD = Path(__file__).parents[1] / "data" / "models" / "wav2vec2-large-ctc32.json"
FAMILIES = {
    "wav2vec2": "Wav2Vec2ForCTC",
    "hubert": "HubertForSequenceClassification",
    "wavlm": "WavLMForAudioFrameClassification",
    "unispeech": "UniSpeechModel",
    "unispeech-sat": "UniSpeechSatForCTC",
    "data2vec-audio": "Data2VecAudioForSequenceClassification",
}
ODD = (None, 0, -1, True, "x", 2.5, [])


def drawn(draw: random.Random) -> dict[str, Any]:
    heads, convolutions = draw.choice([1, 2, 3]), draw.randint(1, 4)
    return {
        **SOUND,
        "hidden_size": heads * draw.choice([4, 6]),
        "num_attention_heads": heads,
        "num_hidden_layers": draw.randint(0, 3),
        **{key: [draw.randint(1, 5) for _ in range(convolutions)] for key in ("conv_dim", "conv_kernel", "conv_stride")},
        "conv_bias": draw.random() < 0.5,
        "do_stable_layer_norm": draw.random() < 0.5,
        "feat_extract_norm": draw.choice(["group", "layer"]),
        "mask_time_prob": draw.choice([0.0, 0.05]),
        "use_weighted_layer_sum": draw.random() < 0.5,
        "num_conv_pos_embeddings": draw.choice([1, 4, 5]),
    }


def true_count(name: str, config: dict[str, Any]) -> int | None:
    """Parameters of the model that transformers builds; None where it cannot."""
    torch, transformers = guest("torch"), guest("transformers")
    model_class = getattr(transformers, name)
    try:
        with torch.device("meta"):
            model = model_class(model_class.config_class(**config))
    except Exception:  # whatever it raises: the config describes no model
        return None
    return sum(parameter.numel() for parameter in model.parameters())


def our_count(family: str, config: dict[str, Any]) -> int | None:
    try:
        spec = from_config({"model_type": family, **config}, as_class=FAMILIES[family]).spec
    except GlassformerError as error:
        assert "\n" not in str(error)
        return None
    return sum(parameter.size for parameter in build(spec).parameters)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_config_gives_a_wrong_count(family, number):
    draw, exact = random.Random(5), 0
    for _ in range(number):
        config = drawn(draw)
        if draw.random() < 0.3:  # one key changed
            config[draw.choice(list(config))] = draw.choice(ODD)
        ours, true = our_count(family, config), true_count(FAMILIES[family], config)
        if ours is not None and true is not None:
            assert ours == true, config
            exact += 1
    assert exact > number // 3


def test_a_published_model_has_its_parameters_and_the_operations_that_pytorch_counts():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    spec = from_config(record["config"]).spec
    assert gf.count(spec).total == record["parameters"]["total"] == 315_461_792
    assert gf.cost(spec).multiply_adds == record["flops"]["macs"]  # a second: 16,000 samples


def test_positions_and_frames_are_each_other_s_inverse():
    spec = gf.spec("wav2vec2-base")
    assert [spec.positions_of(frames) for frames in (400, 16_000, 16_079, 16_080)] == [1, 49, 49, 50]
    assert [spec.frames_of(positions) for positions in (1, 49, 50)] == [400, 15_760, 16_080]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"samples": 399}, "samples=399 is too short: the convolutions need 400 for one position."),
        (
            {"conv_strides": (5, 2)},
            "one width, kernel and stride for each convolution, found 7 conv_widths, 7 conv_kernels, 2 conv",
        ),
        ({"position_groups": 7}, "position_groups=7 does not divide d_model=768. Try position_groups=6."),
        ({"mels": None}, "samples=16000 needs mels, the features of a frame: raw audio has one. Give mels=1."),
        ({"position": "learned", "positions": 49}, "positions=49 is not allowed with samples"),
        ({"relative_gate": True, "heads": 5, "d_k": 4}, "heads=5 does not divide d_model=768, and a gate reads one head's"),
        (
            {"conv_kernels": (0,) * 7},
            "conv_kernels=0,0,0,0,0,0,0 is not allowed: conv_kernels must be none or a list",
        ),
        ({"head": "classify", "head_projection": 4}, "head_projection=4 projects tokens before their mean"),
        ({"head": "classify", "layer_sum": True}, "layer_sum=true sums states for a head that reads all of them"),
    ],
)
def test_impossible_configs_are_refused(fields, message):
    with pytest.raises(GlassformerError) as refused:
        gf.spec("wav2vec2-base").replace(**fields)
    assert message in str(refused.value)


def test_lists_are_written_with_commas():
    one = gf.spec("wav2vec2-base", conv_widths="4,5", conv_kernels="3, 2", conv_strides="2,1")
    assert (one.conv_widths, one.conv_kernels) == ((4, 5), (3, 2))
    assert EncoderSpec(**one.to_dict()) == one
