"""`gf.Decoder`: the encoder's layers under a causal rule, with the logits of the next token."""

from __future__ import annotations

from typing import Any

from glassformer.arguments import require
from glassformer.errors import GlassformerError
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.spec import DecoderSpec, Seq2SeqSpec
from glassformer.spec.rotary_scales import COMPUTED


class Decoder(Encoder):
    """A decoder-only model of any spec, ready to train: `Decoder(spec)(tokens).logits`."""

    def __init__(self, spec: DecoderSpec, **where: Any) -> None:
        """`where` are the options of `Encoder`: `device`, `dtype`, `fresh`."""
        require(DecoderSpec, spec, "a decoder is built from a decoder's spec, as in gf.Decoder(gf.spec('gpt2'))")
        if spec.rotary_scaling not in ("none", *COMPUTED):
            raise GlassformerError(
                f"rotary_scaling={spec.rotary_scaling} is not implemented in the model: it can be counted, not built. "
                "Unscaled angles are another model: rotary_scaling=none."
            )
        super().__init__(spec, **where)


def model_of(spec: Any, **where: Any) -> Any:
    """The PyTorch model of a spec: an encoder-decoder, a decoder, or an encoder."""
    if isinstance(spec, Seq2SeqSpec):
        return Seq2Seq(spec, **where)
    return Decoder(spec, **where) if isinstance(spec, DecoderSpec) else Encoder(spec, **where)
