"""Untrusted files: every error is one line, and nothing too large is read."""

import gzip
import json

import pytest

from glassformer.errors import GlassformerError
from glassformer.files.documents import MOST_BYTES, parse_json, parse_json_list, parse_toml, read_document, read_text

BAD_JSON = [
    ("", "config.json is not JSON: it is empty."),
    (" \n", "config.json is not JSON: it is empty."),
    ("<!DOCTYPE html>", "is a web page or XML, not JSON: the download failed."),
    ("version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer, not the file itself. Run: git lfs pull"),
    ("---\na: 1\n", "is YAML, which is not supported. Write it as JSON or TOML."),
    ('{"a": 1', "is not JSON: it ends at character"),
    ('{"a": 1, "a": 2}', "the key 'a' occurs twice in one object."),
    ('{"a": NaN}', "NaN is not a JSON number."),
    ('{"a": -Infinity}', "-Infinity is not a JSON number."),
    ("[1, 2]", "must be an object {…}, found a list."),
    ('"text"', "found a string."),
    ("null", "found null."),
    ("[" * 100_000, "is nested too deeply"),
    ('{"a":' * 40 + "1" + "}" * 40, "is nested too deeply: at most 32 levels."),
    ('{"a": ' + "9" * 5000 + "}", "contains a number with thousands of digits, which is not allowed. Correct it."),
    ("{'a': 1}", "line 1, column 2"),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON, ids=[text[:20] for text, _ in BAD_JSON])
def test_bad_json_is_refused_in_one_line(text, message):
    with pytest.raises(GlassformerError) as refusal:
        parse_json(text, "config.json")
    assert str(refusal.value).startswith("config.json")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_list_is_read_under_the_same_limits():
    assert parse_json_list('[{"a": 1}, 2]', "modules.json") == [{"a": 1}, 2]
    for text, message in (
        ("{}", "modules.json must be a list […], found an object."),
        ("3", "modules.json must be a list […], found a number or a boolean."),
        ('[{"a": 1, "a": 2}]', "modules.json: the key 'a' occurs twice in one object."),
        ("[" * 40 + "]" * 40, "modules.json is nested too deeply: at most 32 levels."),
    ):
        with pytest.raises(GlassformerError) as refusal:
            parse_json_list(text, "modules.json")
        assert str(refusal.value) == message


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "[" * 5000, "a = " + "[" * 40 + "]" * 40])
def test_bad_toml_is_refused_in_one_line(text):
    with pytest.raises(GlassformerError) as refusal:
        parse_toml(text, "spec.toml")
    assert "spec.toml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}".encode("utf-16"), "byte 0 is not UTF-8. It is UTF-16 or UTF-32, as some Windows programs write: save it as UTF-8."),
        (gzip.compress(b"{}", mtime=0), "byte 1 is not UTF-8. It is compressed with gzip: unpack it first, with gunzip."),
        (b"{\xe9}", "byte 1 is not UTF-8. Save it as UTF-8."),
    ],
)
def test_a_file_that_is_not_text_is_recognised(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(GlassformerError) as refusal:
        read_text(path)
    assert str(refusal.value).endswith(f"is not text: {message}")


def test_yaml_is_named_by_its_ending():
    with pytest.raises(GlassformerError, match=r"^a\.yaml is YAML, which is not supported\. Write it as JSON or TOML\.$"):
        parse_json("model_type: bert", "a.yaml")


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(GlassformerError, match=rf"300,000,000 bytes; at most {MOST_BYTES:,} are allowed\. It was not read"):
        read_document(path)


def test_the_first_invalid_byte_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(GlassformerError, match="byte 7 is not UTF-8"):
        read_document(path)


def test_a_byte_order_mark_is_accepted(tmp_path):
    path = tmp_path / "spec.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"layers": 3}).encode())
    assert read_document(path) == {"layers": 3}


def test_a_folder_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(GlassformerError, match="is a folder, not a file"):
        read_document(tmp_path)
    with pytest.raises(GlassformerError, match="no such file"):
        read_document(tmp_path / "none.json")
