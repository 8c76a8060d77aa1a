"""Reading untrusted JSON and TOML: size and depth are limited, and any error is one line."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such, path_text

MOST_BYTES = 8_000_000
DEEPEST = 32

# First bytes of files that are often found instead of text, and the way out.
_UTF16 = " It is UTF-16 or UTF-32, as some Windows programs write: save it as UTF-8."
NOT_UTF8 = {
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
    b"\x1f\x8b": " It is compressed with gzip: unpack it first, with gunzip.",
    b"PK\x03\x04": " It is a zip archive: unpack it first.",
}
NOT_JSON = {
    "version https://git-lfs": "is a Git LFS pointer, not the file itself. Run: git lfs pull",
    "<": "is a web page or XML, not JSON: the download failed. Download the file itself, not its page.",
    "---": "is YAML, which is not supported. Write it as JSON or TOML.",
}


def read_document(path: Path) -> dict[str, Any]:
    """Read the object in a .json or .toml file."""
    text = read_text(path)
    return parse_toml(text, path.name) if path.suffix == ".toml" else parse_json(text, path.name)


def read_text(path: Path, *, most_bytes: int = MOST_BYTES) -> str:
    """Read the text of a file; refuse what is missing, not a file, too large or not UTF-8."""
    found = read_bytes(path, most_bytes=most_bytes)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        way_out = next((hint for beginning, hint in NOT_UTF8.items() if found.startswith(beginning)), " Save it as UTF-8.")
        raise GlassformerError(f"{shown(str(path))} is not text: byte {error.start} is not UTF-8.{way_out}") from None


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """Read the bytes of a file; refuse what is missing, not a file or too large. The size is checked first."""
    name = path_text(path)
    try:
        if path.is_dir():
            raise GlassformerError(f"{name} is a folder, not a file: name a file in it.")
        if not path.is_file():
            raise no_such(path)
        size = path.stat().st_size
        if size > most_bytes:
            raise GlassformerError(f"{name} has {size:,} bytes; at most {most_bytes:,} are allowed. It was not read.")
        return path.read_bytes()
    except OSError as error:
        raise GlassformerError(f"{name} cannot be read: {error.strerror or error}.") from None


def parse_json(text: str, name: str) -> dict[str, Any]:
    """Parse a JSON object, without NaN, duplicate keys or deep nesting."""
    return _checked(parse_json_object(text, name), name)


def parse_json_object(text: str, name: str) -> dict[str, Any]:
    """Parse a JSON object whose nesting the caller checks."""
    document = _loaded(text, name)
    if not isinstance(document, dict):
        raise GlassformerError(f"{name} must be an object {{…}}, found {_found(document)}.")
    return document


def parse_json_list(text: str, name: str) -> list[Any]:
    """Parse a JSON list, with the same limits."""
    document = _loaded(text, name)
    if not isinstance(document, list):
        raise GlassformerError(f"{name} must be a list […], found {_found(document)}.")
    return list(_checked({"": document}, name)[""])


def _loaded(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_no_constant)
    except RecursionError:
        raise GlassformerError(f"{name} is nested too deeply: at most {DEEPEST} levels.") from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise GlassformerError(f"{name} is not JSON: it is empty.") from None
        other = next((what for beginning, what in NOT_JSON.items() if text.lstrip().startswith(beginning)), None)
        if other is not None or name.endswith((".yaml", ".yml")):
            raise GlassformerError(f"{name} {other or NOT_JSON['---']}") from None
        cut = error.msg.startswith("Unterminated string")  # for which error.pos is the start of the string
        where = (
            f"it ends at character {len(text) if cut else error.pos}"
            if cut or error.pos >= len(text.rstrip())
            else f"line {error.lineno}, column {error.colno}"
        )
        why = "inside a string" if cut else error.msg
        raise GlassformerError(f"{name} is not JSON: {where} ({why}).") from None
    except GlassformerError as error:
        raise GlassformerError(f"{name}: {error}") from None
    except ValueError:  # valid JSON with an integer that Python refuses to parse
        raise GlassformerError(f"{name} contains a number with thousands of digits, which is not allowed. Correct it.") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse a TOML document, with the same limits."""
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise GlassformerError(f"{name} is nested too deeply: at most {DEEPEST} levels.") from None
    except ValueError as error:
        raise GlassformerError(f"{name} is not TOML: {shown(str(error), limit=120)}.") from None
    return _checked(document, name)


def _checked(document: dict[str, Any], name: str) -> dict[str, Any]:
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return document
    raise GlassformerError(f"{name} is nested too deeply: at most {DEEPEST} levels.")


def _found(document: Any) -> str:
    words = {"dict": "an object", "list": "a list", "str": "a string", "NoneType": "null"}
    return words.get(type(document).__name__, "a number or a boolean")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; refuse duplicate keys, of which only the last would count."""
    made = dict(pairs)
    if len(made) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise GlassformerError(f"the key '{shown(twice)}' occurs twice in one object.")
    return made


def _no_constant(word: str) -> NoReturn:
    raise GlassformerError(f"{word} is not a JSON number.")
