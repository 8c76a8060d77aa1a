"""Rows of several texts: the position of each text in a batch, and which texts are equal."""

import numpy as np
import pytest
import torch

from glassformer.training.data.dataset import Split
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Tokenizer

ROWS = [("a b c", "d"), ("e", "a b"), ("f g h i j", "d"), ("b", "c d e f")]
TOKENIZER = Tokenizer.train(["a b c d e f g h i j"] * 3, vocab=60)


def batch_of(rows, ids=None, **reading):
    made = prepare(Split("train", "embed", rows, None), TOKENIZER, **reading)
    return made, made.batch(np.arange(len(rows)) if ids is None else np.array(ids), seed=0, epoch=0)


@pytest.mark.parametrize("rows", [ROWS, [(*row, "j") for row in ROWS]], ids=["pairs", "triplets"])
def test_places_restore_the_order_of_the_columns(rows):
    made, batch = batch_of(rows, [2, 0, 3])
    wanted = [rows[row][column] for column in range(len(rows[0])) for row in (2, 0, 3)]
    found = [TOKENIZER.decode(batch.inputs[place].tolist()) for place in batch.places.tolist()]
    assert found == wanted and list(batch.lengths) == sorted(batch.lengths)
    assert made.lengths.tolist() == [sum(len(ids) for ids in TOKENIZER.encode(list(row))) for row in rows]
    assert (batch.targets, batch.tokens) == (3, int(made.lengths[[2, 0, 3]].sum()))


def test_equal_texts_have_equal_numbers():
    _, batch = batch_of(ROWS)
    numbers = batch.labels.tolist()
    assert numbers[4] == numbers[6] and len(set(numbers)) == 7  # "d" belongs to the first and to the third row


def test_pieces_hold_every_text_once_with_little_padding():
    _, batch = batch_of(ROWS)
    pieces = list(batch.pieces(12))
    assert len(pieces) > 1 and sum(len(inputs) for inputs, _ in pieces) == 8
    assert all(inputs.numel() <= 12 for inputs, _ in pieces)
    assert all(attend is None or not attend.all() for _, attend in pieces)
    whole = torch.cat([inputs[attend] if attend is not None else inputs.flatten() for inputs, attend in pieces])
    assert torch.equal(whole, batch.inputs[batch.attend])


def test_a_batch_is_not_cut_and_moves_with_its_places():
    _, batch = batch_of(ROWS)
    assert list(batch.parts(1)) == [batch]
    moved = batch.with_tensors(torch.clone)
    assert type(moved) is type(batch) and torch.equal(moved.places, batch.places) and moved.lengths == batch.lengths


def test_truncated_rows_are_counted_once():
    made, batch = batch_of(ROWS, max_length=4)
    assert made.cut == 3 and batch.inputs.shape == (8, 4)
