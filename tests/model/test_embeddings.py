"""Embeddings: patches are a convolution, audio passes two; positions are rows of tables, learned tokens are in their places."""

import math

import pytest
import torch
from model_cases import BERT, VIT, WHISPER, both_ways, furthest, inputs_of, seeded

from glassformer.model import Encoder
from glassformer.model.embeddings import sinusoid
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.spec import EncoderSpec, token_names


def embedded(encoder: Encoder, inputs, **more) -> torch.Tensor:
    return encoder(inputs, return_hidden=True, **more).hidden[0]


def test_patches_are_a_convolution_with_the_stride_of_a_patch():
    encoder, image = seeded(VIT.replace(position="none", class_tokens=0, registers=0)), inputs_of(VIT)
    views = dict(encoder.ledger())
    kernel = views["embeddings.W_patch"].T.reshape(16, 2, 3, 2)
    wanted = torch.nn.functional.conv2d(image, kernel, views["embeddings.b_patch"], stride=(3, 2))
    assert furthest(embedded(encoder, image), wanted.flatten(2).transpose(1, 2)) < 1e-12


def test_sound_passes_two_convolutions_of_width_three_the_second_with_stride_two():
    encoder, frames = seeded(WHISPER.replace(position="none")), inputs_of(WHISPER)
    views, x = dict(encoder.ledger()), frames
    for name, stride in (("conv1", 1), ("conv2", 2)):
        kernel = views[f"embeddings.W_{name}"].permute(2, 0, 1)
        x = torch.nn.functional.conv1d(x, kernel, views[f"embeddings.b_{name}"], stride=stride, padding=1)
        x = torch.nn.functional.gelu(x)
    assert x.shape == (3, 16, 4)
    assert furthest(embedded(encoder, frames), x.transpose(1, 2)) < 1e-12
    assert furthest(embedded(encoder, frames), both_ways(WHISPER.replace(position="none")).run["x"]) < 1e-12


def test_class_tokens_come_first_then_registers_then_patches():
    spec = VIT.replace(position="none", class_tokens=3)
    encoder = seeded(spec)
    views, x = dict(encoder.ledger()), embedded(encoder, inputs_of(spec))
    assert token_names(3) == ["class_token", "distillation_token", "token_2"]
    for i, name in enumerate(token_names(3)):
        assert torch.equal(x[1, i], views[f"embeddings.{name}"])
    assert torch.equal(x[2, 3:5], views["embeddings.registers"])
    assert x.shape[1] == 3 + 2 + 9


def test_registers_have_no_position():
    views = dict(seeded(VIT).ledger())
    assert len(views["embeddings.E_position"]) == 9 + 1
    assert torch.equal(embedded(seeded(VIT), inputs_of(VIT))[0, 1:3], views["embeddings.registers"])


def test_segments_default_to_the_first():
    encoder, tokens = seeded(BERT), inputs_of(BERT)
    zeros, ones = torch.zeros_like(tokens), torch.ones_like(tokens)
    assert torch.equal(embedded(encoder, tokens), embedded(encoder, tokens, segments=zeros))
    assert not torch.equal(embedded(encoder, tokens), embedded(encoder, tokens, segments=ones))


@pytest.mark.parametrize("offset", [0, 2])
def test_positions_count_from_the_offset_and_can_be_given(offset):
    spec = BERT.replace(position_offset=offset, embedding_norm=False, segments=None)
    encoder, tokens = seeded(spec), inputs_of(spec)
    views = dict(encoder.ledger())
    given = torch.tensor([4, 0, 2, 2, 7]).expand(3, -1)
    wanted = views["embeddings.E_token"][tokens] + views["embeddings.E_position"][given + offset]
    assert furthest(embedded(encoder, tokens, positions=given), wanted) < 1e-15
    counted = torch.arange(5).expand(3, -1)
    assert torch.equal(embedded(encoder, tokens), embedded(encoder, tokens, positions=counted))


@pytest.mark.parametrize("position", ["sinusoidal", "sinusoidal_halves", "rotary"])
def test_given_positions_that_count_from_0_change_nothing(position):
    encoder, tokens = seeded(BERT.replace(position=position)), inputs_of(BERT)
    assert torch.equal(encoder(tokens).states, encoder(tokens, positions=torch.arange(5).expand(3, -1)).states)


def test_a_stored_table_of_waves_starts_as_waves_and_is_not_trained():
    stored, computed = (Encoder(BERT.replace(position=kind)) for kind in ("sinusoidal_stored", "sinusoidal"))
    table = stored.embeddings.positions.E_position
    assert not table.requires_grad
    computed.load_ledger({name: view for name, view in stored.ledger() if not name.endswith("E_position")})
    tokens = inputs_of(BERT)
    assert furthest(stored.eval()(tokens).states, computed.eval()(tokens).states) < 1e-5


def test_token_embeddings_are_scaled_by_the_root_of_d_model():
    spec = EncoderSpec(vocab=9, d_model=16, heads=2, layers=0, embedding_scale="sqrt_d_model")
    encoder, tokens = seeded(spec), torch.tensor([[3, 8]])
    assert torch.equal(encoder(tokens).states, dict(encoder.ledger())["embeddings.E_token"][tokens] * math.sqrt(16))


@pytest.mark.parametrize("width", [2, 7, 64])
def test_waves_are_those_of_the_program(width):
    assert furthest(sinusoid(torch.arange(5000), width), sinusoidal_table(5000, width)) < 1e-12
