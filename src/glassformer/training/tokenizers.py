"""Tokenizers: trained reproducibly on your texts, or loaded from a checkpoint."""

from __future__ import annotations

import hashlib
import string
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from glassformer import arguments
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such, path_text
from glassformer.files.texts import NOT_THE_FILE, guarded
from glassformer.files.weight_files import inside
from glassformer.training.words import CONTROL, WordIds, splits_at_spaces

Kind: TypeAlias = Literal["wordpiece", "bpe"]
FILE = "tokenizer.json"
MOST_BYTES = 64_000_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Names in other model families.
ALSO = {"[PAD]": ("<pad>",), "[UNK]": ("<unk>",), "[CLS]": ("<s>",), "[SEP]": ("</s>",), "[MASK]": ("<mask>",)}
ENDS = ("[SEP]", "</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>", "<|im_end|>")
# GPT-2's pattern, but with combining marks inside words: otherwise Devanagari would be split at each vowel sign.
WORDS = r" ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"
MOST_TOKENS = 10_000_000  # of a vocabulary
AT_ONCE = 1024  # texts encoded per call

Item = TypeVar("Item")


class Encoded(NamedTuple):
    """An encoded text: token ids, which of them are special, the word of each token, and whether the text was truncated."""

    ids: Sequence[int]  # or an array of them
    special: Sequence[int]  # 1: a special token
    words: list[int | None]  # empty if the text is not a list of words
    cut: bool
    segments: Sequence[int] = ()  # 0 for the tokens of the first text, 1 for those of the second; empty for a single text


class Tokenizer:
    """A thin wrapper around the `tokenizers` package: train or load, encode, decode, save."""

    def __init__(self, inner: Any) -> None:
        inner.no_truncation()
        inner.no_padding()
        inner.encode_special_tokens = True  # "[SEP]" inside a text is five characters, not the end of the text
        self._inner = inner

    @classmethod
    def train(
        cls, texts: Iterable[str], *, vocab: int = 8000, kind: Kind = "wordpiece", lowercase: bool = False, ends: bool = True
    ) -> Tokenizer:
        """Train a tokenizer of at most `vocab` tokens; equal texts give an identical file.

        Text is normalized to NFC only; accents and vowel signs are kept. WordPiece knows the characters of the training
        texts; byte-level BPE knows every character and decodes each text exactly. With `ends=False`, no token follows an
        encoded text, so that it can be continued.
        """
        package, texts, vocab = _package(), _list_of_texts(texts), arguments.whole("vocab", vocab, least=1, most=MOST_TOKENS)
        if kind == "wordpiece":
            return cls(_with_special_tokens(package, _train_wordpiece(package, texts, vocab, lowercase=lowercase), ends=ends))
        if kind == "bpe":
            return cls(_with_special_tokens(package, _train_bpe(package, texts, vocab, lowercase=lowercase), ends=ends))
        raise GlassformerError(f"tokenizer kind={shown(kind)} is not known: wordpiece or bpe.")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Load a `tokenizer.json`, or the one in a model folder."""
        path = arguments.path("path", path)
        package = _package()
        if path.is_dir():
            if not (path / FILE).exists():
                raise GlassformerError(f"{FILE} is missing in {path_text(path)}: text cannot be tokenized. Add the file.")
            path = inside(path, FILE, source="the model folder")
        if not path.is_file():
            raise no_such(path, wanted=f"Give a {FILE}, or the folder that contains one.")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise GlassformerError(f"{path_text(path)} has {size:,} bytes; at most {MOST_BYTES:,} are allowed. It was not read.")
        said = f"{path_text(path)} cannot be used"
        return cls(guarded(said, lambda: package.Tokenizer.from_file(str(path)), way_out=NOT_THE_FILE))

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`, which other libraries can read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return the tokenizer as JSON."""
        return str(self._inner.to_str(pretty=True)) + "\n"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the JSON text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @cached_property
    def vocab(self) -> int:
        """The vocabulary size: the number of rows that a token embedding needs."""
        return 1 + max(self._inner.get_vocab().values(), default=-1)

    @cached_property
    def pad_id(self) -> int:
        """The padding token; token 0 if the tokenizer has none, since padding is never attended to."""
        found = self._special("[PAD]")
        return 0 if found is None else found

    @cached_property
    def mask_id(self) -> int:
        """The mask token."""
        found = self._special("[MASK]")
        if found is None:
            raise GlassformerError("this tokenizer has no mask token ([MASK] or <mask>): it cannot be trained on masked tokens.")
        return found

    @property
    def cls_id(self) -> int | None:
        """The token before a text, if any."""
        return self._special("[CLS]")

    @property
    def sep_id(self) -> int | None:
        """The token after a text, if any."""
        return self._special("[SEP]")

    @property
    def start_id(self) -> int:
        """The token that a decoder with an encoder begins with: the one before a text, or padding (T5, Marian)."""
        return self.pad_id if self.cls_id is None else self.cls_id

    @cached_property
    def end_id(self) -> int:
        """The token that ends a text that a model writes."""
        found = next((token for name in ENDS if (token := self._inner.token_to_id(name)) is not None), None)
        if found is None:
            raise GlassformerError(
                f"this tokenizer has no end-of-sequence token ({', '.join(ENDS)}): the model would not learn where a text ends. "
                "Give a checkpoint whose tokenizer has one."
            )
        return int(found)

    @property
    def unknown_id(self) -> int | None:
        """The token for unknown words, if any."""
        return self._special("[UNK]")

    @property
    def blank_id(self) -> int:
        """The token that replaces hidden tokens: the mask token if there is one, else the unknown token, else padding."""
        found = [self._special(name) for name in ("[MASK]", "[UNK]")]
        return next((one for one in found if one is not None), self.pad_id)

    @cached_property
    def ordinary_ids(self) -> tuple[int, ...]:
        """The ids of all tokens that are not special, sorted."""
        special = {token for name in SPECIAL if (token := self._special(name)) is not None}
        special |= {place for place, token in self._inner.get_added_tokens_decoder().items() if token.special}
        return tuple(sorted(set(self._inner.get_vocab().values()) - special))

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> list[list[int]]:
        """Return the token ids of each text, with special tokens; texts longer than `max_length` are truncated."""
        texts = _list_of_texts(texts)
        return [list(encoded.ids) for encoded in self.encode_all(texts, max_length)]

    def encode_all(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode each text with the metadata of its tokens."""
        return (_encoded(one) for one in self._encodings(texts, max_length))

    def encode_pairs(self, pairs: Iterable[Sequence[str]], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode each pair of texts as one row: `[CLS] a [SEP] b [SEP]`; of a row that is too long, the longer text is cut."""
        found = self._encodings(map(tuple, pairs), max_length, pairs=True)
        return (_encoded(one)._replace(segments=one.type_ids) for one in found)

    def encode_words(self, rows: Iterable[Sequence[str]], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode each row of words; `words` maps each token to its word."""
        found = self._encodings(map(list, rows), max_length, words=True)
        return (_encoded(one)._replace(words=list(one.word_ids)) for one in found)

    def windows(self, texts: Iterable[str], max_length: int) -> Iterator[list[Encoded]]:
        """Split each text into windows of at most `max_length` tokens, each with special tokens; nothing is lost."""
        for one in self._encodings(texts, max_length):
            yield [_encoded(piece)._replace(cut=False) for piece in (one, *one.overflowing)]

    def rows(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[list[Encoded]]:
        """Encode each text as the windows it takes: as `windows` does, with arrays of ids, and in a fraction of the time."""
        if self._words is not None:
            return self._by_words(texts, max_length)
        return ([one] for one in self.encode_all(texts)) if max_length is None else self.windows(texts, max_length)

    def first_rows(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode the beginning of each text: as `encode_all` does, with arrays of ids, and in a fraction of the time."""
        return (pieces[0]._replace(cut=len(pieces) > 1) for pieces in self.rows(texts, max_length))

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids without special tokens; WordPiece leaves spaces around punctuation."""
        return str(self._inner.decode(list(ids), skip_special_tokens=True)).strip()

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the token of each id."""
        found = arguments.as_list(ids)
        if not all(arguments.is_whole(one) and 0 <= one < 2**32 for one in found):
            raise GlassformerError(f"ids={shown(ids)} is not allowed: ids are whole numbers from 0, in a list.")
        return [self._inner.id_to_token(int(one)) or f"[{int(one)}]" for one in found]

    @cached_property
    def _words(self) -> WordIds | None:
        """Finds the ids of texts from those of their words; None if this tokenizer depends on more than one word."""
        return WordIds(self._inner) if splits_at_spaces(self._inner) else None

    def _by_words(self, texts: Iterable[str], max_length: int | None) -> Iterator[list[Encoded]]:
        """Encode each text as rows of at most `max_length` tokens."""
        assert self._words is not None
        self._check_room(max_length)
        for some in _some_at_once(texts):
            ids, special, bounds, first = self._words.rows(some, max_length)
            ends = bounds.tolist()
            for start, stop in pairwise(first.tolist()):
                yield [Encoded(ids[a:b], special[a:b], [], cut=False) for a, b in pairwise(ends[start : stop + 1])]  # type: ignore[arg-type]

    def _check_room(self, max_length: int | None, *, pairs: bool = False) -> None:
        own = self._inner.num_special_tokens_to_add(is_pair=pairs)
        if max_length is not None and arguments.whole("max_length", max_length, most=2**31) <= own:
            raise GlassformerError(f"max_length={max_length} leaves no room for text: {own} special tokens are added.")

    def _encodings(
        self, texts: Iterable[Any], max_length: int | None, *, words: bool = False, pairs: bool = False
    ) -> Iterator[Any]:
        self._check_room(max_length, pairs=pairs)
        for some in _some_at_once(texts):
            if max_length is not None:
                self._inner.enable_truncation(max_length=max_length)
            try:
                encode = self._inner.encode_batch if words else self._inner.encode_batch_fast  # without places in the text
                found = guarded("texts cannot be tokenized", partial(encode, some, is_pretokenized=words))
            finally:
                self._inner.no_truncation()
            yield from found

    def _special(self, name: str) -> int | None:
        for known in (name, *ALSO[name]):
            found = self._inner.token_to_id(known)
            if found is not None:
                return int(found)
        return None


def _list_of_texts(texts: Any) -> list[str]:
    """Return a list of texts; refuse a single string, which would be read as a list of characters."""
    found: list[Any] = [None] if isinstance(texts, str | bytes) else arguments.as_list(texts)
    if not all(isinstance(text, str) for text in found):
        wrong = texts if isinstance(texts, str | bytes) else next(text for text in found if not isinstance(text, str))
        raise GlassformerError(f"expected a list of texts, found {shown(wrong)}. Write ['a text', 'another'].")
    return found


def _encoded(one: Any) -> Encoded:
    return Encoded(one.ids, one.special_tokens_mask, [], bool(one.overflowing))


def _train_wordpiece(package: Any, texts: Iterable[str], vocab: int, *, lowercase: bool) -> Any:
    """Train WordPiece reproducibly, by giving every single character a fixed id.

    The trainer numbers the pieces `##x` in hash-map order, which differs between processes, and breaks ties between merges by
    these numbers, so that two runs would give two vocabularies. We pass them as special tokens, which come first in a fixed
    order, and then rebuild the tokenizer from the vocabulary, where they are ordinary tokens.
    """
    normalizer = _normalizer(package, lowercase=lowercase)
    rows = [_normalized(normalizer, text, lowercase=lowercase) for text in texts]
    letters = _letters(rows)
    room = (vocab - len(SPECIAL)) // 4  # at most half of the vocabulary is single characters, each in two forms
    common = sorted((letter for letter in letters if not letter.isspace()), key=lambda letter: (-letters[letter], letter))
    if room < 1 or not common:
        what = f"vocab={vocab} is too small" if common else "there is no text to train a tokenizer on"
        raise GlassformerError(f"{what}: {len(SPECIAL)} special tokens and single characters come first. Try vocab=8000.")
    alphabet = sorted(common[:room])
    pieces = [*alphabet, *(f"##{letter}" for letter in alphabet if _joins(letter))]
    inner = package.Tokenizer(package.models.WordPiece(unk_token="[UNK]"))
    inner.pre_tokenizer = package.pre_tokenizers.BertPreTokenizer()
    trainer = package.trainers.WordPieceTrainer(
        vocab_size=vocab,
        special_tokens=[*SPECIAL, *pieces],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    inner.train_from_iterator(rows, trainer)
    built = package.Tokenizer(package.models.WordPiece(vocab=inner.get_vocab(), unk_token="[UNK]"))
    built.normalizer = normalizer
    built.pre_tokenizer = package.pre_tokenizers.BertPreTokenizer()
    built.decoder = package.decoders.WordPiece(cleanup=False)
    return built


def _train_bpe(package: Any, texts: Iterable[str], vocab: int, *, lowercase: bool) -> Any:
    alphabet = sorted(package.pre_tokenizers.ByteLevel.alphabet())
    least = len(alphabet) + len(SPECIAL)
    if vocab < least:
        raise GlassformerError(f"vocab={vocab} is too small: byte-level BPE needs at least {least} tokens.")
    inner = package.Tokenizer(package.models.BPE())
    # A space before the first word, so that a word is the same token in every position.
    inner.normalizer = package.normalizers.Sequence([_normalizer(package, lowercase=lowercase), package.normalizers.Prepend(" ")])
    inner.pre_tokenizer = package.pre_tokenizers.Sequence(
        [
            package.pre_tokenizers.Split(package.Regex(WORDS), behavior="isolated"),
            package.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.decoder = package.decoders.ByteLevel()
    trainer = package.trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(texts, trainer)
    return inner


def _normalizer(package: Any, *, lowercase: bool) -> Any:
    steps = [package.normalizers.NFC(), package.normalizers.Replace(package.Regex(CONTROL), "")]
    return package.normalizers.Sequence([*steps, *([package.normalizers.Lowercase()] if lowercase else [])])


def _normalized(normalizer: Any, text: str, *, lowercase: bool) -> str:
    if text.isascii() and text.isprintable():  # the same, ten times as fast
        return text.lower() if lowercase else text
    return str(normalizer.normalize_str(text))


def _letters(rows: Iterable[str]) -> dict[str, int]:
    """Count each character."""
    counts = np.zeros(sys.maxunicode + 1, dtype=np.int64)
    for some in _some_at_once(rows):
        counts += np.bincount(np.frombuffer("".join(some).encode("utf-32-le"), dtype=np.uint32), minlength=len(counts))
    return {chr(place): int(counts[place]) for place in counts.nonzero()[0]}


def _with_special_tokens(package: Any, inner: Any, *, ends: bool) -> Any:
    inner.add_special_tokens(list(SPECIAL))
    inner.post_processor = package.processors.TemplateProcessing(
        single="[CLS] $A [SEP]" if ends else "[CLS] $A",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, inner.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return inner


def _joins(letter: str) -> bool:
    """Return whether a character can continue a word; punctuation is always a separate word."""
    return letter not in string.punctuation and not unicodedata.category(letter).startswith("P")


def _some_at_once(items: Iterable[Item]) -> Iterator[list[Item]]:
    source = iter(items)
    while some := list(islice(source, AT_ONCE)):
        yield some


def _package() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise GlassformerError("text needs the tokenizers package: pip install 'glassformer[train]'.") from None
    return tokenizers
