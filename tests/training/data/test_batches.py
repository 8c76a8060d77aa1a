"""The stream of batches: deterministic, resumable at every step, the same whatever the number of processes."""

import hashlib
import inspect
import json
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import GlassformerError
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(load_data("lid4").train.inputs[:1500], vocab=1000)


@pytest.fixture(scope="module")
def texts(tokenizer):
    return prepare(load_data("lid4").validation, tokenizer, max_length=64)


@pytest.fixture(scope="module")
def masked(tokenizer):
    rows = load_data("mlm").validation
    return prepare(replace(rows, inputs=rows.inputs[:60]), tokenizer, max_length=64)


@pytest.fixture(scope="module")
def tagged(tokenizer):
    """Words with tags, half of them hidden."""
    rows = load_data("lid-words").validation
    return prepare(replace(rows, inputs=rows.inputs[:45]), tokenizer, max_length=32, augment="hide", hidden=0.5)


class Lengths:
    """Examples of which only the lengths matter."""

    def __init__(self, lengths):
        self.lengths = np.array(lengths)

    def __len__(self):
        return len(self.lengths)


def same(one, other):
    return (
        one.ids == other.ids
        and torch.equal(one.inputs, other.inputs)
        and torch.equal(one.labels, other.labels)
        and (one.attend is None or torch.equal(one.attend, other.attend))
    )


@pytest.mark.parametrize("how", [{"batch_size": 32}, {"batch_tokens": 700}])
def test_an_epoch_has_every_row_once_and_each_epoch_another_order(texts, how):
    stream = BatchStream(texts, seed=1, **how)
    epochs = [[batch.ids for batch in stream] for _ in range(3)]
    for ids in epochs:
        assert sorted(place for batch in ids for place in batch) == list(range(len(texts)))
    assert epochs[0] != epochs[1] != epochs[2]
    assert [batch.ids for batch in BatchStream(texts, seed=1, **how)] == epochs[0]
    assert [batch.ids for batch in BatchStream(texts, seed=2, **how)] != epochs[0]
    assert stream.total_steps(3) == sum(map(len, epochs))
    assert stream.total_steps(3, accumulate=4) == sum(-(-len(ids) // 4) for ids in epochs)
    assert (stream.epoch, stream.index) == (3, 0)


def test_rows_of_like_length_share_a_batch(texts):
    def padding(stream):
        batches = list(stream)
        return 1 - sum(batch.tokens for batch in batches) / sum(batch.inputs.numel() for batch in batches)

    shuffled = np.arange(len(texts))
    plain = [texts.batch(shuffled[i : i + 32], seed=0, epoch=0) for i in range(0, len(texts), 32)]
    without = 1 - sum(batch.tokens for batch in plain) / sum(batch.inputs.numel() for batch in plain)
    assert without > 0.4
    assert padding(BatchStream(texts, batch_size=32)) < 0.05
    parts = [part for batch in BatchStream(texts, batch_tokens=4000) for part in batch.parts(700)]
    assert padding(parts) < 0.15


def test_batch_tokens_is_never_exceeded_and_well_used(texts):
    sizes = [batch.tokens for batch in BatchStream(texts, batch_tokens=700)]
    assert max(sizes) <= 700
    assert np.mean(sizes) > 600


def test_a_batch_of_so_many_tokens_is_a_random_sample_sorted_by_length(texts):
    means = [batch.tokens / len(batch.ids) for batch in BatchStream(texts, batch_tokens=1500)][:-1]
    assert np.std(means) < 0.25 * np.mean(means)
    for batch in BatchStream(texts, batch_tokens=1500):
        lengths = batch.attend.sum(1).tolist()
        assert lengths == sorted(lengths)


def test_the_parts_of_a_batch_are_the_batch(masked):
    for batch in BatchStream(masked, batch_tokens=900):
        parts = list(batch.parts(200))
        assert [place for part in parts for place in part.ids] == list(batch.ids)
        assert sum(part.targets for part in parts) == batch.targets == batch.targets_in_step
        assert {part.targets_in_step for part in parts} == {batch.targets}
        assert all(part.inputs.numel() <= max(200, part.inputs.shape[1]) for part in parts)
        for part in parts:
            assert part.padded == (not part.attend.all())
            rows = [batch.ids.index(place) for place in part.ids]
            longest = part.inputs.shape[1]
            assert torch.equal(part.inputs, batch.inputs[rows, :longest])
            assert torch.equal(part.labels, batch.labels[rows, :longest])
            assert not batch.attend[rows, longest:].any()


def test_batches_made_in_advance_are_the_same(texts):
    stream, other = (BatchStream(texts, batch_size=32, seed=5) for _ in range(2))
    for _ in range(2):
        ahead = list(stream.made(stream.at, ahead=3))
        assert all(same(one, two) for one, two in zip(ahead, other, strict=True))
        assert (stream.epoch, stream.index) == (other.epoch, other.index)


def test_a_batch_that_cannot_be_made_in_advance_raises_in_its_turn(texts):
    stream = BatchStream(texts, batch_size=32)

    def make(epoch, index):
        if index == 2:
            raise ValueError("the third")
        return index

    made = stream.made(make, ahead=4)
    assert [next(made), next(made)] == [0, 1]
    with pytest.raises(ValueError, match="the third"):
        next(made)


@pytest.mark.parametrize("how", [{"batch_size": 16}, {"batch_tokens": 600}])
def test_a_stream_resumes_exactly_at_every_step(masked, how):
    whole = BatchStream(masked, seed=4, **how)
    first, second = list(whole), list(whole)
    rest = BatchStream(masked, seed=4, **how)
    states = [rest.state_dict()]
    for _ in rest:
        states.append(json.loads(json.dumps(rest.state_dict())))
    assert len(states) == len(first) + 1
    for done, state in enumerate(states):
        resumed = BatchStream(masked, seed=4, **how)
        resumed.load_state_dict(state)
        assert (resumed.epoch, resumed.index) == (0, done)
        remaining = list(resumed)
        assert len(remaining) == len(first) - done
        assert all(same(one, other) for one, other in zip(remaining, first[done:], strict=True))
    assert all(same(one, other) for one, other in zip(resumed, second, strict=True))


@pytest.mark.parametrize("world", [2, 3])
@pytest.mark.parametrize("what", ["masked", "tagged"])
def test_the_ranks_together_see_the_batch_of_one_process(request, world, what):
    examples = request.getfixturevalue(what)
    alone = BatchStream(examples, batch_size=10, seed=2)
    ranks = [BatchStream(examples, batch_size=10, seed=2, rank=rank, world=world) for rank in range(world)]
    for one, *parts in zip(alone, *ranks, strict=True):
        assert sorted(place for part in parts for place in part.ids) == sorted(one.ids)
        assert sum(part.targets for part in parts) == one.targets
        assert {part.targets_in_step for part in parts} == {one.targets_in_step} == {one.targets}
        rows = {place: (inputs, labels) for place, inputs, labels in zip(one.ids, one.inputs, one.labels, strict=True)}
        for part in parts:
            for place, inputs, labels in zip(part.ids, part.inputs, part.labels, strict=True):
                width = part.inputs.shape[1]
                assert torch.equal(rows[place][0][:width], inputs)
                assert torch.equal(rows[place][1][:width], labels)


def test_a_rank_without_a_row_takes_part_and_counts_nothing(texts):
    ranks = [BatchStream(texts, batch_size=2, rank=rank, world=3) for rank in range(3)]
    for parts in zip(*ranks, strict=True):
        assert [part.targets for part in parts][2] == 0
        assert (parts[2].labels == IGNORE).all() and len(parts[2].inputs) == 1
        assert sum(part.targets for part in parts) == parts[0].targets_in_step
    assert (texts.labels != IGNORE).all()  # the rows themselves are untouched


def test_the_sum_over_ranks_is_the_loss_of_one_process(texts):
    torch.manual_seed(0)
    table = torch.randn(2000, 4)

    def loss(batch):
        logits = (table[batch.inputs] * batch.attend[..., None]).sum(1)
        return (
            torch.nn.functional.cross_entropy(logits, batch.labels, ignore_index=IGNORE, reduction="sum") / batch.targets_in_step
        )

    alone = BatchStream(texts, batch_size=7)
    ranks = [BatchStream(texts, batch_size=7, rank=rank, world=4) for rank in range(4)]
    for one, *parts in islice(zip(alone, *ranks, strict=True), 10):
        assert torch.allclose(loss(one), sum(map(loss, parts)), rtol=1e-5)


def test_a_position_is_kept_where_the_number_of_processes_changes(texts):
    two = BatchStream(texts, batch_size=32, rank=1, world=2)
    iterator = iter(two)
    for _ in range(5):
        next(iterator)
    one = BatchStream(texts, batch_size=32)
    one.load_state_dict(two.state_dict())
    assert next(iter(one)).ids == BatchStream(texts, batch_size=32).at(0, 5).ids


def test_evaluation_gets_the_same_batches_each_time_and_keeps_the_position(masked):
    stream = BatchStream(masked, batch_size=16, order="by_length")
    first, again = list(stream.batches()), list(stream.batches())
    assert all(same(one, other) for one, other in zip(first, again, strict=True))
    assert stream.state_dict()["index"] == 0
    widths = [batch.inputs.shape[1] for batch in first]
    assert widths == sorted(widths)


def digest_of_batches():
    data = load_data("mlm")
    tokenizer = Tokenizer.train(data.test.texts(), vocab=600)
    digest = hashlib.sha256()
    for rows in (prepare(data.test, tokenizer, max_length=48), prepare(load_data("digits").test, augment="shift")):
        for batch in BatchStream(rows, batch_tokens=500, seed=3):
            digest.update(batch.inputs.numpy().tobytes() + batch.labels.numpy().tobytes())
    return digest.hexdigest()


def test_another_process_makes_the_same_batches():
    code = "\n".join(IMPORTS) + "\n" + inspect.getsource(digest_of_batches) + "print(digest_of_batches())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == digest_of_batches(), done.stderr


IMPORTS = (
    "import hashlib",
    "from glassformer.training.data import load_data",
    "from glassformer.training.data.batches import BatchStream",
    "from glassformer.training.data.prepare import prepare",
    "from glassformer.training.tokenizers import Tokenizer",
)


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=300),
    st.integers(0, 2**40),
    st.integers(0, 3),
    st.one_of(st.builds(dict, batch_size=st.integers(1, 50)), st.builds(dict, batch_tokens=st.integers(40, 400))),
    st.sampled_from(["shuffled", "by_length"]),
)
def test_a_plan_holds_every_row_once_whatever_the_lengths(lengths, seed, epoch, how, order):
    stream = BatchStream(Lengths(lengths), seed=seed, order=order, **how)
    plan = stream.plan(epoch)
    assert sorted(np.concatenate(plan).tolist()) == list(range(len(lengths)))
    assert all(len(step) for step in plan)
    if "batch_size" in how:
        assert len(plan) == -(-len(lengths) // how["batch_size"]) == stream.steps(0)
    else:
        padded = order == "by_length"  # else packed, or cut into parts
        sizes = [len(step) * max(lengths[place] for place in step) if padded else sum(lengths[i] for i in step) for step in plan]
        assert max(sizes) <= how["batch_tokens"]


def test_the_plan_of_a_seed_is_written_down():
    # If this changes, no run can be resumed by a newer version: change it knowingly.
    stream = BatchStream(Lengths([5, 1, 4, 1, 3, 9, 2, 6, 5, 3]), batch_size=3, seed=0)
    assert [step.tolist() for step in stream.plan(1)] == [[5], [8, 0, 7], [3, 1, 6], [9, 4, 2]]


BAD = [
    ({}, "give either batch_size=… (rows per step) or batch_tokens=… (tokens per step)."),
    ({"batch_size": 2, "batch_tokens": 9}, "give either batch_size=… (rows per step) or batch_tokens=… (tokens per step)."),
    ({"batch_size": 0}, "batch_size=0 is not allowed: a whole number from 1."),
    ({"batch_size": 2.5}, "batch_size=2.5 is not allowed"),
    ({"batch_tokens": 10}, "batch_tokens=10 is less than the longest row (12 tokens). Give more, or a smaller max_length."),
    ({"batch_size": 2, "rank": 2, "world": 2}, "rank=2 is not allowed: from 0 to 1, since world=2."),
    ({"batch_size": 2, "seed": -1}, "seed=-1 is not allowed"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_a_wrong_stream_is_one_line(options, message):
    with pytest.raises(GlassformerError) as error:
        BatchStream(Lengths([3, 12]), **options)
    assert message in str(error.value)


def test_an_empty_split_makes_no_batch():
    with pytest.raises(GlassformerError, match=r"there are no rows to batch: the split is empty."):
        BatchStream(Lengths([]), batch_size=1)


def test_a_position_in_other_data_is_refused(texts):
    stream = BatchStream(texts, batch_size=32)
    state = stream.state_dict()
    for change, message in (
        ({"seed": 5}, "cannot resume: seed was 5 and is 0 now. The batches would differ."),
        ({"batch_size": 16}, "cannot resume: batch_size was 16 and is 32 now."),
        ({"examples": 7}, "cannot resume: examples was 7 and is 999 now."),
        ({"index": 1000}, "epoch 0, batch 1000 is not a position in this data."),
        ({"epoch": -1}, "epoch -1, batch 0 is not a position in this data."),
    ):
        with pytest.raises(GlassformerError) as error:
            stream.load_state_dict(state | change)
        assert message in str(error.value)
    with pytest.raises(GlassformerError, match=r"has no 'order': it was written by another version."):
        stream.load_state_dict({name: value for name, value in state.items() if name != "order"})


def test_an_invalid_split_tokenizer_or_examples_are_refused_by_name():
    data = load_data("lid-words")
    with pytest.raises(GlassformerError, match="prepare expects a split"):
        prepare(data, None)
    with pytest.raises(GlassformerError, match=r"expected a tokenizer.*found bert-base\."):
        prepare(data.train, "bert-base")
    with pytest.raises(GlassformerError, match="expected examples, as returned by prepare"):
        BatchStream([1, 2], batch_size=1)
