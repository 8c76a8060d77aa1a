"""Records of finished shards, read from an untrusted journal or manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from glassformer.encoding.jobs.shards import COUNTS, ENDINGS
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text

NAME = re.compile(r"[0-9]{5,9}-[0-9]{6,9}")
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_BYTES = 2_000_000_000


def is_shard_file(name: str) -> bool:
    """Whether a file name is one that a job gives."""
    return any(name.endswith(ending) and NAME.fullmatch(name.removesuffix(ending)) for ending in ENDINGS)


def is_record(found: Any) -> bool:
    """Whether a record has all fields that a job writes, with a name and files in its folder of shards."""
    if not isinstance(found, dict) or not isinstance(found.get("name"), str) or not NAME.fullmatch(found["name"]):
        return False
    files = found.get("files")
    if not isinstance(files, dict) or not _is_sha256(found.get("source_sha256")):
        return False
    counts = all(type(found.get(name)) is int and found[name] >= 0 for name in COUNTS)
    return counts and all(
        name.removeprefix(found["name"]) in ENDINGS and isinstance(about, dict) and _is_sha256(about.get("sha256"))
        for name, about in files.items()
    )


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and SHA256.fullmatch(value) is not None


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal up to the first that is not whole: its process was killed while writing it."""
    found: list[dict[str, Any]] = []
    for line in _text(path).splitlines(keepends=True):
        one = _parsed(line) if line.endswith("\n") else None
        if not isinstance(one, dict):
            break
        found.append(one)
    return found


def read_manifest(path: Path) -> list[dict[str, Any]]:
    """Return the job and the records of a manifest, as the lines of a journal."""
    document = _parsed(_text(path))
    if not isinstance(document, dict) or not isinstance(document.get("job"), dict):
        raise GlassformerError(f"{path_text(path)} is not the manifest of a job: choose a new folder, or remove the file.")
    shards = document.get("shards")
    return [{"job": document["job"]}, *(shards if isinstance(shards, list) else [])]


def _text(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        raise GlassformerError(f"{path_text(path)} has more than {MOST_BYTES:,} bytes. It was not read: choose a new folder.")
    return path.read_text(encoding="utf-8", errors="replace")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
