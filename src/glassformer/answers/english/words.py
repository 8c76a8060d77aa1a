"""Tags the words of a question: the longest phrases of the glossary, numbers, signs, and unknown words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from glassformer.configs.presets import known_as

LONGEST_PHRASE = 7
SCALES = {"k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "b": 10**9, "billion": 10**9}
WRITTEN = (  # normalisation of notations: LaTeX, times signs, abbreviations
    (re.compile(r"\\(?:text|mathrm|mathbf|left|right)\b|[$`*]|\\(?=[()\[\]])"), " "),
    (re.compile(r"(?<=\d)\{,\}(?=\d)"), ","),
    (re.compile(r"[{}]"), ""),
    (re.compile(r"(?<=\d)\s*(?:[x×]|\\times|-?by-?)\s*(?=\d)"), " × "),
    (re.compile(r"√\s*\(?d_k\)?|\\?sqrt\(?\s*d_k\s*\)?"), " sqrt(d_k) "),
    (re.compile(r"(?<=[A-Za-z])/(?=\d)|(?<=incl)\.|(?<=excl)\."), " "),
    (re.compile(r"W_i\^([QKV])\b"), r"W_\1 per head"),
    (re.compile(r"’"), "'"),
)
TOKEN = re.compile(
    r"(?P<number>\d+(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?)(?P<scale>[kKMB](?!\w))?"
    r"|(?P<word>sqrt\(d_k\)|[A-Za-z]\w*(?:\^\w+)?(?:'s?\b)?)|(?P<sign>->|[^\s\"'_#–—-])"
)
ENDINGS = {"matrices": "matrix", "biases": "bias", "classes": "class", "patches": "patch", "batches": "batch", "ies": "y"}


class Tag(NamedTuple):
    """A word or a phrase with its kind: `noun` ffn, `size` d_model, `number` 512."""

    kind: str
    value: str
    text: str
    number: int = 0
    plural: bool = False


def tagged(text: str) -> list[Tag]:
    """Return the tags of a question, without words that carry no meaning."""
    words, found, place = _words(text), list[Tag](), 0
    while place < len(words):
        tag, place = _next(words, place)
        found += [tag] if tag.kind != "skip" else []
    return found


def _words(text: str) -> list[Tag]:
    """Return numbers, words and signs, not yet looked up."""
    for pattern, instead in WRITTEN:
        text = pattern.sub(instead, text)
    found: list[Tag] = []
    for match in TOKEN.finditer(text):
        low = match[0].lower()
        if match["number"]:
            value = float(match["number"].replace(",", "")) * SCALES.get((match["scale"] or "").lower(), 1)
            found.append(Tag("number" if value.is_integer() else "unknown", match["number"], match[0], int(value)))
        elif low in tables("forms")["spelled"]:
            found.append(Tag("number", low, match[0], tables("forms")["spelled"][low]))
        elif match["word"] and len(low) > 1 and low in SCALES and found and found[-1].kind == "number":
            found[-1] = found[-1]._replace(number=found[-1].number * SCALES[low])
        elif low not in ("the", "a", "an"):
            one = not match["word"] or (normal(low),) in glossary()  # `d_model` is a word of the glossary, `bert_base` is two
            parts = [match[0]] if one else match[0].split("_")
            found += [Tag("word" if match["word"] else "sign", part, part) for part in parts if part]
    return found


def _next(words: list[Tag], place: int) -> tuple[Tag, int]:
    """Return the longest phrase of the glossary that starts here; otherwise a number, a sign or an unknown word."""
    word = words[place]
    letters: dict[str, str] = tables("forms")["letters"]
    if word.text in letters and place + 1 < len(words) and words[place + 1].text == "=":
        return Tag("size", letters[word.text], word.text), place + 1
    for end in range(min(len(words), place + LONGEST_PHRASE), place, -1):
        entry = glossary().get(tuple(normal(one.text) for one in words[place:end]))
        if entry is not None:
            last = words[end - 1].text
            text = " ".join(one.text for one in words[place:end])
            return Tag(*entry, text, plural=normal(last) != last.lower().removesuffix("'s")), end
    if word.text.lower() == "and":
        return Tag("sign", ",", ","), place + 1
    return (word._replace(kind="unknown") if word.kind == "word" else word), place + 1


class Noun(NamedTuple):
    """The names of a part or a tensor in each kind of quantity; empty if it has none."""

    params: str = ""
    tensor: str = ""
    flops: str = ""
    stored: str = ""
    size: str = ""  # the field that gives its dimension
    inside: str = ""  # the noun that it is part of


@lru_cache(maxsize=4096)
def normal(word: str) -> str:
    """Return a word in lower case, singular, without a possessive ending."""
    low = word.lower().removesuffix("'s").rstrip("'")
    for ending, instead in ENDINGS.items():
        if low.endswith(ending):
            return low.removesuffix(ending) + instead
    return low[:-1] if len(low) > 2 and low.endswith("s") and not low.endswith(("ss", "is", "us", "as")) else low


@lru_cache(maxsize=2)
def tables(name: str) -> dict[str, Any]:
    """Load the data next to this file: `glossary` (words to tags) or `forms` (patterns of questions)."""
    return tomllib.loads(files("glassformer.answers.english").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def nouns() -> dict[str, Noun]:
    found = tables("glossary")["noun"].items()
    return {name: Noun(**{key: value for key, value in table.items() if key != "words"}) for name, table in found}


@lru_cache(maxsize=1)
def glossary() -> dict[tuple[str, ...], tuple[str, str]]:
    """Return every phrase, in normal form, with its tag: `noun` ffn, `size` d_model, `model` bert-base."""
    return dict(_entries())


def _entries() -> Iterator[tuple[tuple[str, ...], tuple[str, str]]]:
    for kind, table in tables("glossary").items():
        for value, words in table.items():
            for phrase in (words["words"] if kind == "noun" else words).split(","):
                tag = value if kind == "word" else {"family": "model"}.get(kind, kind)
                yield tuple(normal(word) for word in phrase.split()), (tag, value)
    for name, preset in known_as().items():
        if "-" in name or name[-1].isdigit():  # not `layer` and `encoder`, which are words
            for written in (name, name[:-1] + name[-1].upper()):  # llama-3-8b is `8`, `b` to the tokenizer, and 8B one number
                yield tuple(normal(token[0]) for token in TOKEN.finditer(written.replace("_", "-"))), ("model", preset)
            *first, last = [normal(part) for part in name.replace("_", "-").replace(".", "-.-").split("-")]
            letters = last.rstrip("0123456789")
            yield (*first, *(part for part in (letters, last[len(letters) :]) if part)), ("model", preset)  # ViT-B/16, GPT-2
