"""From data to an encoder that fits it: a small spec where none was named, and head, vocabulary or image size in any case."""

from __future__ import annotations

from typing import Any, cast

from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.images import Pictures
from glassformer.training.settings import Settings
from glassformer.training.tasks import head_fields
from glassformer.training.tokenizers import Tokenizer

SMALL: dict[str, Any] = {"norm": "pre", "activation": "gelu", "position": "learned", "pool": "mean"}
# A tokenizer's size: a token that was seen in a dozen places can be learned, one that was seen once cannot.
FEWEST_TOKENS, MOST_TOKENS, WORDS_A_TOKEN = 500, 8000, 12
FEWEST_PATCHES, MOST_PATCHES = 16, 49  # that a small image encoder cuts an image into


def tokenizer_for(data: Dataset, settings: Settings) -> Tokenizer | None:
    """A WordPiece tokenizer trained on the training texts; None for images."""
    if data.task == "image":
        return None
    return Tokenizer.train(data.train.texts(), vocab=settings.vocab, lowercase=settings.case == "lower")


def suggested(data: Dataset, *, checkpoint: bool = False, only: str = "all") -> dict[str, Any]:
    """Settings that suit this kind of data, where they were not given: for a checkpoint small steps, for small encoders help."""
    if checkpoint:
        return {"lr": 1e-2, "epochs": 10} if only == "head" else {"lr": 5e-5, "epochs": 3}
    if data.task == "image":
        return {"batch_size": 16}
    if data.task == "mlm":
        return {}
    words = sum(len(text.split()) for text in data.train.texts())
    vocab = min(MOST_TOKENS, max(FEWEST_TOKENS, words // WORDS_A_TOKEN))
    return {"augment": "hide", "case": "lower", "vocab": vocab}


def small_spec(data: Dataset, tokenizer: Tokenizer | None, settings: Settings) -> EncoderSpec:
    """An encoder that learns a small set on a laptop: d_model 64 and 4 layers for images, 128 and 2 for texts."""
    common: dict[str, Any] = SMALL | input_fields(data, tokenizer) | head_fields(data)
    if data.task == "image":
        patch = _patch(common["image"], common["image_width"])
        return _spec(common | {"d_model": 64, "heads": 4, "layers": 4, "patch": patch, "embedding_norm": True, "dropout": 0.0})
    return _spec(common | {"d_model": 128, "heads": 4, "layers": 2, "positions": settings.max_length, "dropout": 0.2})


def fitted(
    spec: EncoderSpec, given: dict[str, Any], data: Dataset, tokenizer: Tokenizer | None, settings: Settings
) -> EncoderSpec:
    """A named spec with what the data decides, unless it was `given` by hand; what cannot work is refused."""
    if spec.mels is not None:
        raise GlassformerError(
            f"this spec reads sound (mels={spec.mels}), and there is no data of sound here: name another spec."
        )
    wanted = input_fields(data, tokenizer) | head_fields(data)
    if data.task == "image" and spec.vocab is not None:
        raise GlassformerError(f"{data.name} holds images, and this spec reads texts (vocab={spec.vocab}): name another spec.")
    if data.task == "image" and spec.patch is None:
        wanted["patch"] = _patch(wanted["image"], wanted["image_width"])
    if data.task != "image" and spec.patch is not None:
        raise GlassformerError(f"{data.name} holds texts, and this spec reads images (patch={spec.patch}): name another spec.")
    if spec.learns_positions and data.task != "image" and (spec.positions or 0) < settings.max_length:
        wanted["positions"] = settings.max_length
    made = spec.replace(**{name: value for name, value in wanted.items() if name not in given})
    check_fit(made, data, tokenizer)
    return made


def check_fit(spec: EncoderSpec, data: Dataset, tokenizer: Tokenizer | None) -> None:
    """Refuse an encoder that cannot read the data, or has no place for its labels, before any step is taken."""
    for name, value in (input_fields(data, tokenizer) | head_fields(data)).items():
        has = getattr(spec, name)
        enough = name in ("vocab", "classes") and isinstance(has, int) and has >= value
        if name == "image_width":
            has = spec.image_size[1]
        if has != value and not enough:
            raise GlassformerError(f"{name}={has} does not fit {data.name}: it needs {name}={value}. Leave {name} out.")


def input_fields(data: Dataset, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """The fields of a spec that the inputs decide."""
    if data.task == "image":
        channels, height, width = cast(Pictures, data.train.inputs).shape
        return {"channels": channels, "image": height, "image_width": width, "vocab": None}
    assert tokenizer is not None
    return {"vocab": tokenizer.vocab}


def _patch(height: int, width: int) -> int:
    """The side of a patch that leaves as many patches as a small encoder likes, and the fewest pixels at the borders over."""
    counts = {size: (height // size) * (width // size) for size in range(1, min(height, width) + 1)}
    liked = [size for size, count in counts.items() if FEWEST_PATCHES <= count <= MOST_PATCHES]
    if not liked:
        return next((size for size, count in counts.items() if count <= MOST_PATCHES), min(height, width))
    return min(liked, key=lambda size: (height * width - counts[size] * size**2, size))


def _spec(fields: dict[str, Any]) -> EncoderSpec:
    return EncoderSpec(**fields)
