"""Forward passes computed by another engine: arrays of the exported graph in, its arrays out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout
from glassformer.model.encoder import Inputs, Output
from glassformer.model.fast.replacing import with_parts

Arrays = Mapping[str, NDArray[np.generic]]
Compute = Callable[[Arrays], Arrays]  # the names in the exported graph


class Outside:
    """A replacement for `Inference`: `compute` runs the graph of `encoder`."""

    def __init__(self, encoder: Encoder, compute: Compute) -> None:
        self.encoder, self.compute = with_parts(encoder), compute
        self.encoder.rectangles_only = True

    def run(self, given: Inputs, layout: Layout) -> Output:
        """Return what `encoder.run` returns, without attention weights and hidden states."""
        ids = given.inputs.numpy()
        attend = np.ones(ids.shape, np.int64) if given.attend is None else given.attend.numpy().astype(np.int64)
        arrays = {"input_ids": ids, "attention_mask": attend}
        if self.encoder.spec.segments is not None:
            arrays["token_type_ids"] = np.zeros_like(ids) if given.segments is None else given.segments.numpy()
        found = {name: torch.from_numpy(np.array(part)) for name, part in self.compute(arrays).items()}
        return Output(found["last_hidden_state"], found.get("pooler_output"), found.get("logits"), {}, ())
