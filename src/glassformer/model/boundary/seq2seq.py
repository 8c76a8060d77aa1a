"""`gf.Seq2Seq`: the plain encoder-decoder with allocated memory, initial weights, checked inputs and names of the ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import torch
from torch import Tensor

from glassformer.arguments import require, yes_no
from glassformer.errors import GlassformerError
from glassformer.model.boundary import checks, names, start
from glassformer.model.boundary.built import Built
from glassformer.model.encoder import Inputs, Wanted
from glassformer.model.seq2seq import Both, Pair, PlainSeq2Seq
from glassformer.spec import Seq2SeqSpec


class Seq2Seq(PlainSeq2Seq, Built):
    """An encoder-decoder of any spec, ready to train: `Seq2Seq(spec)(source, target).logits`."""

    def __init__(
        self,
        spec: Seq2SeqSpec,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | str | None = None,
        fresh: bool = True,
    ) -> None:
        """`fresh=False` leaves the weights uninitialized, for a loader that fills all of them."""
        require(Seq2SeqSpec, spec, "it is built from an encoder-decoder's spec, as in gf.Seq2Seq(gf.spec('transformer'))")
        with start.laid_out():
            super().__init__(spec)
        self.finish(device, dtype, fresh=fresh)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        attend: Tensor | None = None,
        attend_target: Tensor | None = None,
        *,
        predict_at: Tensor | None = None,
        return_weights: Collection[int] = (),
        return_hidden: bool = False,
    ) -> Both:
        """One forward pass over a source (tokens [batch, t], or other inputs of the encoder) and a target [batch, u].

        The logits at a target position are those of the next token. `attend` and `attend_target` are True at real tokens; a
        target is padded on the right, so `attend_target` does not change anything before the padding.
        """
        read = checks.checked(self.spec.encoder, Inputs(source, attend), self.here, ())
        given = Inputs(target, attend_target, None, None, predict_at)
        written = checks.checked(self.spec.decoder, given, self.here, return_weights)
        if len(source) != len(target):
            raise GlassformerError(f"source has {len(source)} rows, target {len(target)}: each source needs a target.")
        return self.run(Pair(read, written), Wanted(return_weights, yes_no("return_hidden", return_hidden)))

    def ledger(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter by its name in the ledger, as a view with the ledger's axes; a shared table appears once."""
        doubled = "decoder.embeddings.E_token" if self.spec.shares_table else None
        return ((name, view) for name, view in names.ledger(self) if name != doubled)
