"""Token ids kept in files: the same as those of the tokenizer, read only if they are intact and of the same texts."""

from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_training import opinions

from glassformer.training.data import kept_ids, load_data
from glassformer.training.data.kept_ids import KeepingTokenizer, Kept
from glassformer.training.data.prepare import prepare
from glassformer.training.tokenizers import Encoded, Tokenizer

WORDS = "the cat sat on a mat while it rained and nobody minded at all".split()
TEXTS = [" ".join(WORDS[place % 11 :] * (1 + place % 4)) for place in range(60)]
ABOUT = {"split": "train", "fingerprint": "of the texts"}


class AtOnce(Thread):
    """A thread that is waited for where it is started."""

    def start(self):
        super().start()
        self.join()


@pytest.fixture(autouse=True)
def _keeps_few(monkeypatch):
    monkeypatch.setattr(kept_ids, "FEWEST_TOKENS", 1)
    monkeypatch.setattr(kept_ids, "Thread", AtOnce)


@pytest.fixture(params=["wordpiece", "bpe"])
def tokenizer(request):
    return Tokenizer.train(TEXTS, vocab=400, kind=request.param)


def plainly(encoded):
    return [tuple(list(value) if hasattr(value, "__len__") else value for value in one) for one in encoded]


def never(*_, **__):
    raise AssertionError("it was tokenized again")


CALLS = {
    "rows": lambda tokenizer, longest: [row for text in tokenizer.rows(TEXTS, longest) for row in text],
    "first_rows": lambda tokenizer, longest: tokenizer.first_rows(TEXTS, longest),
    "encode_all": lambda tokenizer, longest: tokenizer.encode_all(TEXTS, longest),
    "encode_pairs": lambda tokenizer, longest: tokenizer.encode_pairs(zip(TEXTS, TEXTS[::-1], strict=True), longest),
}


@pytest.mark.parametrize("longest", [None, 12])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_kept_is_what_the_tokenizer_gives(tokenizer, call, longest, tmp_path, monkeypatch):
    plain = plainly(CALLS[call](tokenizer, longest))
    first = plainly(CALLS[call](KeepingTokenizer(tokenizer, tmp_path / "train", ABOUT), longest))
    monkeypatch.setattr(Tokenizer, "_encodings", never)
    monkeypatch.setattr(Tokenizer, "_by_words", never)
    again = plainly(CALLS[call](KeepingTokenizer(tokenizer, tmp_path / "train", ABOUT), longest))
    assert plain == first == again
    with pytest.raises(AssertionError, match="tokenized again"):  # the twin: other texts are not taken for these
        list(CALLS[call](KeepingTokenizer(tokenizer, tmp_path / "train", ABOUT | {"fingerprint": "other"}), longest))


ROWS = st.lists(st.tuples(st.lists(st.integers(0, 2**31 - 1), max_size=5), st.booleans()), min_size=1, max_size=4)


@given(st.lists(ROWS, max_size=8), st.booleans())
def test_rows_come_back_from_a_file_as_they_were(tmp_path_factory, texts, pairs):
    made = [
        [Encoded(ids, [1] * len(ids), [], cut, [0] * len(ids) if pairs and ids else ()) for ids, cut in text] for text in texts
    ]
    file = tmp_path_factory.mktemp("kept") / "train.ids"
    kept_ids.write(file, ABOUT, Kept.of(made))
    found = kept_ids.read(file, ABOUT)
    assert [plainly(text) for text in found.texts()] == [plainly(text) for text in made]
    assert kept_ids.read(file, ABOUT | {"max_length": 3}) is None


@given(st.data())
def test_a_file_with_a_changed_byte_or_length_is_not_read(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("kept") / "train.ids"
    kept_ids.write(file, ABOUT, Kept.of([[Encoded([5, 6, 7], [0, 0, 1], [], cut=False)]] * 3))
    whole = file.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    file.write_bytes(
        whole[:place] if data.draw(st.booleans()) else whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    )
    assert kept_ids.read(file, ABOUT) is None


def test_a_full_disk_costs_only_time(tokenizer, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_ids, "write", full)
    keeping = KeepingTokenizer(tokenizer, tmp_path / "train", ABOUT)
    assert plainly(keeping.first_rows(TEXTS)) == plainly(tokenizer.first_rows(TEXTS))
    assert not list(tmp_path.iterdir())


def test_few_tokens_are_not_kept(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_ids, "FEWEST_TOKENS", 10**6)
    list(KeepingTokenizer(tokenizer, tmp_path / "train", ABOUT).first_rows(TEXTS))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("task", ["pairs", "texts", "translation"])
def test_batches_are_the_same(task, tmp_path):
    opinions(tmp_path, rows=80)
    reading = {
        "pairs": {"text": "first,second"},
        "texts": {"text": "first", "label": None},
        "translation": {"text": "first", "target": "second", "rows_for": "seq2seq"},
    }[task]
    data = load_data(tmp_path / "pairs.csv", **reading)
    tokenizer = Tokenizer.train(list(data.train.texts()), vocab=300, kind="wordpiece")
    made = [prepare(data.train, tokenizer, max_length=9)]
    made += [prepare(data.train, KeepingTokenizer(tokenizer, tmp_path / "kept" / "train", ABOUT), max_length=9) for _ in range(2)]
    places = np.arange(len(made[0]))
    plain, first, again = (one.batch(places, seed=0, epoch=1) for one in made)
    assert list((tmp_path / "kept").iterdir())
    assert made[0].cut == made[1].cut == made[2].cut
    for tensors in zip(plain.tensors(), first.tensors(), again.tensors(), strict=True):
        assert all((one == tensors[0]).all() for one in tensors)
