"""An encoder made ready for many questions: whichever of the fast ways serves where it lies, and the plain one elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from glassformer.model import reordered
from glassformer.model.checks import Inputs
from glassformer.model.layouts import Layout, Padded
from glassformer.model.replay import Replayer, as_copies

if TYPE_CHECKING:
    from glassformer.model.encoder import Encoder, Output

Run: TypeAlias = "Callable[[Inputs, Layout], Output]"


class Ready:
    """An encoder in eval mode, asked again and again without gradients."""

    def __init__(self, encoder: Encoder, *, only_logits: bool = False) -> None:
        self.encoder, self.only_logits = encoder, only_logits
        self.replayer = Replayer(encoder, only_logits=only_logits)
        self.laid_out: tuple[object, Encoder] | None = None  # what the weights were, and the copy made of them

    def run(self) -> Run:
        """How a pass is run now; asked again for each batch of work, since weights may have changed in between."""
        if not self.encoder.training and self.encoder.here.is_cuda:
            return self.replayed
        laid_out = not self.encoder.training and reordered.serves(self.encoder)
        return partial((self.on_cpu() if laid_out else self.encoder).run, only_logits=self.only_logits)

    def on_cpu(self) -> Encoder:
        """The copy whose matrices are laid out for this processor, made again when a weight was written to."""
        now = reordered.fingerprint(self.encoder)
        if now is None:
            return self.encoder
        if self.laid_out is None or self.laid_out[0] != now:
            self.laid_out = (now, reordered.reordered(self.encoder))
        return self.laid_out[1]

    def replayed(self, given: Inputs, layout: Layout) -> Output:
        """A few tokens are replayed, many are run."""
        if isinstance(layout, Padded) and self.replayer.serves(given):
            return as_copies(self.replayer(given))
        return self.encoder.run(given, layout, only_logits=self.only_logits)
