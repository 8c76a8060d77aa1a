"""Packed rows: every text once, one after the other, in rows of few sizes, with the losses of padded rectangles."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.configs.presets import preset
from glassformer.model import Encoder, fast
from glassformer.model.boundary.decoder import model_of
from glassformer.spec import EncoderSpec
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.dataset import Dataset, Provenance
from glassformer.training.data.examples import Batch, Extent
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.packing import EVEN, FILLERS, PackedSize, Packer, PairPacker, filled, rounded
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.evaluating import evaluate

SPEC = {"d_model": 16, "heads": 2, "layers": 2, "d_ff": 32, "vocab": 30, "positions": 20, "dropout": 0.0}
HEADS = {
    "mlm": {"head": "mlm"},
    "tag": {"head": "tag", "classes": 4},
    "first": {"head": "classify", "classes": 4, "pool": "first", "pooler": "dense"},
    "mean": {"head": "classify", "classes": 4, "pool": "mean", "pooler": "none"},
}
SMALL = {"d_model": 16, "heads": 2, "layers": 2, "d_ff": 32, "vocab": 30, "dropout": 0.0}


def a_batch(lengths, head, seed=0):
    chance = torch.Generator().manual_seed(seed)
    attend = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    inputs = torch.randint(1, 30, attend.shape, generator=chance) * attend
    if head in ("mlm", "tag"):
        asked = attend & (torch.rand(attend.shape, generator=chance) < 0.4)
        asked[0, 0] = True
        labels = torch.where(asked, torch.randint(4, attend.shape, generator=chance), IGNORE)
    else:
        labels = torch.randint(4, (len(lengths),), generator=chance)
    count = int((labels != IGNORE).sum())
    sums = {
        "tokens": sum(lengths),
        "targets": count,
        "targets_in_step": count,
        "extent": Extent.of([max(lengths)] * len(lengths)),
    }
    return Batch(inputs, attend, labels, tuple(range(len(lengths))), **sums, padded=not bool(attend.all()))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("usual", [(), (PackedSize(40, 9, 64), PackedSize(96, 14, 64))])
def test_a_packed_batch_has_the_loss_and_the_gradients_of_a_padded_one(head, usual):
    torch.manual_seed(1)
    spec = EncoderSpec(**SPEC | HEADS[head])
    encoder = fast.apply(Encoder(spec, dtype="float64")).train()
    batch = a_batch([3, 9, 1, 12, 12, 5], head)
    packed = Packer(longest=12, usual=usual, masked=head == "mlm")(batch)
    assert packed.inputs.shape == (1, 96 if usual else packed.packed.bounds[-1])
    assert_same(*losses_and_gradients(encoder, TASKS[spec.head], (batch, packed)))


def losses_and_gradients(model, task, batches):
    """Of each of the batches: the loss, the right predictions and the gradients."""
    for one in batches:
        model.zero_grad()
        judged = task.judge(model, one)
        judged.loss.backward()
        yield float(judged.loss.detach()), int(judged.right), [p.grad for p in model.parameters() if p.grad is not None]


def assert_same(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-6)  # the loss itself is computed in float32
    assert one[1] == other[1]
    for mine, theirs in zip(one[2], other[2], strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def some_pairs(lengths, targets, seed=0):
    """Pairs of texts; the decoder reads its targets one token behind its labels."""
    batch = a_batch(lengths, "first", seed)
    written = torch.arange(max(targets)) < torch.tensor(targets)[:, None]
    chance = torch.Generator().manual_seed(seed + 1)
    read, labels = (torch.randint(1, 30, written.shape, generator=chance) for _ in range(2))
    labels, read = torch.where(written, labels, IGNORE), read * written
    count = int(written.sum())
    return replace(batch, labels=labels, target=read, targets=count, targets_in_step=count, tokens=sum(lengths) + count)


@pytest.mark.parametrize("name", ["transformer", "opus-mt-en-fr", "m2m100-418m"])
@pytest.mark.parametrize("usual", [None, (PackedSize(96, 14), PackedSize(80, 14))])
def test_packed_pairs_have_the_loss_and_the_gradients_of_padded_ones(name, usual):
    torch.manual_seed(1)
    model = fast.apply(model_of(preset(name).replace(**SMALL), dtype="float64")).train()
    batch = some_pairs([3, 9, 1, 12, 12, 5], [4, 2, 11, 1, 12, 7])
    packed = PairPacker(longest=12, usual=usual)(batch)
    if usual:
        assert (packed.inputs.shape, packed.target.shape) == ((1, 96), (1, 80))
    assert packed.packed.usual == bool(usual)
    assert_same(*losses_and_gradients(model, TASKS["translate"], (batch, packed)))


def test_packed_texts_of_a_decoder_have_the_loss_and_the_gradients_of_padded_ones():
    torch.manual_seed(1)
    model = fast.apply(model_of(preset("gpt2").replace(**SMALL), dtype="float64")).train()
    batch = a_batch([3, 9, 1, 12, 12, 5], "tag")
    assert_same(*losses_and_gradients(model, TASKS["causal"], (batch, Packer(longest=12)(batch))))


@pytest.mark.parametrize("name", ["opus-mt-en-fr", "m2m100-418m", "gpt2"])
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_packed_rows_of_models_that_write_have_the_gradients_of_float64_on_a_gpu(name):
    torch.manual_seed(1)
    spec = preset(name).replace(**SMALL | {"d_model": 64})
    exact = model_of(spec, dtype="float64").train()
    model = fast.apply(model_of(spec, device="cuda")).train()
    model.load_state_dict(exact.state_dict())
    if name == "gpt2":
        task, batch, pack = TASKS["causal"], a_batch([3, 9, 1, 12, 12, 5], "tag"), Packer(longest=12)
    else:
        task, pack = TASKS["translate"], PairPacker(longest=12)
        batch = some_pairs([3, 9, 1, 12, 12, 5], [4, 2, 11, 1, 12, 7])
    ((loss, _, truth),) = losses_and_gradients(exact, task, [batch])
    with torch.autocast("cuda", torch.bfloat16):
        ((found, _, gradients),) = losses_and_gradients(model, task, [pack(batch).to("cuda")])
    assert found == pytest.approx(loss, rel=1e-2)
    apart = sum(float((one.double().cpu() - other).square().sum()) for one, other in zip(gradients, truth, strict=True))
    assert apart < 0.03**2 * sum(float(one.square().sum()) for one in truth)


def test_evaluating_packed_batches_finds_the_same_figures():
    spec = EncoderSpec(**SPEC | HEADS["first"])
    torch.manual_seed(2)
    encoder = fast.apply(Encoder(spec))
    batches = [a_batch([4, 7, 2], "first", seed) for seed in range(3)]
    pack = Packer(longest=12)
    data = Dataset("four", "classify", ("a", "b", "c", "d"), {}, Provenance("made up"))
    one, other = (
        evaluate(encoder, some, torch.device("cpu"), TASKS["classify"], detailed=data) for some in (batches, map(pack, batches))
    )
    assert one["confusion"] == other["confusion"]
    assert one["accuracy"] == other["accuracy"]
    assert one["loss"] == pytest.approx(other["loss"], rel=1e-6)


@settings(max_examples=80)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.one_of(st.none(), st.integers(1, 80)), st.integers(0, 900))
def test_a_row_holds_its_texts_and_fillers_that_are_not_too_long(lengths, sequences, tokens):
    usual = () if sequences is None else (PackedSize(tokens, sequences),)
    size = Packer(longest=40, usual=usual).size(np.array(lengths), 0)
    every = filled(np.array(lengths), size, 40)
    assert every[: len(lengths)].tolist() == lengths
    assert len(every) == size.sequences >= len(lengths) + FILLERS
    assert every.sum() == size.tokens
    assert every.min() >= 1
    assert every.max() <= 40


@given(st.integers(1, 10**6))
def test_sizes_are_few_and_close(number):
    assert number <= rounded(number) <= max(16, number * 1.125 + 16)
    assert rounded(rounded(number)) == rounded(number)


class Rows:
    """Examples of which only the lengths matter."""

    def __init__(self, lengths):
        self.lengths = np.array(lengths)
        self.labelled = np.maximum(1, self.lengths // 7)

    def __len__(self):
        return len(self.lengths)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_nearly_all_batches_of_an_epoch_have_one_size(seed, world):
    rows = Rows(np.random.default_rng(seed).integers(5, 30, 400))
    streams = [BatchStream(rows, batch_tokens=600, seed=seed, rank=rank, world=world) for rank in range(world)]
    pack = Packer.of(streams[0], longest=30, masked=True)
    usual = []
    for step in streams[0].plan(0)[:-1]:
        for own in (step[rank::world] for rank in range(world)):
            usual.append(pack.size(rows.lengths[own], int(rows.labelled[own].sum())) in pack.usual)
    assert np.mean(usual) > 0.8


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 40))
def test_batches_of_so_many_rows_have_few_sizes_and_little_filling(seed, world, batch_size):
    rows = Rows(np.random.default_rng(seed).integers(5, 64, 400))
    streams = [BatchStream(rows, batch_size=batch_size * world, seed=seed, rank=rank, world=world) for rank in range(world)]
    pack = Packer.of(streams[0], longest=64, masked=False)
    levels = min(12, max(4, streams[0].steps(0) // 16))  # few sizes in a short epoch: each is recorded once
    assert len(pack.usual) <= levels
    most = rows.lengths.max() * batch_size
    for step in streams[0].plan(0):
        for own in (step[rank::world] for rank in range(world)):
            if len(own) == batch_size:
                size = pack.size(rows.lengths[own], 0)
                assert size in pack.usual
                assert size.tokens - rows.lengths[own].sum() <= most / levels + EVEN + FILLERS + 1 + most / levels / 64 + 1
