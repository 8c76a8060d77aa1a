"""Disentangled attention: the same as the program in every form, and distances chosen as transformers chooses them."""

import importlib
import itertools
import warnings

import numpy as np
import pytest
import torch
from model_cases import DEBERTA, both_ways, core_of, furthest, inputs_of, seeded
from tiny_models import guest

from glassformer.model import Encoder, encode_packed
from glassformer.model.boundary.start import fill_constants
from glassformer.model.core import NEVER, PaddedCore
from glassformer.model.fast.packed import Packed
from glassformer.model.fast.packing import packing_suits
from glassformer.model.variants.disentangled import ByLogDistance, Distances
from glassformer.program import Axis
from glassformer.program.operations import PickByDistance
from glassformer.spec import EncoderSpec

CPU = torch.device("cpu")
TERMS = ("both", "content_to_position", "position_to_content")
FORMS = list(itertools.product(TERMS, ("shared", "own"), ("shared", "per_layer")))


def apart(spec: EncoderSpec, *, padded: bool = False) -> float:
    """The largest difference between the model and the program, in what they give and in every layer's weights."""
    case = both_ways(spec, padded=padded)
    output, found = case.output, case.run
    real = case.inputs.get("attend", torch.ones(output.states.shape[:2], dtype=torch.bool))
    weights = [furthest(output.weights[i], found[f"layers.{i}.attention.weights"]) for i in range(spec.layers)]
    last = f"layers.{spec.layers - 1}.out"
    return max(furthest(output.states[real], found[last][real.numpy()]), *weights)


@pytest.mark.parametrize(("terms", "projections", "tables"), FORMS)
def test_every_form_is_what_the_program_computes(terms, projections, tables):
    spec = DEBERTA.replace(relative_terms=terms, relative_projections=projections, relative_tables=tables)
    assert apart(spec) < 1e-12
    assert apart(spec.replace(kv_heads=2, relative_norm=False, biases=("k",)), padded=True) < 1e-12


@pytest.mark.parametrize(
    "change",
    [
        {"attend": "causal"},
        {"window": 4},
        {"window": 4, "attend": "causal"},
        {"scale": "d_model"},
        {"scale": "none"},
        {"relative_distance": 4},
        {"position": "learned_disentangled"},
        {"share_layers": 1},
        {"pooler": "attention"},
        {"block": "attention", "pooler": "none", "head": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize("padded", [False, True])
def test_it_works_with_every_other_field(change, padded):
    assert apart(DEBERTA.replace(**change), padded=padded) < 1e-12


def test_each_term_counts():
    """Twin of the agreement: were a term left out on both sides, the three would be one."""
    given = inputs_of(DEBERTA)
    weights = dict(seeded(DEBERTA).ledger())
    states = []
    for terms in TERMS:
        encoder = Encoder(DEBERTA.replace(relative_terms=terms), dtype=torch.float64)
        encoder.load_ledger(weights)
        states.append(encoder.eval()(given).states)
    assert all(furthest(one, other) > 1e-3 for one, other in itertools.combinations(states, 2))


SIZES = [(256, 512), (256, 1024), (32, 512), (4, 10), (5, 77), (2, 9), (3, 9), (16, 17), (8, 8), (300, 300), (7, 8)]


@pytest.mark.parametrize(("side", "distance"), SIZES)
def test_the_row_of_a_distance_is_the_one_of_the_program_and_of_the_published_formula(side, distance):
    module = ByLogDistance(EncoderSpec(position="disentangled", relative_buckets=2 * side, relative_distance=distance))
    fill_constants(module)
    ours = module(1300, 900, CPU).numpy()
    assert np.array_equal(ours, PickByDistance(distance, Axis("t", 1300), Axis("s", 900)).buckets(2 * side))
    away = torch.arange(1300)[:, None] - torch.arange(900)
    wanted = log_bucket(away, side, distance) if distance > side else away
    assert np.array_equal(ours, torch.clamp(wanted.long() + side, 0, 2 * side - 1).numpy())


def log_bucket(relative: torch.Tensor, size: int, distance: int) -> torch.Tensor:
    """He et al. 2021, as transformers computes it: in float32, with torch's own logarithm."""
    middle = size // 2
    near = (relative < middle) & (relative > -middle)
    away = torch.where(near, torch.tensor(middle - 1).type_as(relative), relative.abs())
    room = torch.log(torch.tensor((distance - 1) / middle))
    far = torch.ceil(torch.log(away / middle) / room * (middle - 1)) + middle
    return torch.where(away <= middle, relative.type_as(far), far * relative.sign())


def test_the_formula_above_is_that_of_transformers():
    guest("transformers")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
        theirs = importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2").make_log_bucket_position
    away = torch.arange(1300)[:, None] - torch.arange(900)
    for side, distance in SIZES:
        assert torch.equal(theirs(away, side, distance), log_bucket(away, side, distance))


def test_sequences_of_different_lengths_give_what_each_gives_alone():
    encoder = seeded(DEBERTA)
    sequences = [torch.arange(length) * 7 % 50 for length in (5, 1, 9, 3)]
    found = encode_packed(encoder, sequences)
    assert max(furthest(one, encoder(alone[None]).states[0]) for one, alone in zip(found, sequences, strict=True)) < 1e-12


def test_a_bias_by_content_is_never_packed():
    assert not packing_suits(DEBERTA)
    assert packing_suits(DEBERTA.replace(position="rotary"))
    core = core_of(Packed(torch.tensor([0, 3], dtype=torch.int32), 3), torch.zeros(1, 3, 0))
    with pytest.raises(NotImplementedError, match="a packed row has no rectangle of scores"):
        core.with_bias(torch.zeros(1, 1, 3, 3))


def test_a_bias_joins_the_mask_that_there_is():
    bias = torch.full((1, 1, 2, 2), 3.0)
    causal = [[3.0, NEVER], [3.0, 3.0]]
    assert PaddedCore(None).with_bias(bias).mask.tolist() == bias.tolist()
    assert PaddedCore(None, causal=True).with_bias(bias).mask[0, 0].tolist() == causal
    assert PaddedCore(torch.tensor([[True, False], [True, True]])).with_bias(bias).mask[0, 0].tolist() == causal
    assert PaddedCore(torch.tensor([[0.0, NEVER], [0.0, 0.0]])).with_bias(bias).mask[0, 0].tolist() == causal


def test_every_parameter_of_it_learns_and_the_table_is_dropped_out_in_training_alone():
    spec = DEBERTA.replace(relative_projections="own", dropout=0.5)
    encoder, given = seeded(spec), inputs_of(spec)
    attention = encoder.layers["0"].attention
    attention.dropout, encoder.embeddings.dropout.p = 0.0, 0.0
    assert furthest(encoder(given).states, encoder(given).states) == 0
    encoder.train()
    torch.manual_seed(0)
    first = attention.by_distances.dropout(encoder.relative.E_relative)
    assert (first == 0).double().mean() > 0.3
    encoder(given).logits.square().sum().backward()
    learned = {name: one.grad for name, one in encoder.named_parameters() if "relative" in name or "by_distances" in name}
    assert len(learned) == 3 + 2 * 4
    # The bias of the keys of distances adds the same to a whole row of scores, which softmax does not see.
    assert all(float(grad.abs().max()) > 1e-9 for name, grad in learned.items() if not name.endswith("keys.bias"))


def test_in_half_precision_and_under_autocast_it_is_near():
    encoder, given = seeded(DEBERTA), inputs_of(DEBERTA)
    with torch.no_grad():
        exact = encoder(given).states
        with torch.autocast("cpu", dtype=torch.bfloat16):
            cast = encoder.float()(given).states
        half = encoder.bfloat16()(given).states
    assert max(furthest(one.double(), exact) for one in (cast, half)) < 0.1 * float(exact.abs().max())


@pytest.mark.parametrize("terms", TERMS)
def test_the_gradient_of_the_terms_by_distance_is_the_slope(terms):
    torch.manual_seed(0)
    spec = DEBERTA.replace(relative_terms=terms, relative_projections="own", dropout=0.0)
    by_distances = Encoder(spec, dtype=torch.float64).layers["0"].attention.by_distances
    q, k = (torch.randn(2, 3, spec.heads, spec.head_k, dtype=torch.float64, requires_grad=True) for _ in range(2))
    vectors = torch.randn(spec.relative_rows, spec.d_model, dtype=torch.float64, requires_grad=True)
    rows = torch.randint(0, spec.relative_rows, (3, 3))
    unread = (torch.zeros(0), None)  # each layer has matrices of its own for distances

    def bias(q, k, vectors):
        return by_distances(q, k, Distances(vectors, rows), (unread, unread), 0.5)

    assert torch.autograd.gradcheck(bias, (q, k, vectors))
