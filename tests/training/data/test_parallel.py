"""Parallel text: two columns or two files become pairs; linked pairs stay in one split."""

import json

import pytest
from tiny_writing import PAIRS, table

from glassformer import GlassformerError
from glassformer.training.data import load_data
from glassformer.training.data.parallel import linked


def pairs_of(data):
    return {pair for part in data.parts.values() for pair in zip(part().inputs, part().targets, strict=True)}


def test_every_form_of_parallel_text_gives_the_same_pairs(tmp_path):
    table(tmp_path / "a.tsv")
    (tmp_path / "a.csv").write_text("id,en,fr\n" + "".join(f"1,{one},{other}\n" for one, other in PAIRS), encoding="utf-8")
    rows = [json.dumps({"en": one, "fr": other}) for one, other in PAIRS]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "a.en").write_text("\n".join(one for one, _ in PAIRS), encoding="utf-8")
    (tmp_path / "a.fr").write_text("\n".join(other for _, other in PAIRS) + "\n", encoding="utf-8")
    given = {"a.tsv": {}, "a.jsonl": {}, "a.csv": {"text": "en", "target": "fr"}, "a.en": {"target": str(tmp_path / "a.fr")}}
    found = [load_data(tmp_path / name, rows_for="seq2seq", **words) for name, words in given.items()]
    assert all(data.task == "translate" and data.labels == () for data in found)
    assert [pairs_of(data) for data in found] == [set(PAIRS)] * 4
    assert len({tuple(sorted(data.test.inputs)) for data in found}) == 1, "the split does not depend on the form"


def test_parquet_is_read_too(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"source": [one for one, _ in PAIRS], "n": list(range(len(PAIRS))), "target": [other for _, other in PAIRS]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    assert pairs_of(load_data(tmp_path / "a.parquet", rows_for="seq2seq")) == set(PAIRS)


def refused(message, path, **words):
    with pytest.raises(GlassformerError, match=message):
        load_data(path, rows_for="seq2seq", **words)


def test_files_of_different_lengths_are_refused_with_the_line(tmp_path):
    (tmp_path / "a.en").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "a.fr").write_text("un\ndeux\n", encoding="utf-8")
    fr = str(tmp_path / "a.fr")
    refused(
        r"^line 3 of .*a\.en has no partner: .*a\.fr has 2 lines\. Each line needs its translation\.$",
        tmp_path / "a.en",
        target=fr,
    )
    refused(r"^line 3 of .*a\.en has no partner: .*a\.fr has 2 lines\.", fr, target=str(tmp_path / "a.en"))
    refused(r"is plain text: its translations are in a second file with as many lines\. --target FILE names it\.$", fr)
    refused(r"there is no file nothing\.$", fr, target="nothing")


def test_a_table_without_two_columns_or_a_header_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("en\nGo\n", encoding="utf-8")
    refused(r"a\.tsv has one column, 'en': parallel text needs a text and its translation\.$", tmp_path / "a.tsv")
    (tmp_path / "b.tsv").write_text("Go.\tVa !\nRun.\tCours !\n", encoding="utf-8")
    refused(
        r"b\.tsv has no header: 'Go\.' in its first line is a text\. Name the columns there, as in en, fr\.$", tmp_path / "b.tsv"
    )
    refused(r"a\.tsv has one column", tmp_path / "a.tsv", target="fr")
    refused(r"text='?fr'? and target='?fr'? are the same column", table(tmp_path / "c.tsv"), text="fr", target="fr")


def test_a_pair_with_an_empty_text_is_skipped_and_counted(tmp_path):
    data = load_data(table(tmp_path / "a.tsv", [*PAIRS, ("", "vide"), ("empty", " ")]), rows_for="seq2seq")
    assert pairs_of(data) == set(PAIRS)
    assert any(note.startswith("skipped: empty texts: 2") for note in data.notes)
    refused(r"has no usable pair of texts\. skipped: empty texts: 1", table(tmp_path / "b.tsv", [("", "vide")]))


def test_linked_pairs_have_one_key_whatever_their_order():
    pairs = [(b"a", b"1"), (b"b", b"1"), (b"b", b"2"), (b"c", b"3")]
    keys = linked(*zip(*pairs, strict=True))
    assert keys[0] == keys[1] == keys[2] != keys[3]
    backwards = linked(*zip(*reversed(pairs), strict=True))
    assert backwards == keys[::-1]


def test_pairs_with_an_equal_side_are_in_one_split(tmp_path):
    pairs = [(f"sentence {number}", f"phrase {number // 2}") for number in range(200)]
    data = load_data(table(tmp_path / "a.tsv", pairs), rows_for="seq2seq")
    sides = [set(part().targets) for part in data.parts.values()]
    assert not sides[0] & sides[1] and not sides[0] & sides[2] and not sides[1] & sides[2]
    assert all(len(part()) > 10 for part in data.parts.values())
