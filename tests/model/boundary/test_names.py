"""Names: the model's parameters are the ledger's, by name, shape and number, and can be filled by those names."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from model_cases import BERT, furthest, inputs_of, rich_specs, seeded

from glassformer.algebra import count
from glassformer.configs.presets import preset_names
from glassformer.configs.reading import spec as read
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.boundary.names import ledger_path
from glassformer.spec import EncoderSpec


def assert_ledger(spec: EncoderSpec, encoder: Encoder) -> None:
    ledger = count(spec)
    assert {row.name: tuple(axis.size for axis in row.axes) for row in ledger.rows} == {
        name: tuple(view.shape) for name, view in encoder.ledger()
    }
    assert sum(p.numel() for p in encoder.parameters()) == ledger.total
    assert sum(p.numel() for p in encoder.parameters() if p.requires_grad) == ledger.trainable


@settings(max_examples=100)
@given(spec=rich_specs())
def test_names_shapes_and_number_are_the_ledgers(spec):
    assert_ledger(spec, Encoder(spec, device="meta"))


NOT_BUILT = (
    "jina-embeddings-v3",
    *(name for name in preset_names() if name.startswith("vit-mae")),
)


@pytest.mark.parametrize("name", NOT_BUILT)
def test_a_preset_that_the_model_lacks_parts_of_is_refused_in_one_line(name):
    with pytest.raises(GlassformerError, match="is not implemented in the model: it can be counted, not built") as caught:
        Encoder(read(name), device="meta")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in preset_names() if name not in ("layer", "attention", *NOT_BUILT)])
def test_every_preset_has_the_parameters_of_its_ledger(name):
    assert_ledger(read(name), Encoder(read(name), device="meta"))


def test_a_view_shares_the_memory_of_its_parameter():
    encoder, tokens = seeded(BERT), inputs_of(BERT)
    before = encoder(tokens).states
    dict(encoder.ledger())["layers.1.attention.W_K"][0, 0, 0] += 1
    assert furthest(encoder(tokens).states, before) > 1e-6


def test_every_number_of_every_parameter_is_in_exactly_one_view():
    encoder = Encoder(BERT.replace(biases=("q", "v", "output"), activation="swiglu", position="relative"), dtype=torch.float64)
    for parameter in encoder.parameters():
        parameter.data.zero_()
    for _, view in encoder.ledger():
        view.add_(1)
    assert all((parameter == 1).all() for parameter in encoder.parameters())


@pytest.mark.parametrize("turn", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_weights_come_from_numpy_or_torch_in_any_precision(turn):
    one, other = Encoder(BERT, dtype=torch.float64), Encoder(BERT, dtype=torch.float64)
    one.load_ledger({name: turn(view.numpy().astype(np.float32)) for name, view in other.ledger()})
    assert all(furthest(a, b) < 1e-8 for (_, a), (_, b) in zip(one.ledger(), other.ledger(), strict=True))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layers.0.ffn.W_1": None}, "the weight layers.0.ffn.W_1 is missing: the weight layers.0.ffn.W_1 has shape [16, 32]."),
        ({"layers.0.ffn.W_1": None, "layers.1.ffn.b_2": None}, "2 weights (layers.0.ffn.W_1, …) are missing"),
        ({"layers.0.ffn.W_7": np.zeros(3)}, "the weight layers.0.ffn.W_7 is not in this encoder. Did you mean 'layers.0.ffn.W_"),
        ({"layers.0.ffn.W_1": np.zeros((32, 16))}, "the weight layers.0.ffn.W_1 has shape [32, 16], expected [16, 32]."),
        ({"layers.0.ffn.W_1": np.zeros((16, 32), int)}, "the weight layers.0.ffn.W_1 must be floating-point numbers, got int64."),
        ({"layers.0.ffn.W_1": "many"}, "the weight layers.0.ffn.W_1 must be an array of numbers, got str."),
    ],
)
def test_weights_that_do_not_fit_are_refused_and_nothing_is_changed(change, said):
    encoder = Encoder(BERT)
    before = {name: view.clone() for name, view in encoder.ledger()}
    weights = {name: torch.zeros_like(view) for name, view in encoder.ledger()} | change
    with pytest.raises(GlassformerError) as refusal:
        encoder.load_ledger({name: value for name, value in weights.items() if value is not None})
    assert said in str(refusal.value)
    assert all(torch.equal(view, before[name]) for name, view in encoder.ledger())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("embeddings.source", "embeddings."),
        ("layers.11.attention", "layers.11.attention."),
        ("layers.0.scale_1", "layers.0."),
        ("relative", "layers."),
        ("tables.3", "layers.3."),
        ("pooler.final_norm", "final_norm."),
        ("pooler.attention", "pooler.attention."),
        ("head.classifier.norm", "head.norm."),
        ("head.tokens.hidden", "head."),
    ],
)
def test_the_models_own_words_are_left_out(path, name):
    assert ledger_path(path) == name
