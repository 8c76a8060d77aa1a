"""What every model at the boundary has: memory and initial weights once it is laid out, and the names of the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.arguments import yes_no
from glassformer.model.boundary import names, start


class Built(nn.Module):
    """A plain model that was laid out without memory, ready to train."""

    def finish(self, device: torch.device | str | None, dtype: torch.dtype | str | None, *, fresh: bool) -> None:
        """Allocate the memory; initialize the weights unless a loader fills all of them."""
        start.allocate(self, device, dtype)
        self.share()
        start.fill_constants(self)
        if yes_no("fresh", fresh):
            self.reset_parameters()

    def share(self) -> None:
        """Share the tables that several parts use, which were allocated apart: most models have none."""

    def reset_parameters(self) -> None:
        """Initialize the weights: see `start.fill`."""
        start.fill(self)

    def ledger(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter by its name in the ledger, as a view with the ledger's axes: `W_Q` is [d_model, head, d_k]."""
        return names.ledger(self)

    def load_ledger(self, weights: Mapping[str, Any]) -> None:
        """Fill every parameter from a mapping of ledger names to NumPy arrays or tensors; missing or extra names are refused."""
        names.load(self, weights)
