"""EncoderSpec: the description of an encoder as one flat, frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.spec.encoder_sizes import EncoderSizes
from glassformer.spec.rules import check


@dataclass(frozen=True, kw_only=True, repr=False)
class EncoderSpec(EncoderSizes):
    """Description of an encoder: widths, depth and choices, named as in the paper. Use `replace` for variants."""

    def __post_init__(self) -> None:
        check(self)
