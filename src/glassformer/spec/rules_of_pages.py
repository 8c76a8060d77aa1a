"""The rules of tokens that have a place on a page."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.spec.encoder_sizes import EncoderSizes
from glassformer.spec.fields import field_text

NUMBERS = {"page_parts": "128,128", "page_relative": "64,256", "beside_picture": "224,16,3"}
BY_DISTANCE = ("relative", "learned_relative", "convolution_relative")


def check_page(spec: EncoderSizes) -> None:
    """Refuse boxes without a page, and sizes that do not fit."""
    if spec.page is not None and (spec.vocab is None or spec.embedding_size is not None):
        raise GlassformerError(f"page={spec.page} places tokens of width d_model: give vocab, and no embedding_size.")
    if spec.relative_scaled and spec.position not in BY_DISTANCE:
        raise GlassformerError(
            f"relative_scaled=true scales a relative bias, but position={spec.position} has none. Give position=relative."
        )
    for field, example in NUMBERS.items():
        value = getattr(spec, field)
        if not value:
            continue
        given = f"{field}={field_text(value)}"
        if spec.page is None:
            raise GlassformerError(f"{given} is for tokens on a page, but there is none. Give page=1024, or leave it out.")
        if len(value) != example.count(",") + 1:
            raise GlassformerError(f"{given} must have {example.count(',') + 1} numbers, such as {example}.")
    if spec.page_parts and 4 * spec.page_parts[0] + 2 * spec.page_parts[1] != spec.d_model:
        raise GlassformerError(
            f"page_parts={field_text(spec.page_parts)}: four sides, height and width make "
            f"{4 * spec.page_parts[0] + 2 * spec.page_parts[1]} features, and d_model={spec.d_model}."
        )
    if spec.page_relative:
        _relative(spec)
    if spec.beside_picture and spec.beside_picture[0] < spec.beside_picture[1]:
        raise GlassformerError(f"beside_picture={field_text(spec.beside_picture)}: the patch is larger than the picture.")


def _relative(spec: EncoderSizes) -> None:
    buckets, distance = spec.page_relative
    given = f"page_relative={field_text(spec.page_relative)}"
    if spec.position not in BY_DISTANCE or spec.relative_tables != "shared" or not spec.layers:
        raise GlassformerError(f"{given} is added to a relative bias that all layers share: give position=learned_relative.")
    if buckets < 2 or distance <= buckets // 4:
        raise GlassformerError(f"{given}: give 2 buckets or more, and a distance above {buckets // 4}.")
