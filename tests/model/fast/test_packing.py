"""Packing: one by one, padded and packed agree, in the order of the input."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from model_cases import BERT, MODERN, VIT, WHISPER, furthest, seeded

from glassformer.errors import GlassformerError
from glassformer.model import Encoder, encode_packed
from glassformer.model.boundary.checks import WHOLE
from glassformer.model.core import PaddedCore
from glassformer.model.fast import packing
from glassformer.model.fast.packed import Packed
from glassformer.spec import EncoderSpec

LENGTHS = [5, 1, 9, 5, 3, 16, 2]
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
SPECS = {
    "bert": BERT,
    "modern": MODERN,
    "causal": MODERN.replace(attend="causal", head="classify", pool="last"),
    "mean": BERT.replace(pool="mean", position="sinusoidal"),
    "relative": BERT.replace(position="relative"),
    "attention pooler": BERT.replace(pooler="attention"),
    "odd widths": BERT.replace(d_k=2, d_v=5, head="tag"),
}


def sequences(lengths=LENGTHS) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    return [torch.randint(0, 50, (length,), generator=rng) for length in lengths]


def parts(spec: EncoderSpec) -> list[str]:
    return ["states", "logits", *(["pooled"] if spec.head == "classify" else [])]


def assert_one_by_one(encoder, results, part, *, bound=1e-12):
    assert len(results) == len(LENGTHS)
    for ids, result in zip(sequences(), results, strict=True):
        alone = getattr(encoder(ids[None].to(encoder.here.device)), part)[0]
        assert furthest(result.double(), alone.double()) < bound


@pytest.mark.parametrize("limit", [1, 20, None])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_buckets_give_what_each_sequence_gives_alone(spec, limit, monkeypatch):
    monkeypatch.setattr(packing, "packs_on_cpu", lambda _: False)
    encoder = seeded(spec)
    for part in parts(spec):
        assert_one_by_one(encoder, encode_packed(encoder, sequences(), part=part, tokens_at_once=limit), part)


@pytest.mark.parametrize("limit", [1, 20, None])
@pytest.mark.parametrize("spec", [spec for spec in SPECS.values() if packing.packing_suits(spec)])
def test_a_packed_row_gives_what_each_sequence_gives_alone(spec, limit, monkeypatch):
    monkeypatch.setattr(packing, "packable", lambda _: True)
    encoder = seeded(spec)
    for part in parts(spec):
        assert_one_by_one(encoder, encode_packed(encoder, sequences(), part=part, tokens_at_once=limit), part)


def test_segments_go_with_their_sequences():
    encoder = seeded(BERT)
    segments = [(ids > 20).long() for ids in sequences()]
    for ids, beside, states in zip(sequences(), segments, encode_packed(encoder, sequences(), segments=segments), strict=True):
        assert furthest(states, encoder(ids[None], segments=beside[None]).states[0]) < 1e-12


def test_vectors_are_packed_like_tokens():
    encoder = seeded(EncoderSpec(d_model=8, heads=2, layers=1, position="rotary"))
    vectors = [torch.randn(length, 8, dtype=torch.float64) for length in (3, 5, 1)]
    for x, states in zip(vectors, encode_packed(encoder, vectors), strict=True):
        assert furthest(states, encoder(x[None]).states[0]) < 1e-12


def test_nothing_gives_nothing():
    assert encode_packed(seeded(BERT), []) == []


lengths_and_limits = given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))


@lengths_and_limits
def test_rows_hold_every_sequence_once_the_long_ones_first_and_no_more_than_fits(lengths, limit):
    found = list(packing.rows(lengths, limit))
    order = [i for row in found for i in row]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[i] for i in order] == sorted(lengths, reverse=True)
    assert all(len(row) == 1 or sum(lengths[i] for i in row) <= limit for row in found)


@lengths_and_limits
def test_buckets_hold_every_sequence_once_and_no_more_than_fits_with_padding(lengths, limit):
    found = list(packing.buckets(lengths, limit))
    assert sorted(i for bucket in found for i in bucket) == list(range(len(lengths)))
    assert all(len(bucket) == 1 or len(bucket) * max(lengths[i] for i in bucket) <= limit for bucket in found)


def test_like_lengths_share_a_bucket():
    assert list(packing.buckets([9, 2, 8, 1, 9], 30)) == [[3, 1, 2], [0, 4]]


@pytest.mark.parametrize("spec", [BERT.replace(position="relative"), BERT.replace(pooler="attention"), VIT])
def test_specs_that_need_a_padded_batch_are_not_packed(spec):
    assert packing.packing_suits(BERT) and packing.packing_suits(MODERN)
    assert not packing.packing_suits(spec)


def test_the_cpu_has_no_packing_kernel_but_packs_what_needs_no_rectangle():
    encoder = seeded(BERT)
    assert not packing.packable(encoder)
    for one, packed in ((encoder, True), (seeded(BERT.replace(position="relative")), False)):
        layouts = [layout for _, _, layout in packing.passes(one, sequences())]
        assert [isinstance(layout, Packed) for layout in layouts] == [packed]
    encoder.rectangles_only = True
    assert not packing.packs_on_cpu(encoder)


def test_neighbours_of_one_length_attend_together(monkeypatch):
    batches = []
    mix = PaddedCore.mix

    def watched(self, q, *given, **options):
        batches.append(tuple(q.shape[:2]))
        return mix(self, q, *given, **options)

    monkeypatch.setattr(PaddedCore, "mix", watched)
    encode_packed(seeded(BERT), sequences())
    assert batches[:6] == [(1, 16), (1, 9), (2, 5), (1, 3), (1, 2), (1, 1)]


IDS = torch.tensor([1, 2, 3])


@pytest.mark.parametrize("dtype", WHOLE)
def test_ids_may_be_any_whole_numbers(dtype):
    encoder = seeded(BERT)
    given = {"sequences": [IDS.to(dtype), IDS[:2].to(dtype)], "segments": [IDS.to(dtype) % 2, IDS[:2].to(dtype) % 2]}
    plain = encode_packed(encoder, [IDS, IDS[:2]], segments=[IDS % 2, IDS[:2] % 2])
    assert all(map(torch.equal, encode_packed(encoder, **given), plain))


@pytest.mark.parametrize(
    ("spec", "given", "said"),
    [
        (BERT, {"sequences": [IDS, IDS[:0]]}, r"sequences\[1\].*empty sequence"),
        (BERT, {"sequences": [IDS, IDS + 47]}, r"sequences\[1\].*tokens\[0,2\] = 50 is out of range: .* 0 to 49"),
        (BERT, {"sequences": [IDS - 2]}, r"sequences\[0\].*tokens\[0,0\] = -1"),
        (BERT, {"sequences": [IDS, IDS.float()]}, r"sequences\[1\].*whole numbers \(int64\), got float32"),
        (BERT, {"sequences": [IDS, IDS > 1]}, r"sequences\[1\].*whole numbers \(int64\), got bool"),
        (BERT, {"sequences": [IDS, IDS[0]]}, r"sequences\[1\].*must be \(batch, t\), got \(1,\)"),
        (BERT, {"sequences": [IDS, IDS.numpy()]}, r"sequences\[1\].*must be a tensor, got ndarray"),
        (BERT, {"sequences": [[1, 2]]}, r"sequences\[0\].*must be a tensor, got list"),
        (BERT, {"sequences": [IDS[None]]}, r"sequences\[0\].*must be \(batch, t\), got \(1, 1, 3\)"),
        (BERT, {"sequences": [IDS, torch.zeros(17).long()]}, r"sequences\[1\].*17 positions .* positions=16"),
        (BERT, {"sequences": [IDS], "segments": []}, "1 sequences and 0 lists of segments"),
        (BERT, {"sequences": [IDS], "segments": [IDS]}, r"segments\[0,1\] = 2 is out of range"),
        (MODERN, {"sequences": [IDS], "part": "pooled"}, "has no pooler"),
        (BERT.replace(head="none"), {"sequences": [IDS], "part": "logits"}, "has no head"),
        (VIT, {"sequences": [IDS]}, "images of one size"),
        (WHISPER, {"sequences": [IDS]}, "audio of one length, which need no packing"),
    ],
)
def test_a_bad_sequence_is_named(spec, given, said):
    with pytest.raises(GlassformerError, match=said):
        encode_packed(Encoder(spec), **given)


@CUDA
@pytest.mark.parametrize("name", ["bert", "modern", "causal", "mean"])
def test_the_gpu_packs_and_agrees(name):
    spec = SPECS[name].replace(d_k=8, d_v=8)
    encoder = Encoder(spec, device="cuda", dtype=torch.bfloat16).eval()
    assert packing.packable(encoder)
    for part in parts(spec):
        assert_one_by_one(encoder, encode_packed(encoder, sequences(), part=part), part, bound=0.06)


@CUDA
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_gpu_in_float64_uses_buckets_and_agrees(spec):
    encoder = seeded(spec).cuda()
    assert not packing.packable(encoder)
    for part in parts(spec):
        assert_one_by_one(encoder, encode_packed(encoder, sequences(), part=part), part, bound=1e-10)


@CUDA
def test_a_packed_row_has_the_gradients_of_a_rectangle():
    encoder = Encoder(BERT.replace(d_k=8, d_v=8, dropout=0.0), device="cuda", dtype=torch.bfloat16)
    gradients = []
    for results in (encode_packed(encoder, sequences()), [encoder(ids[None].cuda()).states[0] for ids in sequences()]):
        torch.cat(results).float().square().sum().backward()
        gradients.append(encoder.layers["0"].attention.qkv.weight.grad.float())
        encoder.zero_grad()
    assert furthest(gradients[0], gradients[1]) < 0.05 * float(gradients[1].abs().max())


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"part": "state"}, "part=state is not known. Did you mean 'states'? One of states, pooled, logits."),
        ({"part": None, "segments": [torch.tensor([0, 1])]}, "part=None is not known."),
        ({"segments": [[0, 1]]}, "segments must be a tensor, got list. Pass torch.tensor(segments)."),
        ({"segments": 5}, "sequences[0], as a batch of one: segments must be a tensor, got int."),
        ({"segments": []}, "there are 1 sequences and 0 lists of segments: give each sequence one."),
        ({"tokens_at_once": 0}, "tokens_at_once=0 is not allowed: tokens_at_once must be a whole number from 1."),
    ],
)
def test_an_invalid_packing_option_is_a_one_line_error(options, line):
    with pytest.raises(GlassformerError) as caught:
        encode_packed(Encoder(BERT), [torch.tensor([1, 2])], **options)
    assert line in str(caught.value)


def test_sequences_may_come_from_a_generator_and_the_encoder_must_be_one():
    encoder, ids = Encoder(BERT).eval(), [torch.tensor([1, 2]), torch.tensor([3])]
    assert all(map(torch.equal, encode_packed(encoder, iter(ids)), encode_packed(encoder, ids)))
    with pytest.raises(GlassformerError, match=r"sequences go through an encoder, as gf.Encoder\(spec\)"):
        encode_packed("bert", ids)
