"""Texts of a table are its column, not its raw lines."""

import json

import pytest

from glassformer import GlassformerError
from glassformer.encoding.streams import texts_of
from glassformer.encoding.table_texts import REMEMBERED, TableTexts


def read(path, column=None):
    with texts_of(path, column) as given:
        return list(given)


def test_a_csv_is_read_by_its_column_without_the_header(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('id,text\n1,"time, flies"\n2,"an\narrow"\n', encoding="utf-8")
    assert read(path) == ["time, flies", "an\narrow"]


def test_json_lines_and_other_columns(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"review": text}) + "\n" for text in ("time", "flies")), encoding="utf-8")
    assert read(path, "review") == ["time", "flies"]


def test_a_missing_column_is_named_with_the_option(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,body\n1,time\n", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"x.csv has no column 'text'.*Its columns: id, body.*column=… \(--column\)"):
        read(path)


def test_a_plain_file_is_still_read_by_lines_and_takes_no_column(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("time\nflies\n", encoding="utf-8")
    assert read(path) == ["time", "flies"]
    with pytest.raises(GlassformerError, match="is for a table"):
        read(path, "text")


def test_a_bad_row_is_named_by_its_place(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,text\n1,time\n2\n", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"x\.csv line 3 has 1 field"):
        read(path)
    path.with_suffix(".jsonl").write_text('{"text": 5}\n', encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"x\.jsonl line 1: a text is expected, found 5"):
        read(path.with_suffix(".jsonl"))


def test_the_place_of_a_row_is_known_long_after_the_first(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text\n" + "time\n" * (REMEMBERED + 10), encoding="utf-8")
    texts = TableTexts(path, "text")
    assert len(list(texts)) == REMEMBERED + 10
    assert texts.name(REMEMBERED + 9).endswith(f"line {REMEMBERED + 11}")


def test_a_missing_file_is_reported_as_for_lines(tmp_path):
    with pytest.raises(GlassformerError, match="no such file"):
        read(tmp_path / "none.csv")


def test_two_columns_are_pairs_and_three_are_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\ntime,flies,like\n,arrow,x\n", encoding="utf-8")
    assert read(path, "b, a") == [("flies", "time"), ("arrow", "")]
    with pytest.raises(GlassformerError, match=r"x\.csv line 2: at most two columns make a text, found 3"):
        read(path, "a,b,c")
