"""Rows for generation models: inputs, targets and ends of texts."""

import numpy as np
import pytest
from tiny_writing import PAIRS

from glassformer.training.data.dataset import Split
from glassformer.training.data.masking import IGNORE
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Tokenizer

SOURCES, TARGETS = map(list, zip(*PAIRS, strict=True))
TEXTS = [*SOURCES, *TARGETS]


@pytest.fixture(scope="module")
def tokenizers():
    return [Tokenizer.train(TEXTS, vocab=300, kind="bpe", ends=ends) for ends in (True, False)]


def test_the_decoder_input_is_shifted_by_one_token(tokenizers):
    tokenizer, _ = tokenizers
    rows = prepare(Split("train", "translate", SOURCES, TARGETS), tokenizer, max_length=40)
    batch = rows.batch(np.array([0, 9, 30]), seed=0, epoch=0)
    for place, row in enumerate((0, 9, 30)):
        (source,), (target,) = tokenizer.encode([SOURCES[row]]), tokenizer.encode([TARGETS[row]])
        assert batch.inputs[place][batch.attend[place]].tolist() == source
        labels = batch.labels[place]
        assert labels[labels != IGNORE].tolist() == target[1:] and target[-1] == tokenizer.sep_id
        assert batch.target[place][labels != IGNORE].tolist() == target[:-1] and target[0] == tokenizer.cls_id
    assert batch.targets == rows.targets(np.array([0, 9, 30]), seed=0, epoch=0)
    assert batch.tokens == int(batch.attend.sum()) + batch.targets


def test_a_target_that_is_cut_does_not_learn_to_end_there(tokenizers):
    tokenizer, _ = tokenizers
    rows = prepare(Split("train", "translate", ["go"], [TARGETS[0] * 4]), tokenizer, max_length=6)
    batch = rows.batch(np.array([0]), seed=0, epoch=0)
    assert rows.cut == 1 and batch.labels.shape[1] == 6 and tokenizer.sep_id not in batch.labels[0].tolist()


def test_a_text_is_predicted_token_by_token_and_ends(tokenizers):
    _, tokenizer = tokenizers
    rows = prepare(Split("train", "causal", [SOURCES[0], " ".join(SOURCES[:20])], None), tokenizer, max_length=16)
    (short,), (long,) = tokenizer.encode([SOURCES[0]]), tokenizer.encode([" ".join(SOURCES[:20])])
    assert short[-1] != tokenizer.sep_id == tokenizer.end_id
    batch = rows.batch(np.array([0]), seed=0, epoch=0)
    assert batch.inputs[0].tolist() == short and batch.labels[0].tolist() == [*short[1:], tokenizer.end_id]
    pieces = [rows.batch(np.array([row]), seed=0, epoch=0) for row in range(1, len(rows))]
    assert [token for piece in pieces for token in piece.labels[0].tolist()] == [*long[1:], tokenizer.end_id]
    assert all(len(piece.inputs[0]) <= 16 for piece in pieces) and set(rows.rows[1:]) == {1}


def test_a_batch_in_parts_has_every_pair_once_and_less_padding(tokenizers):
    tokenizer, _ = tokenizers
    targets = [target * (1 + row % 3) for row, target in enumerate(TARGETS)]
    rows = prepare(Split("train", "translate", SOURCES, targets), tokenizer)
    whole = rows.batch(rows.lengths.argsort(), seed=0, epoch=0)
    parts = list(whole.parts(300))
    assert len(parts) > 2 and sum(part.targets for part in parts) == whole.targets
    assert [number for part in parts for number in part.ids] == list(whole.ids)
    assert sum(part.tokens for part in parts) == whole.tokens
    for part in parts:
        assert part.inputs.numel() + part.target.numel() <= 300 and part.target.shape == part.labels.shape
        assert (part.extent.tokens, part.extent.target_tokens) == (part.inputs.numel(), part.target.numel())


def test_a_tokenizer_without_an_end_is_refused():
    from glassformer import GlassformerError

    tokenizers = pytest.importorskip("tokenizers")
    bare = Tokenizer(tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a")))
    with pytest.raises(GlassformerError, match=r"^this tokenizer has no end-of-sequence token \(\[SEP\], </s>, "):
        prepare(Split("train", "causal", ["a b"], None), bare)
