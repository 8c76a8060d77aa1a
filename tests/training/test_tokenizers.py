"""Tokenizers: the same file from the same texts, nothing lost of Hindi or French, words found again."""

import hashlib
import json
import subprocess
import sys
import unicodedata

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data import load_data
from glassformer.training.tokenizers import Tokenizer

FRENCH = "Où est l'été ? Ça brûle : le cœur naïf de Noël, à l'œil nu."
HINDI = "हिन्दी में लिखा हुआ वाक्य, क्या यह ठीक है? डीबगर को टैब में रोका गया।"
KINDS = ("wordpiece", "bpe")


@pytest.fixture(scope="module")
def texts():
    return [*load_data("lid4").train.inputs, FRENCH, HINDI]


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request, texts):
    return Tokenizer.train(texts, vocab=3000, kind=request.param)


def test_a_tokenizer_has_the_size_requested_and_its_special_tokens(tokenizer):
    assert tokenizer.vocab == 3000
    special = (tokenizer.pad_id, tokenizer.unknown_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id)
    assert special == (0, 1, 2, 3, 4)
    assert tokenizer.ordinary_ids == tuple(range(5, 3000))


@pytest.mark.parametrize("text", [FRENCH, HINDI])
def test_hindi_and_french_come_back(tokenizer, text):
    ids = tokenizer.encode([text])[0]
    assert (ids[0], ids[-1]) == (tokenizer.cls_id, tokenizer.sep_id)
    assert tokenizer.unknown_id not in ids
    back = tokenizer.decode(ids)
    assert back.replace(" ", "") == unicodedata.normalize("NFC", text).replace(" ", "")


def test_byte_level_bpe_gives_every_text_back_exactly(texts):
    tokenizer = Tokenizer.train(texts[:500], vocab=600, kind="bpe")
    for text in (FRENCH, HINDI, "日本語 🙂 ≤ never seen"):
        assert tokenizer.decode(tokenizer.encode([text])[0]) == text


def test_the_two_ways_to_write_an_accent_are_one(tokenizer):
    composed, apart = (unicodedata.normalize(form, "Où est l'été ?") for form in ("NFC", "NFD"))
    assert composed != apart
    assert tokenizer.encode([composed]) == tokenizer.encode([apart])


def test_a_hindi_word_is_not_cut_at_its_vowel_signs(texts):
    for kind in KINDS:
        tokenizer = Tokenizer.train(texts, vocab=6000, kind=kind)
        assert len(tokenizer.encode(["करने"])[0]) == 3


def test_accents_and_case_stay_unless_lower_case_is_requested(texts):
    tokenizer = Tokenizer.train(texts, vocab=3000)
    assert tokenizer.encode(["ou"]) != tokenizer.encode(["où"])
    assert tokenizer.encode(["Tom"]) != tokenizer.encode(["tom"])
    lower = Tokenizer.train(texts, vocab=3000, lowercase=True)
    assert lower.encode(["Tom ÉTÉ"]) == lower.encode(["tom été"])
    assert lower.encode(["ete"]) != lower.encode(["été"])


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_train_the_same_file(kind):
    code = (
        "from glassformer.training.data import load_data\n"
        "from glassformer.training.tokenizers import Tokenizer\n"
        f"print(Tokenizer.train(load_data('lid-words').train.texts(), vocab=1500, kind='{kind}').fingerprint)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60) for _ in range(3)]
    assert len({run.stdout for run in runs}) == 1
    assert len(runs[0].stdout.strip()) == 64


def test_a_saved_tokenizer_is_the_same_tokenizer(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path)
    assert again.to_json() == tokenizer.to_json()
    assert again.fingerprint == hashlib.sha256((tmp_path / "tokenizer.json").read_bytes()).hexdigest()
    assert again.encode([FRENCH, HINDI]) == tokenizer.encode([FRENCH, HINDI])
    assert json.loads(tokenizer.to_json())["truncation"] is None


def test_transformers_reads_the_file_and_finds_the_same_ids(tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizer.save(tmp_path / "tokenizer.json")
    other = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    assert other([FRENCH, HINDI])["input_ids"] == tokenizer.encode([FRENCH, HINDI])


def test_the_first_piece_of_a_word_is_found(tokenizer):
    (row,) = tokenizer.encode_words([["हिन्दी", "été", "x", "antidisestablishment"]])
    pieces = tokenizer.tokens(row.ids)
    assert len(pieces) == len(row.words) == len(row.special)
    assert [word for word in dict.fromkeys(row.words) if word is not None] == [0, 1, 2, 3]
    assert row.words.count(3) > 1
    assert (row.words[0], row.words[-1], row.special[0], row.special[-1], row.cut) == (None, None, True, True, False)


def test_a_long_text_is_cut_and_its_end_is_kept_in_windows(tokenizer):
    text = " ".join([HINDI] * 10)
    whole = tokenizer.encode([text])[0]
    (short,) = tokenizer.encode_all([text], 16)
    assert (len(short.ids), short.cut) == (16, True)
    assert short.ids[:-1] == whole[:15] and short.ids[-1] == tokenizer.sep_id
    (windows,) = tokenizer.windows([text], 16)
    assert all(len(one.ids) <= 16 for one in windows)
    assert [token for one in windows for token in one.ids[1:-1]] == whole[1:-1]
    assert tokenizer.encode([text])[0] == whole  # cutting leaves no trace


def test_special_tokens_inside_a_text_are_text(tokenizer):
    (row,) = tokenizer.encode_all(["a [SEP] b [MASK]"])
    assert tokenizer.mask_id not in row.ids
    assert row.ids.count(tokenizer.sep_id) == 1


def test_a_checkpoints_own_tokenizer_is_taken(minilm):
    tokenizer = Tokenizer.load(minilm / "tokenizer.json")
    assert (tokenizer.vocab, tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id) == (30522, 0, 101, 102, 103)
    assert tokenizer.encode(["Hello, world!"])[0] == [101, 7592, 1010, 2088, 999, 102]
    assert not {0, 100, 101, 102, 103} & set(tokenizer.ordinary_ids)


def test_other_names_of_special_tokens_are_known(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer = Tokenizer(inner)
    assert (tokenizer.cls_id, tokenizer.pad_id, tokenizer.sep_id, tokenizer.unknown_id) == (0, 1, 2, 3)
    with pytest.raises(GlassformerError, match=r"this tokenizer has no mask token"):
        _ = tokenizer.mask_id


def test_mistakes_are_one_line(tmp_path, tokenizer):
    (tmp_path / "bad.json").write_text('{"model": {"type": "Nothing"}}', encoding="utf-8")
    for call, message in (
        (lambda: Tokenizer.train(["a"], vocab=3), "vocab=3 is too small: 5 special tokens and single characters come first."),
        (
            lambda: Tokenizer.train(["a"], vocab=100, kind="bpe"),
            "vocab=100 is too small: byte-level BPE needs at least 261 tokens",
        ),
        (lambda: Tokenizer.train([]), "there is no text to train a tokenizer on"),
        (lambda: Tokenizer.train(["a"], kind="unigram"), "tokenizer kind=unigram is not known: wordpiece or bpe."),
        (lambda: Tokenizer.load(tmp_path), "tokenizer.json is missing in "),
        (lambda: Tokenizer.load(tmp_path / "none.json"), "no such file: "),
        (lambda: Tokenizer.load(tmp_path / "bad.json"), "bad.json cannot be used: "),
        (lambda: tokenizer.encode(["a"], 2), "max_length=2 leaves no room for text: 2 special tokens are added."),
    ):
        with pytest.raises(GlassformerError) as error:
            call()
        assert message in str(error.value)


def test_a_rare_character_is_unknown_and_the_common_ones_have_room(texts):
    tokenizer = Tokenizer.train(["aaa bbb ccc"] * 50 + [chr(0x4E00 + i) for i in range(400)], vocab=100)
    assert tokenizer.vocab <= 100
    assert tokenizer.unknown_id not in tokenizer.encode(["abc"])[0]
    assert tokenizer.unknown_id in tokenizer.encode([chr(0x4E00 + 399)])[0]


@pytest.mark.parametrize("given", ["one text alone", b"bytes", 5, None, ["a", 1], [b"a"]])
def test_one_text_is_not_a_list_of_its_letters(tokenizer, given):
    with pytest.raises(GlassformerError, match="expected a list of texts, found"):
        Tokenizer.train(given)
    with pytest.raises(GlassformerError, match="expected a list of texts, found"):
        tokenizer.encode(given)


@pytest.mark.parametrize("vocab", [None, 1.5, "8000", 0, 10**18, True])
def test_a_vocabulary_has_a_whole_number_of_tokens(texts, vocab):
    with pytest.raises(GlassformerError, match="vocab must be a whole number from 1 to 10,000,000"):
        Tokenizer.train(texts, vocab=vocab)


@pytest.mark.parametrize("ids", ["12", [None], [1.5], [-1], [2**40]])
def test_ids_are_whole_numbers(tokenizer, ids):
    with pytest.raises(GlassformerError, match="ids are whole numbers from 0, in a list"):
        tokenizer.tokens(ids)
