"""Replaying short inputs on a GPU gives what running them gives; without a GPU nothing is replayed."""

import pytest
import torch
from model_cases import BERT

from glassformer.model import Encoder
from glassformer.model.core import Padded
from glassformer.model.encoder import Inputs
from glassformer.model.fast import Inference, apply
from glassformer.model.fast.replay import LONGEST, Replayer

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_without_a_gpu_nothing_is_replayed():
    replayer = Replayer(Encoder(BERT).eval())
    with torch.inference_mode():
        assert not replayer.serves(Inputs(torch.zeros(1, 5, dtype=torch.int64)))


@CUDA
def test_a_replay_gives_what_a_run_gives_for_one_shape_after_the_other():
    encoder = apply(Encoder(BERT, device="cuda")).eval()
    ready = Inference(encoder)
    with torch.inference_mode():
        for t in (5, 7, 5, 16):
            given = Inputs(torch.randint(0, 50, (1, t), device="cuda"))
            assert torch.equal(ready.run(given, Padded()).states, encoder.run(given).states)
    assert len(ready.replayer.kept) == 3


@CUDA
def test_weights_that_move_are_found_again():
    encoder = apply(Encoder(BERT, device="cuda")).eval()
    ready, given = Inference(encoder), Inputs(torch.randint(0, 50, (1, 5), device="cuda"))
    with torch.inference_mode():
        ready.run(given, Padded())
    for parameter in encoder.parameters():
        parameter.data = parameter.data.clone() * 2
    with torch.inference_mode():
        assert torch.equal(ready.run(given, Padded()).states, encoder.run(given).states)


@CUDA
def test_long_padded_and_training_inputs_are_not_replayed():
    encoder = Encoder(BERT.replace(positions=2 * LONGEST), device="cuda").eval()
    replayer = Replayer(encoder)
    few, many = (Inputs(torch.zeros(1, t, dtype=torch.int64, device="cuda")) for t in (5, LONGEST + 1))
    assert not replayer.serves(few)  # gradients are on
    with torch.inference_mode():
        assert replayer.serves(few)
        assert not replayer.serves(many)
        assert not replayer.serves(few._replace(attend=torch.ones(1, 5, dtype=torch.bool, device="cuda")))
