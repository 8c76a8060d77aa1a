"""The sizes of a model and of its input, which may be taken for each other."""

from __future__ import annotations

import math
from collections.abc import Mapping

from glassformer.spec import EncoderSpec


def sizes_of(spec: EncoderSpec, t: int | None) -> Mapping[str, int]:
    """Return the sizes by name, each number once under its plainest name: 768 is d_model, not heads · d_k."""
    pixels = math.prod(spec.image_size)
    sizes = {
        "d_model": spec.d_model, "heads": spec.heads, "t": t, "d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width,
        "layers": spec.layers, "kv_heads": spec.key_heads, "vocab": spec.vocab, "positions": spec.positions,
        "the embedding size": spec.table_width, "heads · d_k": spec.heads * spec.head_k, "4 · d_model": 4 * spec.d_model,
        "patches": spec.patches if pixels else None, "the side of the image": spec.image if pixels else None,
        "the side of a patch": spec.patch if pixels else None, "pixels of the image": pixels,
        "pixels of the image, all channels": pixels * spec.channels,
    }  # fmt: skip
    alike: dict[int, str] = {}
    for name, size in sizes.items():
        if size:
            alike.setdefault(size, name)
    return {name: size for size, name in alike.items()}
