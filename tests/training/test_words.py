"""Ids put together from words: the same as those of the tokenizers package, whatever the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.training.data import load_data
from glassformer.training.tokenizers import Tokenizer
from glassformer.training.words import WordIds, splits_at_spaces

WORDS = ["the", "Where", "été", "don't", "ΣΑΣ", "İ", "", "e\u0301te\u0301", "क्या", "日本語", "[SEP]", "x" * 120]
WORDS += ["\u0301a", "\u00a0", "\t", "\x1c", "a\x1fb", "\ufeff"]
TEXTS = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.sampled_from(WORDS)).map(" ".join))


@pytest.fixture(scope="module")
def trained():
    texts = load_data("lid4").train.inputs[:4000]
    return [Tokenizer.train(texts, vocab=1500), Tokenizer.train(texts, vocab=1500, lowercase=True)]


@pytest.fixture(scope="module")
def tokenizers(trained, minilm):
    return [*trained, Tokenizer.load(minilm)]


@settings(max_examples=200)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6), most=st.sampled_from([None, 3, 5, 8, 64]))
def test_the_rows_are_those_of_the_package(tokenizers, texts, most):
    for tokenizer in tokenizers:
        inner = tokenizer._inner
        assert splits_at_spaces(inner)
        if most is not None:
            inner.enable_truncation(max_length=most)
        wanted = [[piece.ids for piece in (one, *one.overflowing)] for one in inner.encode_batch(texts)]
        inner.no_truncation()
        assert [[list(piece.ids) for piece in some] for some in tokenizer.rows(texts, most)] == wanted
        first = [(list(one.ids), one.cut) for one in tokenizer.first_rows(texts, most)]
        assert first == [(pieces[0], len(pieces) > 1) for pieces in wanted]


def test_special_tokens_are_marked(trained):
    (first, last), *_ = [list(pieces) for pieces in trained[0].rows(["a b c d e f", ""], 6)]
    assert [list(first.special), list(last.special)] == [[1, 0, 0, 0, 0, 1], [1, 0, 0, 1]]


def test_a_tokenizer_that_joins_words_is_read_as_a_whole(trained):
    texts = load_data("lid4").train.inputs[:500]
    assert not splits_at_spaces(Tokenizer.train(texts, vocab=600, kind="bpe")._inner)
    inner = trained[0]._inner
    named = type(inner).from_str(inner.to_str())
    named.add_tokens(["New York"])
    assert not splits_at_spaces(named)
    from tokenizers import Regex, normalizers

    spaced = type(inner).from_str(inner.to_str())
    spaced.normalizer = normalizers.Replace(Regex("[ ]+"), "")
    assert not splits_at_spaces(spaced)


def test_words_are_forgotten_when_there_are_too_many(trained, monkeypatch):
    words = WordIds(trained[0]._inner)
    wanted = [words.of([text])[0].tolist() for text in ("one two three", "four five", "one two")]
    monkeypatch.setattr("glassformer.training.words.MOST_WORDS", 3)
    assert [words.of([text])[0].tolist() for text in ("one two three", "four five", "one two")] == wanted
    assert len(words.numbers) <= 5
