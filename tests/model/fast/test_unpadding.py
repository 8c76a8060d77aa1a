"""Layers on a packed row: a padded batch gives what each sequence gives alone, on any path, and gradients agree."""

import pytest
import torch
from model_cases import BERT, MODERN

from glassformer.model import Encoder
from glassformer.model.core import Padded
from glassformer.model.fast import apply, unpadding
from glassformer.model.fast.packed import Packed
from glassformer.model.fast.unpadding import inside

LENGTHS = (9, 4, 1)
ATTEND = torch.arange(9) < torch.tensor(LENGTHS)[:, None]
SPECS = {
    "bert": BERT,
    "modern": MODERN,
    "causal": MODERN.replace(attend="causal", head="classify", pool="last"),
    "mean": BERT.replace(pool="mean", position="sinusoidal", head="tag"),
}
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.fixture
def packs(monkeypatch):
    """As on a GPU in half precision, with the plain counterpart of the kernel."""
    monkeypatch.setattr(unpadding, "packable", lambda _: True)


def tokens() -> torch.Tensor:
    return torch.randint(0, 50, (3, 9), generator=torch.Generator().manual_seed(0))


def made(spec) -> Encoder:
    torch.manual_seed(0)
    return apply(Encoder(spec.replace(dropout=0.0), dtype=torch.float64))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_padded_batch_gives_what_each_sequence_gives_alone(packs, spec):
    encoder = made(spec).eval()
    output = encoder(tokens(), ATTEND)
    for i, length in enumerate(LENGTHS):
        alone = encoder(tokens()[i : i + 1, :length])
        assert (output.states[i, :length] - alone.states[0]).abs().max() < 1e-12
        assert not output.states[i, length:].any() or spec.norm == "pre"  # zeros, but for a final norm's shift
        if spec.head == "classify":
            assert (output.logits[i] - alone.logits[0]).abs().max() < 1e-12


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_gradients_are_those_of_the_rectangle(monkeypatch, spec):
    found = []
    for packed in (False, True):
        monkeypatch.setattr(unpadding, "packable", lambda _, packed=packed: packed)
        encoder = made(spec).train()
        encoder(tokens(), ATTEND).states[ATTEND].square().sum().backward()
        found.append([parameter.grad for parameter in encoder.parameters() if parameter.grad is not None])
    assert found[0]
    assert all(torch.allclose(one, other, atol=1e-10) for one, other in zip(*found, strict=True))


def test_masked_tokens_are_predicted_at_their_positions(packs):
    encoder = made(BERT.replace(head="mlm")).eval()
    ask = torch.tensor([2, 9, 12, 18])
    alone = [encoder(tokens()[row : row + 1, : LENGTHS[row]]).logits[0, place] for row, place in ((0, 2), (1, 0), (1, 3), (2, 0))]
    assert (encoder(tokens(), ATTEND, predict_at=ask).logits - torch.stack(alone)).abs().max() < 1e-12


def test_padding_on_the_left_and_in_between_is_left_out_too(packs):
    encoder = made(BERT).eval()
    attend = torch.tensor([[False, True, True, False, True]])
    positions = torch.tensor([[0, 0, 1, 0, 2]])
    ids = tokens()[:1, :5]
    alone = encoder(ids[attend][None])
    assert (encoder(ids, attend, positions=positions).states[attend] - alone.states[0]).abs().max() < 1e-12


def test_windows_count_the_padding_between_two_pieces_so_such_a_row_stays(packs):
    encoder = made(MODERN)
    holes, right = torch.tensor([[True, False, True, True, True]]), torch.tensor([[True, True, True, False, False]])
    assert isinstance(inside(encoder, 1, 5, Padded(holes), None).layout, Padded)
    assert isinstance(inside(encoder, 1, 5, Padded(right), None).layout, Packed)


def test_a_row_without_a_real_token_keeps_the_rectangle(packs):
    attend = ATTEND.clone()
    attend[2] = False
    assert isinstance(inside(made(BERT), 3, 9, Padded(attend), None).layout, Padded)


def test_without_padding_only_windows_need_the_row(packs):
    assert isinstance(inside(made(BERT), 3, 9, Padded(), None).layout, Padded)
    row = inside(made(MODERN), 3, 9, Padded(), None)
    assert isinstance(row.layout, Packed)
    assert row.layout.bounds.tolist() == [0, 9, 18, 27]
    assert row.positions_BT.tolist() == [3 * list(range(9))]


def test_weights_and_hidden_states_are_shown_as_rectangles(packs):
    encoder = made(BERT).eval()
    looked = encoder(tokens(), ATTEND, return_weights=[0], return_hidden=True)
    assert looked.weights[0].shape == (3, 4, 9, 9)
    assert [state.shape for state in looked.hidden] == 3 * [(3, 9, 16)]
    assert (looked.states[ATTEND] - encoder(tokens(), ATTEND).states[ATTEND]).abs().max() < 1e-12


@CUDA
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_kernel_agrees_with_its_plain_counterpart(spec):
    spec = spec.replace(d_model=32, heads=2, dropout=0.0)
    torch.manual_seed(0)
    exact = Encoder(spec, dtype=torch.float64, device="cuda").eval()
    half = apply(Encoder(spec, dtype=torch.bfloat16, device="cuda", fresh=False)).eval()
    half.load_state_dict(exact.state_dict())
    attend = ATTEND.cuda()
    one, other = (encoder(tokens().cuda(), attend).states.double()[attend] for encoder in (exact, half))
    assert (one - other).abs().max() / one.abs().max() < 6e-2


@CUDA
def test_dropout_trains_on_a_packed_row():
    encoder = apply(Encoder(BERT.replace(d_model=32, heads=2, dropout=0.5), device="cuda")).train()
    with torch.autocast("cuda", torch.bfloat16):
        states = encoder(tokens().cuda(), ATTEND.cuda()).states
    states.float().sum().backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in encoder.parameters())
