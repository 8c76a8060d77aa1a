"""Texts into tokens: a tokenizer of our own, trained the same every time, or the one that came with a checkpoint."""

from __future__ import annotations

import hashlib
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from glassformer.spec import GlassformerError, arguments, shown
from glassformer.spec.paths import no_such, path_text
from glassformer.spec.texts import NOT_THE_FILE, guarded
from glassformer.spec.weight_files import inside

Kind: TypeAlias = Literal["wordpiece", "bpe"]
FILE = "tokenizer.json"
MOST_BYTES = 64_000_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# What other families call them.
ALSO = {"[PAD]": ("<pad>",), "[UNK]": ("<unk>",), "[CLS]": ("<s>",), "[SEP]": ("</s>",), "[MASK]": ("<mask>",)}
CONTROL = "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]"
# GPT-2's words, but a vowel sign (a mark, not a letter) belongs to its word: Devanagari would be cut at each otherwise.
WORDS = r" ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"
MOST_TOKENS = 10_000_000  # of a vocabulary
AT_ONCE = 1024  # texts that are encoded in one call

Item = TypeVar("Item")


class Encoded(NamedTuple):
    """A text as tokens: ids, which of them the tokenizer added, the word that each belongs to, and whether the end is lost."""

    ids: list[int]
    special: list[bool]
    words: list[int | None]
    cut: bool


class Tokenizer:
    """The `tokenizers` package behind a small door: train or load, encode, decode, save."""

    def __init__(self, inner: Any) -> None:
        inner.no_truncation()
        inner.no_padding()
        inner.encode_special_tokens = True  # "[SEP]" inside a text is five characters, not the end of the text
        self._inner = inner

    @classmethod
    def train(cls, texts: Iterable[str], *, vocab: int = 8000, kind: Kind = "wordpiece", lowercase: bool = False) -> Tokenizer:
        """A tokenizer of at most `vocab` tokens, learned from texts; equal texts give an equal file.

        Text is brought to Unicode's composed form (NFC) and nothing else: accents and vowel signs stay. WordPiece knows the
        characters that it saw, byte-level BPE knows every character and gives each text back exactly.
        """
        package, texts, vocab = _package(), _list_of_texts(texts), arguments.whole("vocab", vocab, least=1, most=MOST_TOKENS)
        if kind == "wordpiece":
            return cls(_train_wordpiece(package, texts, vocab, lowercase=lowercase))
        if kind == "bpe":
            return cls(_train_bpe(package, texts, vocab, lowercase=lowercase))
        raise GlassformerError(f"tokenizer kind={shown(kind)} is not known: wordpiece or bpe.")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """A `tokenizer.json`, or the one in a model's folder."""
        path = arguments.path("path", path)
        package = _package()
        if path.is_dir():
            if not (path / FILE).exists():
                raise GlassformerError(f"{FILE} is missing in {path_text(path)}: text cannot be cut into tokens. Add the file.")
            path = inside(path, FILE, source="the model folder")
        if not path.is_file():
            raise no_such(path, wanted=f"A {FILE} is wanted, or the folder that holds one.")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise GlassformerError(
                f"{path_text(path)} has {size:,} bytes; such a file is at most {MOST_BYTES:,}. It was not read."
            )
        said = f"{path_text(path)} cannot be used"
        return cls(guarded(said, lambda: package.Tokenizer.from_file(str(path)), way_out=NOT_THE_FILE))

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`, which other libraries read, too."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """The whole tokenizer as one JSON text."""
        return str(self._inner.to_str(pretty=True)) + "\n"

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of the JSON text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @cached_property
    def vocab(self) -> int:
        """How many tokens there are: the rows that a token table needs."""
        return 1 + max(self._inner.get_vocab().values(), default=-1)

    @cached_property
    def pad_id(self) -> int:
        """The token that fills rows up; the first one where the tokenizer has none, since nobody attends to it."""
        found = self._special("[PAD]")
        return 0 if found is None else found

    @cached_property
    def mask_id(self) -> int:
        """The token that stands for a hidden one."""
        found = self._special("[MASK]")
        if found is None:
            raise GlassformerError("this tokenizer has no mask token ([MASK] or <mask>): it cannot be trained on masked tokens.")
        return found

    @property
    def cls_id(self) -> int | None:
        """The token before a text, if there is one."""
        return self._special("[CLS]")

    @property
    def sep_id(self) -> int | None:
        """The token after a text, if there is one."""
        return self._special("[SEP]")

    @property
    def unknown_id(self) -> int | None:
        """The token for what cannot be written otherwise, if there is one."""
        return self._special("[UNK]")

    @property
    def blank_id(self) -> int:
        """What may stand in the place of any token: the mask where there is one, else the unknown token, else padding."""
        found = [self._special(name) for name in ("[MASK]", "[UNK]")]
        return next((one for one in found if one is not None), self.pad_id)

    @cached_property
    def ordinary_ids(self) -> tuple[int, ...]:
        """Every token but the special ones, sorted."""
        special = {token for name in SPECIAL if (token := self._special(name)) is not None}
        special |= {place for place, token in self._inner.get_added_tokens_decoder().items() if token.special}
        return tuple(sorted(set(self._inner.get_vocab().values()) - special))

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> list[list[int]]:
        """The ids of each text, special tokens included; what is longer than `max_length` loses its end."""
        texts = _list_of_texts(texts)
        return [encoded.ids for encoded in self.encode_all(texts, max_length)]

    def encode_all(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[Encoded]:
        """Each text with what belongs to its ids."""
        return (_encoded(one) for one in self._encodings(texts, max_length))

    def encode_words(self, rows: Iterable[Sequence[str]], max_length: int | None = None) -> Iterator[Encoded]:
        """Each row of words; `words` says which word a token was made from."""
        return (_encoded(one) for one in self._encodings(map(list, rows), max_length, words=True))

    def windows(self, texts: Iterable[str], max_length: int) -> Iterator[list[Encoded]]:
        """Each text as pieces of at most `max_length` tokens, with special tokens of their own, so that nothing is lost."""
        for one in self._encodings(texts, max_length):
            yield [_encoded(piece)._replace(cut=False) for piece in (one, *one.overflowing)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids without special tokens; WordPiece leaves a blank around punctuation."""
        return str(self._inner.decode(list(ids), skip_special_tokens=True)).strip()

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The token behind each id."""
        found = arguments.listing(ids)
        if not all(arguments.is_whole(one) and 0 <= one < 2**32 for one in found):
            raise GlassformerError(f"ids={shown(ids)} is not allowed: ids are whole numbers from 0, in a list.")
        return [self._inner.id_to_token(int(one)) or f"[{int(one)}]" for one in found]

    def _encodings(self, texts: Iterable[Any], max_length: int | None, *, words: bool = False) -> Iterator[Any]:
        own = self._inner.num_special_tokens_to_add(is_pair=False)
        if max_length is not None and arguments.whole("max_length", max_length, most=2**31) <= own:
            raise GlassformerError(f"max_length={max_length} leaves no room for a text: {own} special tokens stand around it.")
        for some in _some_at_once(texts):
            if max_length is not None:
                self._inner.enable_truncation(max_length=max_length)
            try:
                encode = partial(self._inner.encode_batch, some, is_pretokenized=words)
                found = guarded("texts cannot be cut into tokens", encode)
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
    """Texts in a list. One text alone would be taken for a list of its characters."""
    found: list[Any] = [None] if isinstance(texts, str | bytes) else arguments.listing(texts)
    if not all(isinstance(text, str) for text in found):
        wrong = texts if isinstance(texts, str | bytes) else next(text for text in found if not isinstance(text, str))
        raise GlassformerError(f"a list of texts is wanted, found {shown(wrong)}. Write ['a text', 'another'].")
    return found


def _encoded(one: Any) -> Encoded:
    return Encoded(list(one.ids), [bool(sign) for sign in one.special_tokens_mask], list(one.word_ids), bool(one.overflowing))


def _train_wordpiece(package: Any, texts: Iterable[str], vocab: int, *, lowercase: bool) -> Any:
    """Trained with every single character given a number beforehand.

    The trainer numbers the pieces `##x` in the order of a hash map, another one in each process, and breaks ties between merges
    by these numbers: two runs would give two vocabularies. Named as special tokens they come first, in our order; the tokenizer
    is then built anew around the vocabulary, in which they are ordinary tokens.
    """
    normalizer = _normalizer(package, lowercase=lowercase)
    rows = [normalizer.normalize_str(text) for text in texts]
    letters = Counter[str]()
    for row in rows:
        letters.update(row)
    room = (vocab - len(SPECIAL)) // 4  # at most half of the vocabulary is single characters, each in its two forms
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
    return _with_special_tokens(package, built)


def _train_bpe(package: Any, texts: Iterable[str], vocab: int, *, lowercase: bool) -> Any:
    alphabet = sorted(package.pre_tokenizers.ByteLevel.alphabet())
    least = len(alphabet) + len(SPECIAL)
    if vocab < least:
        raise GlassformerError(f"vocab={vocab} is too small: byte-level BPE has {least} tokens before it learns any.")
    inner = package.Tokenizer(package.models.BPE())
    # A blank before the first word, so that a word is the same token wherever it stands.
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
    return _with_special_tokens(package, inner)


def _normalizer(package: Any, *, lowercase: bool) -> Any:
    steps = [package.normalizers.NFC(), package.normalizers.Replace(package.Regex(CONTROL), "")]
    return package.normalizers.Sequence([*steps, *([package.normalizers.Lowercase()] if lowercase else [])])


def _with_special_tokens(package: Any, inner: Any) -> Any:
    inner.add_special_tokens(list(SPECIAL))
    inner.post_processor = package.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, inner.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return inner


def _joins(letter: str) -> bool:
    """Whether a character can stand inside a word; punctuation is always a word of its own."""
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
