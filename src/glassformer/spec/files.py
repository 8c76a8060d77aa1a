"""Reading JSON and TOML from strangers: sizes and depth checked, one line for whatever is wrong."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from glassformer.spec.errors import GlassformerError, shown
from glassformer.spec.paths import no_such, path_text

MOST_BYTES = 8_000_000
DEEPEST = 32

# First bytes of what is often found in the place of a text, and the way out.
_UTF16 = " It is UTF-16 or UTF-32, as some Windows programs write: save it as UTF-8."
NOT_UTF8 = {
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
    b"\x1f\x8b": " It is packed with gzip: unpack it first, with gunzip.",
    b"PK\x03\x04": " It is a zip archive: unpack it first.",
}
NOT_JSON = {
    "version https://git-lfs": "is a Git LFS pointer, not the file itself. Run: git lfs pull",
    "<": "is a web page or XML, not JSON: the download failed. Download the file itself, not the page about it.",
    "---": "is YAML, which is not read. Write it as JSON or TOML.",
}


def read_document(path: Path) -> dict[str, Any]:
    """The object in a .json or .toml file."""
    text = read_text(path)
    return parse_toml(text, path.name) if path.suffix == ".toml" else parse_json(text, path.name)


def read_text(path: Path, *, most_bytes: int = MOST_BYTES) -> str:
    """The text of a file that is there, is a file, is not huge and is UTF-8."""
    found = read_bytes(path, most_bytes=most_bytes)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        otherwise = next((said for beginning, said in NOT_UTF8.items() if found.startswith(beginning)), " Save it as UTF-8.")
        raise GlassformerError(f"{shown(str(path))} is not text: byte {error.start} is not UTF-8.{otherwise}") from None


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """What a file that is there, is a file and is not huge holds; its size is asked before it is read."""
    name = path_text(path)
    try:
        if path.is_dir():
            raise GlassformerError(f"{name} is a folder, not a file: name a file in it.")
        if not path.is_file():
            raise no_such(path)
        size = path.stat().st_size
        if size > most_bytes:
            raise GlassformerError(f"{name} has {size:,} bytes; such a file is at most {most_bytes:,}. It was not read.")
        return path.read_bytes()
    except OSError as error:
        raise GlassformerError(f"{name} cannot be read: {error.strerror or error}.") from None


def parse_json(text: str, name: str) -> dict[str, Any]:
    """A JSON object: no NaN, no key twice, no deep nesting."""
    return _checked(parse_json_object(text, name), name)


def parse_json_object(text: str, name: str) -> dict[str, Any]:
    """A JSON object of which the caller checks every level itself."""
    document = _loaded(text, name)
    if not isinstance(document, dict):
        raise GlassformerError(f"{name} must be an object {{…}}, found {_found(document)}.")
    return document


def parse_json_list(text: str, name: str) -> list[Any]:
    """A JSON list, under the same limits."""
    document = _loaded(text, name)
    if not isinstance(document, list):
        raise GlassformerError(f"{name} must be a list […], found {_found(document)}.")
    return list(_checked({"": document}, name)[""])


def _loaded(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=no_key_twice, parse_constant=_no_constant)
    except RecursionError:
        raise GlassformerError(f"{name} is nested too deeply: at most {DEEPEST} levels.") from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise GlassformerError(f"{name} is not JSON: it ends at character 0, so it is empty.") from None
        otherwise = next((said for beginning, said in NOT_JSON.items() if text.lstrip().startswith(beginning)), None)
        if otherwise is not None or name.endswith((".yaml", ".yml")):
            raise GlassformerError(f"{name} {otherwise or NOT_JSON['---']}") from None
        cut = error.msg.startswith("Unterminated string")  # which is told by where the text starts
        where = (
            f"it ends at character {len(text) if cut else error.pos}"
            if cut or error.pos >= len(text.rstrip())
            else f"line {error.lineno}, column {error.colno}"
        )
        why = "inside a text" if cut else error.msg
        raise GlassformerError(f"{name} is not JSON: {where} ({why}).") from None
    except GlassformerError as error:
        raise GlassformerError(f"{name}: {error}") from None
    except ValueError:  # what is JSON and cannot be read all the same
        raise GlassformerError(f"{name} holds a number of thousands of digits, and none of that size is read. Mend it.") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """A TOML document, under the same limits."""
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
    words = {"dict": "an object", "list": "a list", "str": "a text", "NoneType": "null"}
    return words.get(type(document).__name__, "a number or a truth value")


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON as a dict, unless a key stands twice in it, of which the last alone would be heard."""
    made = dict(pairs)
    if len(made) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise GlassformerError(f"the key '{shown(twice)}' stands twice in one object.")
    return made


def _no_constant(word: str) -> NoReturn:
    raise GlassformerError(f"{word} is not a JSON number.")
