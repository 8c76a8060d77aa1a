"""Untrusted lines: invalid UTF-8 is reported with its byte, gzip, and no line larger than memory."""

import gzip
import tracemalloc

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data import lines as module
from glassformer.training.data.lines import Line, read_lines


def written(tmp_path, data, name="a.txt"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_lines_are_numbered_and_lose_their_ends(tmp_path):
    path = written(tmp_path, "\ufeffeins\r\n\nété\nहिन्दी".encode())
    assert list(read_lines(path)) == [Line(1, "eins"), Line(2, ""), Line(3, "été"), Line(4, "हिन्दी")]
    packed = written(tmp_path, gzip.compress(path.read_bytes()), "a.txt.gz")
    assert list(read_lines(packed)) == list(read_lines(path))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.txt is empty: there is no data."),
        (b"gut\nschlecht: " + b"\xe9t\xe9\n", "a.txt line 2: byte 14 is not UTF-8. Save it as UTF-8."),
        (b"\xef\xbb\xbfab\xff", "a.txt line 1: byte 5 is not UTF-8."),
        ("text\n".encode("utf-16"), "a.txt line 1: byte 0 is not UTF-8. It looks like UTF-16: save it as UTF-8."),
    ],
)
def test_what_is_not_text_is_one_line(tmp_path, data, message):
    with pytest.raises(GlassformerError) as error:
        list(read_lines(written(tmp_path, data)))
    assert message in str(error.value)


def test_a_damaged_or_false_gzip_is_one_line(tmp_path):
    whole = gzip.compress(b"one\ntwo\n" * 1000)
    for data in (whole[:-20], b"no gzip at all", whole[:40] + b"xxxx" + whole[44:]):
        with pytest.raises(GlassformerError, match=r"is a damaged gzip file"):
            list(read_lines(written(tmp_path, data, "a.jsonl.gz")))


def test_a_line_too_long_for_memory_is_cut_and_the_next_one_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_LINE", 10)
    path = written(tmp_path, "aaaaaaaaéxxx\nnext\nbbbbbbbbbb\nlast".encode())
    assert list(read_lines(path)) == [
        Line(1, "aaaaaaaaé", cut=True),
        Line(2, "next"),
        Line(3, "bbbbbbbbbb"),
        Line(4, "last"),
    ]
    assert next(read_lines(written(tmp_path, "aaaaaaaaaéxxx\n".encode()))) == Line(1, "aaaaaaaaa", cut=True)


def test_a_packed_line_of_fifty_megabytes_needs_little_memory(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b"\nend\n")
    tracemalloc.start()
    first, last = list(read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (first.cut, last) == (True, Line(2, "end"))
    assert peak < 30_000_000


def test_a_file_larger_than_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 20)
    with pytest.raises(GlassformerError, match=r"has more than 20 bytes, but rows are kept in memory: use a part of it."):
        list(read_lines(written(tmp_path, b"line of text\n" * 3)))
