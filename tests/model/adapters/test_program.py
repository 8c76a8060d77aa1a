"""The program with adapters has the numbers and the counts of the model with adapters."""

import numpy as np
import pytest
import torch

from glassformer.configs.presets import preset
from glassformer.model import Encoder
from glassformer.model.adapters import lora
from glassformer.numbers import run
from glassformer.program import build
from glassformer.program.trained import with_adapters

SYMBOLS = ("W_Q", "W_V", "W_O", "W_1")
SMALL = {"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12, "vocab": 20, "dropout": 0.0}


@pytest.mark.parametrize("name", ["bert-base", "modernbert-base", "deberta-v3-base"])
def test_the_program_with_adapters_agrees_with_the_model(name):
    torch.manual_seed(1)
    spec = preset(name).replace(**SMALL, pooler="none")
    encoder = lora.apply(Encoder(spec, dtype=torch.float64).eval(), lora.Lora(3, 3.0, SYMBOLS))
    weights = {name: view.numpy() for name, view in encoder.ledger()}
    program = with_adapters(build(spec, batch=2, t=5), 3, SYMBOLS)
    for piece in lora.pieces_of(encoder):
        torch.nn.init.normal_(piece.adapter.B)
        for letter, matrix in (("A", piece.adapter.A), ("B", piece.adapter.B)):
            tensor = program.tensors[f"{piece.block}.{letter}{piece.symbol[1:]}"]
            weights[tensor.name] = matrix.detach().numpy().T.reshape(tensor.shape)
    tokens = np.arange(10).reshape(2, 5)
    ours = run(program, weights, {"tokens": tokens})[program.output.name]
    with torch.no_grad():
        theirs = encoder(torch.from_numpy(tokens)).states.numpy()
    assert np.abs(ours - theirs).max() < 1e-10
    assert sum(one.size for one in program.parameters) == sum(one.numel() for one in encoder.parameters())
