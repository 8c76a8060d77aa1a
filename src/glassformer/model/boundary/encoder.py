"""`gf.Encoder`: the plain encoder with allocated memory, initial weights, checked inputs and parameter names of the ledger."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from glassformer.arguments import require, yes_no
from glassformer.errors import GlassformerError
from glassformer.model.boundary import checks, start
from glassformer.model.boundary.built import Built
from glassformer.model.encoder import Inputs, Output, PlainEncoder, Wanted
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import UNPOOLED_HEADS
from glassformer.spec.fields import field_text


class Encoder(PlainEncoder, Built):
    """An encoder of any spec, ready to train: `Encoder(spec)(tokens).states`."""

    def __init__(
        self,
        spec: EncoderSpec,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | str | None = None,
        fresh: bool = True,
    ) -> None:
        """`fresh=False` leaves the weights uninitialized, for a loader that fills all of them."""
        require(EncoderSpec, spec, "an encoder is built from a spec, as in gf.Encoder(gf.spec('bert-tiny'))")
        if spec.mask_ratio:
            raise GlassformerError(
                f"mask_ratio={spec.mask_ratio:g} leaves out patches at random, which is not implemented in the model: it can be "
                "counted, not built. mask_ratio=0 reads all patches."
            )
        _require_built(spec)
        for name in ("longest", "image_size", "head_k"):
            getattr(spec, name)  # computed here, since torch.compile cannot enter a cached property in Python 3.11
        with start.laid_out():
            super().__init__(spec)
        self.finish(device, dtype, fresh=fresh)

    def forward(  # noqa: PLR0913  # what a model may be given, by name
        self,
        inputs: Tensor,
        attend: Tensor | None = None,
        segments: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        predict_at: Tensor | None = None,
        boxes: Tensor | None = None,
        only_logits: bool = False,
        return_weights: Collection[int] = (),
        return_hidden: bool = False,
    ) -> Output:
        """One forward pass over tokens [batch, t], an image [batch, channel, row, column], sound [batch, mel, frame] or vectors.

        `attend` is True at real tokens. `positions` replaces the default 0, 1, 2, … `predict_at` chooses where a masked-token
        head predicts: True there, or flat indices (row · t + column), which torch.compile prefers. `boxes` [batch, t, 4] are the
        places of tokens on a page (left, upper, right, lower), by default zeros. With `only_logits`, nothing
        but the logits is returned: after `fast.apply`, the last layer then computes what follows its attention only for the
        tokens that the head reads.
        """
        given = Inputs(inputs, attend, segments, positions, predict_at, boxes)
        given = checks.checked(self.spec, given, self.here, return_weights)
        wanted = Wanted(return_weights, yes_no("return_hidden", return_hidden), yes_no("only_logits", only_logits))
        if wanted.only_logits:
            checks.check_only_logits(self.spec, looked_at=bool(wanted.weights) or wanted.hidden)
        return self.run(given, wanted=wanted)


def _require_built(spec: EncoderSpec) -> None:
    """Refuse parts that are described, counted and run in float64, and that the model lacks."""
    lacking = {
        "global_attention": spec.global_attention == "question",
        "landmarks": spec.landmarks is not None,
        "adapters": bool(spec.adapters),
        "head_block": spec.head_block,
        "head": spec.head in UNPOOLED_HEADS,
    }
    for field in (field for field, lacks in lacking.items() if lacks):
        told = field_text(getattr(spec, field))
        way = "--as the model's class without a head reads the encoder" if field == "head" else "Leave it out for another model"
        raise GlassformerError(f"{field}={told} is not implemented in the model: it can be counted, not built. {way}.")
