"""Token ids of texts put together from those of their words, where a tokenizer splits at spaces: each word is tokenized once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.files.texts import guarded

Ids = NDArray[np.int32]
CONTROL = "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]"  # characters that our tokenizers remove
MOST_WORDS = 1_000_000  # that are kept
APART = ("NFC", "NFD", "Replace", "Lowercase", "StripAccents", "BertNormalizer")  # normalizers that nothing crosses a space in


class Rows(NamedTuple):
    """Token ids of rows, one after the other, with special tokens."""

    ids: Ids
    special: NDArray[np.int8]  # 1: a special token
    bounds: NDArray[np.int64]  # where each row begins, and where the last ends
    first: NDArray[np.int64]  # the first row of each text, and the number of rows


class WordIds:
    """Finds the token ids of texts: a dictionary holds those of every word that occurred."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        whole, bare = (inner.encode("a", add_special_tokens=special).ids for special in (True, False))
        before = next(place for place in range(len(whole)) if whole[place : place + len(bare)] == bare)
        self.before, self.after = (np.array(ids, dtype=np.int32) for ids in (whole[:before], whole[before + len(bare) :]))
        self.clear()

    def clear(self) -> None:
        """Forget all words."""
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self.flat: Ids = np.empty(0, dtype=np.int32)
        self.starts = self.lengths = np.empty(0, dtype=np.int64)

    def of(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of the texts, one after the other, and how many each text has; without special tokens."""
        if len(self.numbers) > MOST_WORDS:
            self.clear()
        words = [text.split(" ") for text in texts]
        many = np.fromiter(map(len, words), np.int64, len(words))
        numbers = np.fromiter(map(self.numbers.__getitem__, chain.from_iterable(words)), np.int64, int(many.sum()))
        self._learn()
        lengths = self.lengths[numbers]
        ends = np.cumsum(lengths)
        ids = self.flat[np.repeat(self.starts[numbers] - (ends - lengths), lengths) + np.arange(lengths.sum())]
        return ids, np.diff(np.append(0, ends)[np.append(0, np.cumsum(many))])

    def _learn(self) -> None:
        """Tokenize the words that were new."""
        new = list(islice(self.numbers, len(self.starts), None))
        if not new:
            return
        try:
            found = guarded("texts cannot be tokenized", lambda: self.inner.encode_batch_fast(new, add_special_tokens=False))
        except BaseException:
            self.clear()  # numbers without ids
            raise
        ids = [one.ids for one in found]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        self.starts = np.append(self.starts, len(self.flat) + np.cumsum(lengths) - lengths)
        self.lengths = np.append(self.lengths, lengths)
        self.flat = np.append(self.flat, np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum())))

    def rows(self, texts: Sequence[str], max_length: int | None) -> Rows:
        """Return rows of at most `max_length` tokens; a longer text continues in further rows."""
        ids, lengths = self.of(texts)
        own = len(self.before) + len(self.after)
        room = max(1, int(lengths.max(initial=1))) if max_length is None else max_length - own
        many = np.maximum(1, -(-lengths // room))
        first = np.append(0, np.cumsum(many))
        inside = np.full(first[-1], room)
        inside[first[1:] - 1] = lengths - (many - 1) * room
        bounds = np.append(0, np.cumsum(inside + own))
        starts = np.cumsum(inside) - inside
        places = np.repeat(bounds[:-1] + len(self.before) - starts, inside) + np.arange(len(ids))
        whole, special = np.empty(bounds[-1], dtype=np.int32), np.ones(bounds[-1], dtype=np.int8)
        whole[places], special[places] = ids, 0
        for offset, token in enumerate(self.before):
            whole[bounds[:-1] + offset] = token
        for offset, token in enumerate(self.after):
            whole[bounds[1:] - len(self.after) + offset] = token
        return Rows(whole, special, bounds, first)


def splits_at_spaces(inner: Any) -> bool:
    """Whether the ids of a text are those of its words between spaces, for any text: a WordPiece tokenizer as BERT's."""
    about = json.loads(inner.to_str())
    steps = about["normalizer"] or {"type": "Sequence", "normalizers": []}
    steps = steps["normalizers"] if steps["type"] == "Sequence" else [steps]
    return (
        about["model"]["type"] == "WordPiece"
        and (about["pre_tokenizer"] or {}).get("type") == "BertPreTokenizer"
        and all(step["type"] in APART and _keeps_spaces(step) for step in steps)
        and all(token["special"] for token in about["added_tokens"])
        and (about["post_processor"] or {}).get("type") in ("TemplateProcessing", "BertProcessing")
    )


def _keeps_spaces(step: dict[str, Any]) -> bool:
    """Whether a replacement is the one of our own tokenizers."""
    return step["type"] != "Replace" or (step["pattern"], step["content"]) == ({"Regex": CONTROL}, "")
