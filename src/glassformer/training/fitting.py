"""Choosing an encoder for the data: a checkpoint, a given spec or a small default, with a head for the task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from glassformer.checkpoints.folder import model_folder
from glassformer.configs.presets import known_preset, preset
from glassformer.configs.reading import SIZES, draft, only_fields, preset_meant
from glassformer.errors import GlassformerError, shown
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.spec.fields import accept, rule_for
from glassformer.spec.seq2seq_spec import accept_of, known_field
from glassformer.spec.unread import require_read
from glassformer.training.data.dataset import Dataset, RowsFor
from glassformer.training.data.images import Pictures
from glassformer.training.data.sets import SETS
from glassformer.training.drafting import PADDING, with_published_head
from glassformer.training.settings import Settings
from glassformer.training.starting import Start, check_kind, is_checkpoint, kind_of, start_from
from glassformer.training.tasks import task_of
from glassformer.training.tokenizers import Tokenizer

SMALL: dict[str, Any] = {"norm": "pre", "activation": "gelu", "position": "learned", "pool": "mean"}
FROM_CHECKPOINT: dict[str, dict[str, Any]] = {
    "all": {"lr": 5e-5, "epochs": 3},
    "head": {"lr": 1e-2, "epochs": 10},
    "adapters": {"lr": 5e-4, "epochs": 3},
}
WIDTH, DEPTH = 128, 4  # that the default learning rate suits
FEWEST_AT_ONCE, MOST_AT_ONCE = 4096, 32_768  # tokens of a batch on a GPU
FEWEST_ON_CPU = 1024  # of a task whose batches are always budgets of tokens
STEPS_AN_EPOCH, CHARACTERS_A_TOKEN = 100, 4
ENOUGH_CHARACTERS, CHARACTERS_A_PIECE = 5_000_000, 600  # to train a tokenizer on: more give about the same pieces
FEWEST_PATCHES, MOST_PATCHES = 16, 49  # patches per image of a small image encoder

# A folder with weights, a spec, or None for a small encoder chosen for the data.
Model: TypeAlias = str | Path | EncoderSpec | Mapping[str, Any] | None


def names_checkpoint(model: Model) -> bool:
    """Return whether a model is a folder with weights."""
    return isinstance(model, str | Path) and is_checkpoint(str(model))


def start_for(model: Model, fields: Mapping[str, Any], data: Dataset, settings: Settings) -> Start | None:
    """Return the given checkpoint, prepared for the data; None if the model is not a checkpoint."""
    if not names_checkpoint(model):
        return None
    _refuse_sizes(fields)
    changed = {name: accept(rule_for(name).name, value) for name, value in fields.items()}
    return start_from(cast(str, model), changed, data, settings)


def spec_for(
    model: Model, fields: Mapping[str, Any], data: Dataset, tokenizer: Tokenizer | None, settings: Settings
) -> EncoderSpec:
    """Return the given spec with its fields, or a small spec chosen for the data if none is given."""
    _refuse_sizes(fields)
    if model is None:
        small = small_spec(data, tokenizer, settings)
        kind = type(small)
        changed = {name: accept_of(kind, known_field(kind, name, ()), value) for name, value in fields.items()}
        spec = small.replace(**changed)
        check_fit(spec, data, tokenizer)
    else:
        if isinstance(model, str):
            _refuse_published(model)
        asked, changed = draft(model, decoders=data.form.model != "encoder", **only_fields(fields))
        check_kind(asked.spec, asked.label, data)
        spec = fitted(asked.spec, changed, data, tokenizer, settings)
        if isinstance(model, str) and known_preset(model) is not None:
            spec = with_published_head(spec, changed)
    require_read(spec, changed)
    return spec


def rows_for(model: Model, data: str | Path, target: str | None) -> RowsFor | None:
    """Return what kind of model the rows are for; None: that of the built-in data, or an encoder."""
    if model is None:
        return "seq2seq" if target is not None and str(data) not in SETS else None
    if names_checkpoint(model):
        what: Any = model_folder(Path(cast(str, model)))
    else:
        what = model
    spec = draft(what, decoders=True)[0].spec
    return kind_of(spec)


def _refuse_published(name: str) -> None:
    """Refuse the name of a published checkpoint: its weights are not available, and the preset would train from scratch."""
    meant = preset_meant(name)
    if meant is not None and meant != name.lower():
        raise GlassformerError(
            f"'{shown(name)}' is a published checkpoint, which is not available here: give the folder that holds its weights, or "
            f"--download, which fetches it. {meant} is the same encoder, trained from scratch."
        )


def _refuse_sizes(fields: Mapping[str, Any]) -> None:
    ways = {"batch": "--batch-size", "t": "--max-length"}
    for name in SIZES:
        if name in fields:
            raise GlassformerError(f"{name}= is not a field of a trained encoder: write {ways[name]} {fields[name]}.")


def tokenizer_for(data: Dataset, settings: Settings) -> Tokenizer | None:
    """Train the tokenizer of the task on the training texts; return None for images."""
    if data.form.inputs == "image":
        return None
    task, lowercase = task_of(data), settings.case == "lower"
    return Tokenizer.train(
        sampled(data.train.texts(), settings.vocab), vocab=settings.vocab, kind=task.tokens, lowercase=lowercase, ends=task.ends
    )


def sampled(texts: Iterable[str], vocab: int) -> list[str]:
    """Return texts to train a tokenizer on: all of them, or of a large corpus every n-th."""
    every = list(texts)
    return every[:: max(1, sum(map(len, every)) // max(ENOUGH_CHARACTERS, CHARACTERS_A_PIECE * vocab))]


def suggested(data: Dataset, *, checkpoint: bool = False, only: str = "all") -> dict[str, Any]:
    """Return default settings for this kind of data and for training from a checkpoint or from scratch."""
    if checkpoint:
        return FROM_CHECKPOINT[only]
    return task_of(data).suggested(data)


def rate_for(spec: EncoderSpec, rate: float) -> float:
    """Return the learning rate for random weights of a spec: smaller for wide ones, and for deep ones with norms after the sums.

    BERT-base gets about 1e-4, the rate that it was published with. At 1e-3 it learns nothing.
    """
    if isinstance(spec, Seq2SeqSpec):
        return rate
    deep = math.sqrt(DEPTH / spec.layers) if spec.norm == "post" and spec.layers > DEPTH else 1.0
    return float(f"{rate * deep * min(1.0, WIDTH / spec.d_model):.1e}")


def budget_for(data: Dataset, device: str) -> dict[str, Any]:
    """Return the tokens of a batch of long texts on a GPU (enough to keep it busy, and many steps in an epoch), or of pairs."""
    task = task_of(data)
    if not task.long_texts or (device != "cuda" and not task.by_tokens):
        return {}
    tokens = sum(map(len, data.train.texts())) // CHARACTERS_A_TOKEN // STEPS_AN_EPOCH
    fewest = FEWEST_AT_ONCE if device == "cuda" else FEWEST_ON_CPU
    return {"batch_tokens": max(fewest, min(MOST_AT_ONCE, 1 << max(tokens.bit_length() - 1, 0)))}


def small_spec(data: Dataset, tokenizer: Tokenizer | None, settings: Settings) -> EncoderSpec:
    """Return a spec for small data on a laptop: d_model 64 and 4 layers for images, 128 and 2 for texts."""
    if data.form.model != "encoder":
        return small_writer(data, tokenizer, settings)
    task = task_of(data)
    common: dict[str, Any] = SMALL | input_fields(data, tokenizer) | task.body(None) | task.small | task.head(data)
    if data.form.inputs == "image":
        patch = _patch(common["image"], common["image_width"])
        return _spec(common | {"d_model": 64, "heads": 4, "layers": 4, "patch": patch, "embedding_norm": True, "dropout": 0.0})
    return _spec(common | {"d_model": 128, "heads": 4, "layers": 2, "positions": settings.max_length, "dropout": 0.2})


def small_writer(data: Dataset, tokenizer: Tokenizer | None, settings: Settings) -> EncoderSpec:
    """Return a small decoder, or a small encoder-decoder: the classes GPT-2 and M2M100 of transformers fit them."""
    sizes: dict[str, Any] = input_fields(data, tokenizer) | {"positions": settings.max_length + 1, "dropout": 0.1}
    if data.form.model == "decoder":
        return preset("gpt2").replace(**sizes, d_model=128, heads=4, layers=2)
    offset = 1 if tokenizer is None else tokenizer.pad_id + 1  # M2M100 counts positions from there
    return preset("m2m100-418m").replace(**sizes, position_offset=offset, d_model=256, heads=4, layers=3)


def fitted(
    spec: EncoderSpec, given: dict[str, Any], data: Dataset, tokenizer: Tokenizer | None, settings: Settings
) -> EncoderSpec:
    """Fill in the fields that the data determines, unless they were `given`; refuse a spec that cannot work."""
    if spec.mels is not None:
        raise GlassformerError(
            f"this spec reads audio (mels={spec.mels}), and training on audio is not supported: choose another spec."
        )
    wanted = input_fields(data, tokenizer) | task_of(data).body(None) | task_of(data).head(data)
    if data.form.inputs == "image" and spec.vocab is not None:
        raise GlassformerError(
            f"{data.name} contains images, but this spec reads texts (vocab={spec.vocab}): choose another spec."
        )
    if data.form.inputs == "image" and spec.patch is None:
        wanted["patch"] = _patch(wanted["image"], wanted["image_width"])
    if data.form.inputs != "image" and spec.patch is not None:
        raise GlassformerError(
            f"{data.name} contains texts, but this spec reads images (patch={spec.patch}): choose another spec."
        )
    if spec.learns_positions and data.form.inputs != "image" and (spec.positions or 0) < settings.max_length:
        wanted["positions"] = settings.max_length
    if spec.position_offset and not (spec.predicts_next and spec.learns_positions):
        wanted["position_offset"] = PADDING + 1  # positions start after the padding token, which is our tokenizer's
    made = spec.replace(**{name: value for name, value in wanted.items() if name not in given})
    check_fit(made, data, tokenizer)
    return made


def check_fit(spec: EncoderSpec, data: Dataset, tokenizer: Tokenizer | None) -> None:
    """Refuse an encoder that cannot read the data or has too few outputs for its labels."""
    for name, value in (input_fields(data, tokenizer) | task_of(data).head(data)).items():
        has = getattr(spec, name)
        enough = name in ("vocab", "classes") and isinstance(has, int) and has >= value
        if name == "image_width":
            has = spec.image_size[1]
        if has != value and not enough:
            raise GlassformerError(f"{name}={has} does not fit {data.name}: it needs {name}={value}. Leave {name} out.")


def input_fields(data: Dataset, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Return the spec fields that the inputs determine."""
    if data.form.inputs == "image":
        channels, height, width = cast(Pictures, data.train.inputs).shape
        return {"channels": channels, "image": height, "image_width": width, "vocab": None}
    assert tokenizer is not None
    return {"vocab": tokenizer.vocab}


def _patch(height: int, width: int) -> int:
    """Return the patch size that gives a suitable number of patches and leaves the fewest border pixels out."""
    counts = {size: (height // size) * (width // size) for size in range(1, min(height, width) + 1)}
    suitable = [size for size, count in counts.items() if FEWEST_PATCHES <= count <= MOST_PATCHES]
    if not suitable:
        return next((size for size, count in counts.items() if count <= MOST_PATCHES), min(height, width))
    return min(suitable, key=lambda size: (height * width - counts[size] * size**2, size))


def _spec(fields: dict[str, Any]) -> EncoderSpec:
    return EncoderSpec(**fields)
