"""A tiny BERT run that tests share: two texts of four tokens, the second half padding."""

import numpy as np

from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec

BERT = EncoderSpec(
    d_model=8, heads=2, layers=2, vocab=20, positions=8, segments=2, position="learned", embedding_norm=True, pooler="dense"
)


def tiny(**options):
    program = build(BERT, batch=2, t=4, padded=True)
    inputs = {"tokens": np.arange(8).reshape(2, 4), "attend": [[1, 1, 1, 1], [1, 1, 0, 0]]} | options
    return run(program, legible_weights(program), inputs)
