"""Published configs with one key changed, against transformers on the meta device: the same count, or a refusal."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tiny_models import class_of, guest

from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.program import build

MODELS = Path(__file__).parents[1] / "data" / "models"
# Sizes are halved or thereabouts, never enlarged: a changed model must still fit into the time of a test.
WORDS = (
    "gelu",
    "relu",
    "silu",
    "absolute",
    "rotary",
    "relative_key",
    "none",
    "layer",
    "group",
    "layer_norm",
    "c2p",
    "mean",
    "max",
)
# Not of the model: which class is built, and where it came from; classes of transformers are strict about their types.
LEFT = ("architectures", "model_type", "transformers_version", "dtype", "torch_dtype", "_name_or_path", "name", "label2id")
BOOKKEEPING = ("return_dict", "output_attentions", "output_hidden_states", "is_encoder_decoder", "torchscript", "use_cache")


def published() -> list[tuple[str, dict[str, Any], str]]:
    """Every record whose class transformers has, and whose file is whole."""
    found = []
    for path in sorted(MODELS.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        config = record["config"]
        if "auto_map" not in config and "text_config" not in config and "vision_config" not in config:
            found.append((path.stem, config, record["model_class"]))
    return found


RECORDS = published()


def changed(chance: random.Random, config: dict[str, Any]) -> dict[str, Any]:
    """The config with one key changed: to another value of its kind, to null, or left out."""
    key = chance.choice([key for key in config if key not in LEFT + BOOKKEEPING])
    value = config[key]
    others: list[Any] = [None]
    if isinstance(value, bool):
        others = [not value] * 3
    elif isinstance(value, int):
        others += [value - 1, value // 2, value // 3, 0, 1, 2, 3, -1]
    elif isinstance(value, float):
        others += [value / 2, 0.0, 1.0, 0.5]
    elif isinstance(value, str):
        others += list(WORDS)
    elif isinstance(value, list) and value:
        others += [value[:-1], [*value, value[-1]], value[::-1], []]
    other = chance.choice([*others, "left out"])
    return {name: other if name == key else old for name, old in config.items() if name != key or other != "left out"}


def their_count(name: str, config: dict[str, Any]) -> int | None:
    torch, transformers = guest("torch"), guest("transformers")
    model_class = class_of(transformers, name)
    try:
        with torch.device("meta"):
            model = model_class(model_class.config_class(**{key: value for key, value in config.items() if key != "model_type"}))
    except Exception:  # whatever it raises: the config describes no model
        return None
    return sum(parameter.numel() for parameter in model.parameters())


def our_count(config: dict[str, Any], name: str) -> int | None:
    try:
        return sum(parameter.size for parameter in build(from_config(config, as_class=name).spec).parameters)
    except GlassformerError as error:
        assert "\n" not in str(error)
        return None


def tried(stem: str, times: int) -> int:
    """Change one key so many times; return how many changed files both count."""
    _, config, name = next(record for record in RECORDS if record[0] == stem)
    chance, both = random.Random(stem), 0
    for _ in range(times):
        other = changed(chance, config)
        ours, theirs = our_count(other, name), their_count(name, other)
        if ours is not None and theirs is not None:
            differing = {key: other.get(key, "left out") for key in config if other.get(key, "left out") != config[key]}
            assert ours == theirs, (stem, name, differing)
            both += 1
    return both


NEWER = ("funnel-small", "layoutlmv3-base", "nystromformer-512", "vit-mae-base-pretraining", "wav2vec2-base-pretraining")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stem", NEWER)
def test_one_changed_key_never_gives_a_wrong_count(stem):
    assert tried(stem, 12) > 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stem", [stem for stem, *_ in RECORDS])
def test_one_changed_key_of_any_record_never_gives_a_wrong_count(stem):
    tried(stem, 60)
