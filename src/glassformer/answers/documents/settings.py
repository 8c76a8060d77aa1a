"""The sizes of the model in a document, found next to words of a small glossary: `8 heads`, `hidden size: 512`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from glassformer.answers.documents.lines import Line, words_in
from glassformer.expressions import NotUnderstoodError, Token, fold, numerals, tokens

ONE = {"head": "heads", "layer": "layers", "vocab": "vocab", "token": "t"}
MOST_WORDS = 6  # between a number and its name
# Word -> topic. Two topics together may name a size: the width of a head, the width of the feed-forward block.
TAGS = {
    tag: words.split()
    for tag, words in {
        "head": "head heads h num_heads n_heads",
        "layer": "layer layers block blocks encoders depth num_layers n_layers",
        "token": "token tokens word words length t seq_len",
        "width": "size width dimension dimensions dimensionality dim wide units",
        "model": "hidden embedding embeddings model input",
        "ffn": "ffn intermediate inner mlp",
        "vocab": "vocab vocabulary",
        "each": "each per every one single",
        "d_model": "d_model hidden_size", "d_k": "d_k d_q head_dim", "d_v": "d_v", "d_ff": "d_ff intermediate_size",
    }.items()
}  # fmt: skip
TAG = {word: tag for tag, words in TAGS.items() for word in words}
NUMBERS = {"two": 2, "four": 4, "six": 6, "eight": 8, "ten": 10, "twelve": 12, "sixteen": 16, "twenty": 20}


@dataclass
class Settings:
    """The values of each size in each section of a document, and numbers that count something else."""

    given: list[tuple[int, str, int]] = field(default_factory=list)  # part, size, value
    others: set[int] = field(default_factory=set)

    def at(self, part: int) -> dict[str, int]:
        """Return the unambiguous sizes of a section: one value in it, or none in it and one in the document."""
        found: dict[str, int] = {}
        for size in dict.fromkeys(size for _, size, _ in self.given):
            values = [(where, value) for where, name, value in self.given if name == size]
            here = {value for where, value in values if where == part} or {value for _, value in values}
            if len(here) == 1:
                found[size] = here.pop()
        return found


def settings_in(lines: Sequence[Line]) -> Settings:
    """Return the values of all sizes."""
    found = Settings()
    for line in lines:
        if any(letter.isdigit() for letter in line.text) or any(word in line.text.lower() for word in NUMBERS):
            _read(line.tokens, line.part, found)
    return found


def _read(line: Sequence[Token], part: int, found: Settings) -> None:
    said = [token for token in line if token.kind != "edge"]
    for place, token in enumerate(said):
        if token.kind == "note" and any(letter.isdigit() for letter in token.text):
            _read(fold(tokens(token.text)), part, found)  # (8 attention heads)
        value = _whole(token)
        if value is None:
            continue
        after = _after(said[place + 1 :])
        reckoned = not after and any(token.kind == "operator" for token in said[place + 1 : place + 2])
        before = _before(said[:place]) if not reckoned else ()
        size = size_of(after[:4], after=True) or size_of(before)
        if size:
            found.given.append((part, size, value))
        if size != "heads" and (after or before):
            found.others.add(value)


def _whole(token: Token) -> int | None:
    if token.kind == "word":
        return NUMBERS.get(token.text.lower())
    if token.kind != "number":
        return None
    try:
        value = numerals.read(token.text).value
    except NotUnderstoodError:
        return None
    return int(value) if value.denominator == 1 and 0 < value < 10**9 else None


def _after(ahead: Sequence[Token]) -> tuple[str, ...]:
    """Return the words right after a number: `8 attention heads`, `768 (hidden size)`."""
    kept: list[Token] = []
    for token in ahead[: MOST_WORDS + 1]:
        if token.kind not in ("word", "note"):
            break
        kept.append(token)
        if token.kind == "note":
            break
    return words_in(kept)


def _before(behind: Sequence[Token]) -> tuple[str, ...]:
    """Return the words before a number: `hidden size 512`, `number of heads: 4`, `d_k = 64`; empty for a factor."""
    kept: list[Token] = []
    signs = 0
    for token in reversed(behind):
        if token.kind in ("relation", "wall") and token.text in ("=", "says", ":") and not kept:
            signs += 1
        elif token.kind in ("word", "name", "note") and len(kept) < 2 * MOST_WORDS:
            kept.insert(0, token)
        else:
            if token.kind == "operator" and not kept:
                return ()
            break
    names = [token.text for token in kept if token.kind == "name"]
    if signs and names and names[-1].lower() in TAG and kept[-1].kind == "name":
        return (names[-1].lower(),)
    return words_in(kept)


def size_of(words: Sequence[str], *, after: bool = False) -> str:
    """Return the size that words name; after a number only the first noun counts: `8 heads read 512 tokens`."""
    tags = [TAG[word] for word in words if word in TAG]
    if after:
        tags = tags[: next((place + 1 for place, tag in enumerate(tags) if tag in ("head", "layer", "token", "vocab")), None)]
    for name in ("d_model", "d_k", "d_v", "d_ff"):
        if name in tags:
            return name
    if tuple(words) == ("width",):  # `Width 512` is the width of the model
        return "d_model"
    if "width" in tags:
        return "d_ff" if "ffn" in tags else "d_k" if "head" in tags else "d_model" if "model" in tags else ""
    if after and "each" in tags:
        return "d_k" if "head" in tags else ""
    return next((size for tag, size in ONE.items() if tag in tags), "")
