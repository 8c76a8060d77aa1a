"""Facts from the files of a model folder: its tokenizer and its licence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json, read_text
from glassformer.files.texts import MOST_BYTES, TOKENIZER

LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING")
MOST_LICENCE = 1_000_000
Facts = list[tuple[str, str]]


def tokenizer_facts(folder: Path) -> Facts:
    """The kind of the tokenizer, its vocabulary and its special tokens, without loading it; nothing if there is none."""
    file = folder / TOKENIZER
    if not file.is_file():
        return []
    try:
        document = parse_json(read_text(file, most_bytes=MOST_BYTES), TOKENIZER)
    except GlassformerError:
        return [("tokenizer", f"{TOKENIZER} cannot be read")]
    model = document.get("model")
    inner: dict[str, Any] = model if isinstance(model, dict) else {}
    vocabulary, kind = inner.get("vocab"), inner.get("type")
    size = f", {len(vocabulary):,} pieces" if isinstance(vocabulary, dict | list) else ""
    added = document.get("added_tokens")
    tokens = [one for one in added if isinstance(one, dict) and one.get("special")] if isinstance(added, list) else []
    special = ", ".join(shown(one["content"]) for one in tokens[:8] if isinstance(one.get("content"), str))
    found = [("tokenizer", f"{shown(kind) if isinstance(kind, str) else 'of an unnamed kind'}{size}")]
    return [*found, *([("special tokens", special)] if special else [])]


def licence_facts(folder: Path) -> Facts:
    """The first line of a licence file, with its name."""
    name = next((name for name in LICENCES if (folder / name).is_file()), None)
    if name is None:
        return []
    try:
        text = read_text(folder / name, most_bytes=MOST_LICENCE)
    except GlassformerError:
        return [("licence", f"{name}, which cannot be read")]
    first = next((line.strip(" #*") for line in text.splitlines() if line.strip(" #*")), "")
    return [("licence", f"{name}: {shown(first, limit=80)}" if first else name)]
