"""Rows as a model reads them: padded no further than needed, True = real, labels where they belong."""

import numpy as np
import pytest
import torch

from glassformer.errors import GlassformerError
from glassformer.training.data import Split, load_data
from glassformer.training.data.images import Pictures
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.picture_rows import shifted
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train([*load_data("lid").train.inputs[:2000], *load_data("lid-words").train.texts()], vocab=2000)


def test_texts_are_padded_to_the_longest_of_the_batch(tokenizer):
    texts = ["Choose a file", "Back", "Allowed to track your camera position"]
    rows = prepare(Split("x", "classify", texts, np.array([1, 0, 1])), tokenizer)
    ids = tokenizer.encode(texts)
    batch = rows.batch(np.array([1, 0]), seed=0, epoch=0)
    longest = max(len(ids[0]), len(ids[1]))
    assert batch.inputs.shape == batch.attend.shape == (2, longest)
    assert batch.inputs.dtype == batch.labels.dtype == torch.int64 and batch.attend.dtype == torch.bool
    assert batch.inputs[0].tolist() == ids[1] + [tokenizer.pad_id] * (longest - len(ids[1]))
    assert batch.attend[0].tolist() == [True] * len(ids[1]) + [False] * (longest - len(ids[1]))
    assert batch.labels.tolist() == [0, 1]
    assert (batch.ids, batch.tokens, batch.targets, batch.padded) == ((1, 0), len(ids[0]) + len(ids[1]), 2, True)
    alone = rows.batch(np.array([2]), seed=0, epoch=0)
    assert alone.inputs.tolist() == [ids[2]] and not alone.padded
    assert rows.batch(np.array([1, 0]), seed=0, epoch=0, multiple=8).inputs.shape == (2, -(-longest // 8) * 8)


def test_a_text_that_loses_its_end_is_counted(tokenizer):
    rows = prepare(load_data("lid").validation, tokenizer, max_length=12)
    assert rows.lengths.max() == 12
    whole = prepare(load_data("lid").validation, tokenizer)
    assert whole.cut == 0
    assert rows.cut == (whole.lengths > 12).sum() > 0


def test_the_first_piece_of_a_word_carries_its_tag(tokenizer):
    words = [("करने", "antidisestablishment", "OK"), ("में",)]
    rows = prepare(Split("x", "tag", words, [(1, 0, 2), (1,)]), tokenizer)
    batch = rows.batch(np.array([0, 1]), seed=0, epoch=0)
    (encoded, _) = tokenizer.encode_words(words)
    labels = batch.labels[0].tolist()
    first = {word: encoded.words.index(word) for word in range(3)}
    assert [labels[first[word]] for word in range(3)] == [1, 0, 2]
    assert sum(label != IGNORE for label in labels) == 3
    assert labels[0] == labels[-1] == IGNORE
    assert batch.labels[1].tolist().count(IGNORE) == batch.labels.shape[1] - 1
    assert (batch.targets, *(rows.targets(np.array([row]), seed=0, epoch=0) for row in (0, 1))) == (4, 3, 1)


def test_a_separate_word_is_a_row_with_its_origin(tokenizer):
    words = [("करने", "antidisestablishment", "OK"), ("में",)]
    split = Split("x", "tag", words, [(1, 0, 2), (1,)])
    rows = prepare(split, tokenizer, context="word")
    batch = rows.batch(np.arange(4), seed=0, epoch=0)
    assert rows.rows.tolist() == [0, 0, 0, 1] and prepare(split, tokenizer).rows.tolist() == [0, 1]
    assert [[label for label in row if label != IGNORE] for row in batch.labels.tolist()] == [[1], [0], [2], [1]]
    for number, (ids,) in enumerate(zip(tokenizer.encode_words([(word,) for row in words for word in row]), strict=True)):
        assert batch.inputs[number, : len(ids.ids)].tolist() == ids.ids
    with pytest.raises(GlassformerError, match="context=word is only for tagging, but the task is classify"):
        prepare(load_data("lid").validation, tokenizer, context="word")


def test_the_targets_of_a_cut_row_are_those_that_are_left(tokenizer):
    rows = prepare(load_data("lid-words").validation, tokenizer, max_length=10)
    for ids in np.array_split(np.arange(len(rows)), 5):
        batch = rows.batch(ids, seed=0, epoch=0)
        assert int((batch.labels != IGNORE).sum()) == batch.targets == rows.targets(ids, seed=0, epoch=0)


def test_long_plain_texts_continue_in_further_rows_and_nothing_is_lost(tokenizer):
    texts = load_data("mlm").validation.inputs[:20]
    rows = prepare(Split("x", "mlm", texts, None), tokenizer, max_length=32)
    assert rows.cut == 0 and rows.lengths.max() == 32 and len(rows) > 20
    flat = [[] for _ in texts]
    for place in range(len(rows)):
        start = rows.ends[place] - rows.lengths[place]
        flat[rows.rows[place]] += rows.flat[start + 1 : rows.ends[place] - 1].tolist()
    assert flat == [ids[1:-1] for ids in tokenizer.encode(texts)]


def test_masked_texts_follow_the_masking(tokenizer):
    rows = prepare(load_data("mlm").validation, tokenizer, max_length=64)
    ids = np.arange(50)
    first, again, other = (rows.batch(ids, seed=3, epoch=epoch) for epoch in (0, 0, 1))
    assert torch.equal(first.inputs, again.inputs) and torch.equal(first.labels, again.labels)
    assert not torch.equal(first.labels, other.labels)
    asked = first.labels != IGNORE
    assert int(asked.sum()) == first.targets == rows.targets(ids, seed=3, epoch=0)
    assert not (asked & ~first.attend).any()
    assert 0.7 < float((first.inputs[asked] == tokenizer.mask_id).float().mean()) < 0.9
    assert {tokenizer.cls_id, tokenizer.sep_id}.isdisjoint(first.labels[asked].tolist())


def test_images_run_from_minus_one_to_one():
    data = load_data("digits")
    batch = prepare(data.train).batch(np.array([0, 5, 9]), seed=0, epoch=0)
    assert batch.inputs.shape == (3, 1, 8, 8) and batch.inputs.dtype == torch.float32 and batch.attend is None
    expected = torch.from_numpy(data.train.inputs.pixels[[0, 5, 9]]).float() / 8 - 1
    assert torch.equal(batch.inputs, expected)
    assert batch.labels.tolist() == data.train.targets[[0, 5, 9]].tolist()


def test_a_shift_moves_an_image_by_a_tenth_at_most_and_by_its_id_alone():
    pixels = np.zeros((400, 2, 20, 30), dtype=np.uint8)
    pixels[:, :, 10, 15] = 9
    moved = shifted(pixels, np.arange(400), 0, 0)
    places = np.argwhere(moved[:, 0] == 9)
    assert len(places) == 400 and (moved[:, 0] == moved[:, 1]).all()
    assert set((places[:, 1] - 10).tolist()) == set(range(-2, 3))
    assert set((places[:, 2] - 15).tolist()) == set(range(-3, 4))
    some = np.array([7, 300])
    assert (shifted(pixels[some], some, 0, 0) == moved[some]).all()
    assert (shifted(pixels, np.arange(400), 0, 1) != moved).any()


def test_a_shift_repeats_the_border():
    pixels = np.full((50, 1, 8, 8), 3, dtype=np.uint8)
    assert (shifted(pixels, np.arange(50), 0, 0) == 3).all()


def test_a_batch_goes_to_a_device_whole():
    batch = prepare(load_data("digits").train).batch(np.array([0]), seed=0, epoch=0).to("meta")
    assert (batch.inputs.device.type, batch.labels.device.type, batch.attend) == ("meta", "meta", None)


def test_a_text_of_which_nothing_is_left_is_one_padding_token():
    import tokenizers

    bare = Tokenizer(tokenizers.Tokenizer(tokenizers.models.WordLevel({"<pad>": 0, "a": 1, "<unk>": 2}, unk_token="<unk>")))
    bare._inner.normalizer = tokenizers.normalizers.Replace("x", "")
    rows = prepare(Split("x", "classify", ["x", "a"], np.array([0, 1])), bare)
    assert rows.batch(np.array([0, 1]), seed=0, epoch=0).inputs.tolist() == [[0], [1]]


def test_mistakes_are_one_line(tokenizer):
    with pytest.raises(GlassformerError, match=r"^the task classify reads texts: give a tokenizer.$"):
        prepare(load_data("lid").validation)
    picture = Split("x", "image", Pictures((1, 1, 1), 255, np.zeros((1, 1, 1, 1), dtype=np.uint8)), np.array([0]))
    with pytest.raises(GlassformerError, match=r"^augment=flip does not fit the task image: choose none or shift.$"):
        prepare(picture, augment="flip")
    with pytest.raises(GlassformerError, match=r"^augment=shift does not fit the task classify: choose none or hide.$"):
        prepare(load_data("lid").validation, tokenizer, augment="shift")


@pytest.mark.parametrize(("set_name", "share"), [("lid", 0.2), ("lid-words", 0.2), ("lid", 0.6)])
def test_a_share_of_the_tokens_is_hidden_and_others_in_each_epoch(tokenizer, set_name, share):
    split = load_data(set_name).validation
    plain, some = prepare(split, tokenizer), prepare(split, tokenizer, augment="hide", hidden=share)
    ids = np.arange(100)
    true = plain.batch(ids, seed=1, epoch=0)
    seen = [some.batch(ids, seed=1, epoch=epoch) for epoch in (0, 0, 1)]
    assert torch.equal(seen[0].inputs, seen[1].inputs) and not torch.equal(seen[0].inputs, seen[2].inputs)
    hidden = seen[0].inputs != true.inputs
    assert hidden[true.attend].float().mean() == pytest.approx(share, rel=0.25)
    assert (
        set(seen[0].inputs[hidden].tolist()) == {tokenizer.mask_id} and not hidden[:, 0].any() and not hidden[~true.attend].any()
    )
    if set_name == "lid":
        assert torch.equal(seen[0].labels, true.labels)
    else:  # of a hidden word no tag is asked
        assert torch.equal(seen[0].labels, true.labels.masked_fill(hidden, IGNORE))
        assert seen[0].targets == some.targets(ids, seed=1, epoch=0) < true.targets
    # A row does not depend on its batch.
    alone = some.batch(ids[7:8], seed=1, epoch=0).inputs[0]
    assert torch.equal(alone, seen[0].inputs[7, : len(alone)])


def test_a_row_keeps_a_visible_labelled_token(tokenizer):
    rows = prepare(Split("x", "tag", [("में",)] * 200, [(1,)] * 200), tokenizer, augment="hide", hidden=0.9)
    batch = rows.batch(np.arange(200), seed=0, epoch=0)
    assert batch.targets == 200 == rows.targets(np.arange(200), seed=0, epoch=0)
